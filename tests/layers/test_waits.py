"""Where Python waited: each cause once, on its line, and nothing where nobody waits."""

import pytest
import torch
from torch import Tensor

from torchcourse.layers import Output, xray
from torchcourse.layers.record import RawOperator, Record
from torchcourse.layers.waits import copies_of, waits_of

x = torch.arange(4.0)
WAITS = {
    ".item()": lambda: x.sum().item(),
    "bool(tensor)": lambda: bool(x[0] > 1),
    "int(tensor)": lambda: int(x[0]),
    "float(tensor)": lambda: float(x[0]),
    ".tolist()": lambda: x.tolist(),
    "nonzero": lambda: x.nonzero(),
    "masked_select": lambda: x.masked_select(x > 1),
    "boolean index": lambda: x[x > 1],
    "print": lambda: print(x),
}


@pytest.mark.parametrize("cause", WAITS)
def test_each_cause_is_listed_once(cause: str, capsys: pytest.CaptureFixture[str]) -> None:
    with xray() as seen:
        WAITS[cause]()
    assert [wait.cause for wait in seen.waits] == [cause]
    assert seen.waits[0].line is not None


@pytest.mark.parametrize(
    ("code", "causes"),
    [
        (lambda t: "yes" if t[0] < 1 else "no", ["bool(tensor)"]),
        (lambda t: [v.item() for v in t], [".item()"] * 4),
        (lambda t: torch.where(t > 1), ["nonzero"]),
        (lambda t: t.clone().index_put_((t > 1,), torch.tensor([5.0, 6.0])), ["boolean index"]),
        (lambda t: f"{t.sum()}", ["print"]),
        (lambda t: 3.0 in t, [".item()"]),
        (lambda t: range(t[2].long()), ["int(tensor)"]),
        (lambda t: (torch.equal(t, t), torch.allclose(t, t)), [".item()", ".item()"]),
        (lambda t: t.clone().__setitem__(t > 1, 0.0), []),  # a masked fill needs no positions
        (lambda t: t.numpy(), []),
        (lambda t: t.clone().masked_fill_(t > 1, torch.tensor(2.0)), []),
        (lambda t: t[[0, 1]], []),
        (lambda t: t.to("meta"), []),
        (lambda t: (t.shape, t.dtype, len(t)), []),
    ],
)
def test_waits_of_common_code(code: object, causes: list[str]) -> None:
    t = torch.arange(4.0)
    with xray() as seen:
        code(t)  # type: ignore[operator]
    assert [wait.cause for wait in seen.waits] == causes


def test_waits_stand_in_order_with_their_lines() -> None:
    first = test_waits_stand_in_order_with_their_lines.__code__.co_firstlineno
    with xray() as seen:
        x.tolist()
        x[x > 1]
        x.sum().item()
        x.tolist()
    assert [(w.cause, (w.line or 0) - first) for w in seen.waits] == [
        (".tolist()", 3), ("boolean index", 4), (".item()", 5), (".tolist()", 6),
    ]  # fmt: skip


def test_a_value_that_raises_was_no_wait() -> None:
    with pytest.raises(RuntimeError), xray() as seen:
        bool(x > 1)
    assert seen.waits == ()


def test_a_wait_in_a_hook_of_backward() -> None:
    leaf = torch.ones(2, requires_grad=True)

    def hook(grad: Tensor) -> None:
        grad.sum().item()

    leaf.register_hook(hook)
    with xray() as seen:
        (leaf * 2).sum().backward()
    assert [w.cause for w in seen.waits] == [".item()"]


@pytest.mark.parametrize(
    ("blocking", "causes"), [(True, ["copy to the CPU from another device"]), (False, [])]
)
def test_a_copy_to_the_cpu_waits_unless_it_is_asked_not_to(blocking: bool, causes: list[str]) -> None:
    cpu, cuda = torch.device("cpu"), torch.device("cuda", 0)
    raw = RawOperator("aten::_to_copy", 7, None, None, finished=True, copied=(cuda, 12), blocking=blocking)
    raw.outputs = (Output("new", 12, (3,), torch.float32, cpu),)
    record = Record(operators=[raw])
    assert [(w.cause, w.line) for w in waits_of(record, [], [])] == [(cause, 7) for cause in causes]
    assert [(c.source, c.target, c.nbytes, c.line) for c in copies_of(record)] == [(cuda, cpu, 12, 7)]


def test_copies_between_devices() -> None:
    with xray() as seen:
        torch.ones(3).to("meta")
    assert [(c.source.type, c.target.type, c.nbytes) for c in seen.copies] == [("cpu", "meta", 12)]
