"""Checks of chapter 07b: a collate function for ragged samples, and the data loader that a reader rebuilds."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, default_collate

from torchcourse.exercises import Verdict, almost, check, rebuild, right, wrong

__all__ = ["compare_loader", "pad"]


@check
def pad(answer: Any) -> Iterator[Verdict]:
    """pad(samples) -> (x, lengths, y): sequences of several lengths, filled with zeros on the right."""
    samples = [(torch.tensor([1.0, 2.0, 3.0]), 0), (torch.tensor([4.0]), 2), (torch.tensor([5.0, 6.0]), 1)]
    given = answer(list(samples))
    if not (isinstance(given, tuple) and len(given) == 3 and all(isinstance(part, Tensor) for part in given)):
        yield wrong("return three tensors: the padded sequences, their lengths, the labels.")
        return
    x, lengths, y = given
    expected = torch.tensor([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0], [5.0, 6.0, 0.0]])
    if x.shape == (3, 3) and torch.equal(x, expected.t()):
        yield almost("padded, but the sequence runs down: pad_sequence needs batch_first=True.")
    elif x.shape == (3, 3) and torch.equal(x.sum(1), expected.sum(1)) and not torch.equal(x, expected):
        yield almost("padded on the left; zeros belong on the right, so that lengths say where to stop.")
    elif x.shape != (3, 3) or not torch.equal(x, expected):
        yield wrong(f"for lengths 3, 1, 2 the batch is {expected.tolist()}; yours is {x.tolist()}.")
    elif lengths.tolist() != [3, 1, 2]:
        yield wrong(f"the lengths are [3, 1, 2]; yours are {lengths.tolist()}.")
    elif y.tolist() != [0, 2, 1] or y.dtype != torch.int64:
        yield wrong(f"the labels are [0, 2, 1] as int64; yours are {y.tolist()} as {y.dtype}.")
    elif lengths.dtype != torch.int64:
        yield almost(f"right numbers; lengths are indices, so they should be int64, not {lengths.dtype}.")
    else:
        yield right("padded on the right, with lengths and labels as int64.")


@rebuild
def compare_loader(loader: Any, samples: int = 23) -> Verdict:
    """loader(dataset, batch_size, shuffle, drop_last, collate, workers, generator), against torch's DataLoader.

    Every combination of sizes, shuffling, drop_last and workers must give the same batches in the same order over
    two epochs, with the same generator left in the same state. Errors of the data set must come through.
    """
    count = 0
    for batch_size in (1, 4, 23, 50):
        for shuffle in (False, True):
            for drop_last in (False, True):
                for workers in (0, 3):
                    settings = {"batch_size": batch_size, "shuffle": shuffle, "drop_last": drop_last}
                    if told := _differs(loader, samples, settings, workers):
                        return wrong(f"{settings}, workers={workers}: {told}")
                    count += 1
    if not _passes_errors_on(loader):
        return wrong("the data set raised KeyError for a sample, and your loader did not pass it on.")
    return right(f"{count} combinations agree with torch's DataLoader over two epochs, batch by batch.")


class _Samples:
    """Dictionaries with a tensor, an int, a float and a text."""

    def __init__(self, count: int, broken: int | None = None) -> None:
        self.count, self.broken = count, broken

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> dict[str, Any]:
        if index == self.broken:
            raise KeyError(index)
        return {
            "x": torch.full((2,), float(index)),
            "y": index,
            "weight": index / 2,
            "name": f"sample {index}",
        }


def _differs(loader: Any, samples: int, settings: dict[str, Any], workers: int) -> str:
    """What differs, or an empty text."""
    generators = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    dataset = _Samples(samples)
    ours = loader(dataset, **settings, collate=default_collate, workers=workers, generator=generators[0])
    theirs: DataLoader[Any] = DataLoader(dataset, **settings, generator=generators[1])  # type: ignore[arg-type]
    for epoch in range(2):
        if len(ours) != len(theirs):
            return f"len() is {len(ours)}, and {len(theirs)} for torch's."
        our_names, their_names = ([batch["name"] for batch in one] for one in (ours, theirs))
        if our_names != their_names:
            return f"epoch {epoch} starts with {our_names[:2]!r:.120}, and {their_names[:2]!r:.120} in torch."
    for our, their in zip(ours, theirs, strict=True):
        for key in ("x", "y", "weight"):
            if our[key].dtype != their[key].dtype or not torch.equal(our[key], their[key]):
                return f"the batch's {key!r} is {our[key]!r:.120}, and {their[key]!r:.120} in torch."
    if not torch.equal(generators[0].get_state(), generators[1].get_state()):
        return "the generator is left in another state than by torch's."
    return ""


def _passes_errors_on(loader: Any) -> bool:
    for workers in (0, 2):
        broken = loader(
            _Samples(6, broken=3),
            batch_size=2,
            shuffle=False,
            drop_last=False,
            collate=default_collate,
            workers=workers,
            generator=None,
        )
        try:
            list(broken)
        except KeyError:
            continue
        return False
    return True
