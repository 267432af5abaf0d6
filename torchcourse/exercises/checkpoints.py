"""Checks of chapters 06 and 06b: mending a state_dict, writing the resume, and the reader rebuilt in 06."""

import io
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from torchcourse.exercises import Verdict, almost, check, not_yet, rebuild, right, wrong

__all__ = ["compare_reader", "mend", "resume"]

# --- 06 Your turn: mend -------------------------------------------------------------------------------------

# One layer is called `submodule`: a name that holds the word `module.` and is no prefix.
CASES = {
    "a plain model's": "",
    "DataParallel's": "module.",
    "torch.compile's": "_orig_mod.",
    "both, compiled first": "module._orig_mod.",
    "both, wrapped first": "_orig_mod.module.",
}


@check
def mend(answer: Callable[[Any], Any]) -> Iterator[Verdict]:
    """mend(state_dict) takes away the prefixes of wrappers, however many stand there, and nothing else."""
    for case, prefix in CASES.items():
        model = nn.ModuleDict({"first": nn.Linear(2, 3), "submodule": nn.Linear(3, 1)})
        file = {prefix + name: value for name, value in model.state_dict().items()}
        names = list(file)
        mended = answer(file)
        if not isinstance(mended, dict):
            yield not_yet(f"return a dictionary of names and tensors; got {type(mended).__name__}.")
            return
        if list(file) != names:
            yield almost("your function changes the dictionary that it was given. Make a new one.")
        yield from _judge_names(case, prefix, list(mended), list(model.state_dict()))
        if any(mended[name] is not value for name, value in zip(mended, file.values(), strict=True)):
            yield wrong(
                f"{case} file: the names are right, and the tensors behind them are not those of the file."
            )
    yield right("every prefix is gone, `submodule` kept its name, and the file's dictionary is as it was.")


def _judge_names(case: str, prefix: str, got: list[str], wanted: list[str]) -> Iterator[Verdict]:
    if got == wanted:
        return
    if any("sub" in name and "submodule." not in name for name in got):
        yield wrong(
            f"{case} file: `submodule.weight` became {got[2]!r}. The word `module.` may stand inside a name; "
            "take it away at the start only."
        )
    if prefix.count(".") == 2 and any(name.startswith(("module.", "_orig_mod.")) for name in got):
        yield almost(f"{case} file: one prefix is left ({got[0]!r}). There can be two, in either order.")
    if sorted(got) == sorted(wanted):
        yield almost(f"{case} file: the right names in another order. Keep the file's order.")
    yield wrong(f"{case} file: the first names are {got[:2]}; expected {wanted[:2]}.")


# --- 06b Your turn: resume ----------------------------------------------------------------------------------


class _Run:
    """A short run with dropout, Adam and a schedule."""

    def __init__(self, seed: int) -> None:
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.05)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.7)

    def epochs(self, first: int, last: int) -> None:
        for epoch in range(first, last):
            x = torch.arange(12.0).reshape(3, 4).add(epoch).sin()
            self.optimizer.zero_grad()
            self.model(x).sub(x.sum(1, keepdim=True)).square().mean().backward()
            self.optimizer.step()
            self.scheduler.step()

    def save(self, path: Path, epoch: int) -> None:
        parts: dict[str, Any] = {
            "model": self.model,
            "optimizer": self.optimizer,
            "scheduler": self.scheduler,
        }
        states = {name: part.state_dict() for name, part in parts.items()}
        torch.save({"epoch": epoch, "rng": torch.get_rng_state(), **states}, path)

    def weights(self) -> Tensor:
        return torch.cat([parameter.detach().flatten() for parameter in self.model.parameters()])


@check
def resume(answer: Callable[..., Any]) -> Iterator[Verdict]:
    """resume(path, model, optimizer, scheduler) restores everything, and returns the next epoch's number."""
    state = torch.get_rng_state()
    try:
        yield from _judge_resume(answer)
    finally:
        torch.set_rng_state(state)


def _judge_resume(answer: Callable[..., Any]) -> Iterator[Verdict]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pt"
        whole = _Run(seed=0)
        whole.epochs(0, 5)
        whole.save(path, epoch=4)
        state = torch.get_rng_state()
        resumed = _Run(seed=1)
        unsafe: list[Any] = []
        with patch("torch.load", _watched(torch.load, unsafe)):
            epoch = answer(path, resumed.model, resumed.optimizer, resumed.scheduler)
        rng_is_back = torch.equal(torch.get_rng_state(), state)
    yield from _judge_parts(resumed, whole, rng_is_back)
    if epoch == 4:
        yield almost(
            "everything is restored; but epoch 4 was finished when the file was written. Go on with 5."
        )
    elif epoch != 5:
        yield almost(f"everything is restored; return the number of the next epoch, 5. You return {epoch!r}.")
    torch.set_rng_state(state)
    whole.epochs(5, 8)
    torch.set_rng_state(state)
    resumed.epochs(5, 8)
    if not torch.equal(whole.weights(), resumed.weights()):
        yield wrong("after three more epochs the weights differ from those of the uninterrupted run.")
    if unsafe:
        yield almost(
            "the run goes on bit for bit; but you read the file with weights_only=False. It needs no code."
        )
    yield right("three more epochs give the weights of the uninterrupted run, bit for bit.")


