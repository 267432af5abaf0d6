"""Random chains of calls: the list is the profiler's, kinds are what the storages say."""

from collections.abc import Callable

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from torchcourse.layers import fold, rows, xray

from .oracle import listed, profiled
from .snippets import SNIPPETS

CALLS: dict[str, Callable[[Tensor], Tensor]] = {
    "t": lambda x: x.t(),
    "row": lambda x: x[:1],
    "every other": lambda x: x[:, ::2],
    "wider": lambda x: x.unsqueeze(1).expand(-1, 2, -1).flatten(1),
    "plus": lambda x: x + 1,
    "in place": lambda x: x.clone().mul_(2),
    "to double and back": lambda x: x.double().float(),
    "contiguous": lambda x: x.contiguous(),
    "reshape": lambda x: x.reshape(-1, 1),
    "square": lambda x: x @ x.t(),
    "mask": lambda x: torch.where(x > 1, x, 0.0),
    "join": lambda x: torch.cat([x, x]),
    "softmax": lambda x: x.softmax(-1),
}
chains = st.lists(st.sampled_from(sorted(CALLS)), max_size=8)


def run(chain: list[str]) -> list[Tensor]:
    results = [torch.arange(6.0).reshape(2, 3)]
    for name in chain:
        results.append(CALLS[name](results[-1])[:8, :8])
    return results


@settings(max_examples=100, deadline=None)
@given(chains)
def test_operators_are_the_profilers(chain: list[str]) -> None:
    with xray() as seen:
        run(chain)
    assert listed(seen) == profiled(lambda: run(chain))
    assert sum(block.count for block in fold(seen)) == len(seen.operators)
    assert sum(row.operators for row in rows(seen.trace)) == len(seen.operators)


@settings(max_examples=40, deadline=None)
@given(chains)
def test_new_bytes_are_the_storages_that_were_not_there(chain: list[str]) -> None:
    with xray() as seen:
        results = run(chain)
    alive = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in results}
    assert seen.new_bytes >= seen.peak_bytes >= sum(alive.values())


class NewBytes(TorchDispatchMode):
    """Another count of new bytes: every storage is kept, so no address comes twice."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[int, torch.UntypedStorage] = {}
        self.total = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **(kwargs or {}))
        for tensor in torch.utils._pytree.tree_leaves((args, kwargs)):
            if isinstance(tensor, Tensor):
                self.kept[tensor.untyped_storage()._cdata] = tensor.untyped_storage()
        for tensor in torch.utils._pytree.tree_leaves(result):
            if isinstance(tensor, Tensor) and tensor.untyped_storage()._cdata not in self.kept:
                self.kept[tensor.untyped_storage()._cdata] = tensor.untyped_storage()
                self.total += tensor.untyped_storage().nbytes()
        return result


def test_new_bytes_of_a_step_counted_in_another_way() -> None:
    for name in ("mlp_step", "cnn_step", "transformer_step", "adam_single"):
        watched, counted = SNIPPETS[name](), SNIPPETS[name]()
        with xray() as seen:
            watched()
        with NewBytes() as truth:
            counted()
        assert seen.new_bytes == truth.total > 0, name