def _judge_parts(resumed: _Run, whole: _Run, rng_is_back: bool) -> Iterator[Verdict]:
    fresh = _Run(seed=1)
    if torch.equal(resumed.weights(), fresh.weights()):
        yield wrong("the model still has its first weights. load_state_dict copies the file's into it.")
    if not torch.equal(resumed.weights(), whole.weights()):
        yield wrong("the model's weights are not those of the file.")
    if not resumed.optimizer.state:
        yield wrong("the optimizer has no state: Adam's averages begin at zero, and the loss will jump.")
    if resumed.scheduler.last_epoch != whole.scheduler.last_epoch:
        yield wrong("the scheduler begins its schedule anew: the learning rate will be too high.")
    if resumed.optimizer.param_groups[0]["lr"] != whole.optimizer.param_groups[0]["lr"]:
        yield wrong(f"the learning rate is {resumed.optimizer.param_groups[0]['lr']}, not the file's.")
    if not rng_is_back:
        yield almost(
            "all parts are back; but dropout will draw other numbers. Restore the random state, too, last."
        )


def _watched(load: Callable[..., Any], unsafe: list[Any]) -> Callable[..., Any]:
    def watched(*args: Any, **settings: Any) -> Any:
        if settings.get("weights_only") is False:
            unsafe.append(args)
        return load(*args, **settings)  # allowed: the reader's own call, on a file of ours

    return watched


# --- Rebuild it ---------------------------------------------------------------------------------------------


class _Hostile:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (self.folder,)


@rebuild
def compare_reader(read: Callable[[Any], Any], rng: Random, files: int = 50) -> Verdict:
    """Read random files on the rebuilt reader and with torch.load: values, layout, and who shares a storage.

    Then files that want more than tensors: each must be refused with an UnpicklingError, and nothing may run.
    """
    tensors = 0
    for _ in range(files):
        buffer = io.BytesIO()
        torch.save(_random_state_dict(rng), buffer)
        buffer.seek(0)
        ours, theirs = read(io.BytesIO(buffer.getvalue())), torch.load(buffer, weights_only=True)
        if list(ours) != list(theirs):
            return wrong(f"the names are {list(ours)[:3]}, torch.load has {list(theirs)[:3]}.")
        for name in theirs:
            if said := _difference(ours[name], theirs[name]):
                return wrong(f"`{name}`: {said}")
        if _sharing(ours) != _sharing(theirs):
            return wrong("tensors that share a storage in torch.load's result do not share one in yours.")
        tensors += len(theirs)
    said = _ran(read)
    return (
        wrong(said)
        if said
        else right(f"{tensors} tensors of {files} files agree, and hostile files are refused.")
    )


def _random_state_dict(rng: Random) -> dict[str, Tensor]:
    result: dict[str, Tensor] = {}
    for number in range(rng.randint(1, 6)):
        dtype = rng.choice([torch.float32, torch.float64, torch.float16, torch.bfloat16])
        size = (rng.randint(0, 4), rng.randint(1, 5))
        tensor = torch.tensor([[rng.random() for _ in range(size[1])] for _ in range(size[0])], dtype=dtype)
        tensor = tensor.reshape(size)
        result[f"layer{number}.weight"] = tensor
        if rng.random() < 0.5:
            views = [tensor.t(), tensor[:, 1:], tensor, tensor[:0], nn.Parameter(tensor).data]
            result[f"layer{number}.view"] = rng.choice(views)
    return result


def _difference(ours: Any, theirs: Tensor) -> str:
    if not isinstance(ours, Tensor):
        return f"yours is a {type(ours).__name__}, torch.load's a tensor."
    for fact in ("dtype", "shape", "stride", "storage_offset"):
        mine, its = (
            getattr(t, fact)() if fact.startswith("st") else getattr(t, fact) for t in (ours, theirs)
        )
        if mine != its:
            return f"{fact} {mine}, torch.load has {its}."
    return "" if torch.equal(ours, theirs) else "the values differ from torch.load's."


def _sharing(tensors: dict[str, Tensor]) -> list[int]:
    """For each tensor the first one on the same storage."""
    places = [tensor.untyped_storage().data_ptr() for tensor in tensors.values()]
    return [places.index(place) if place else -1 for place in places]


def _ran(read: Callable[[Any], Any]) -> str:
    """What a hostile file achieved; "" when all were refused as they should."""
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made")
        for value in ({"weight": torch.ones(1), "extra": _Hostile(made)}, _Hostile(made), nn.Linear(1, 1)):
            buffer = io.BytesIO()
            torch.save(value, buffer)
            try:
                read(io.BytesIO(buffer.getvalue()))
            except pickle.UnpicklingError:
                continue
            finally:
                ran = os.path.exists(made)
            if ran:
                return "a hostile file ran code: it made a folder. Look at find_class."
            return f"a file with a {type(value).__name__} that is no plain state_dict was read; refuse it."
    return ""
