"""Checks of chapter 06: right answers are green, the wrong ones that people give stay red, a stub is no answer."""

import io
import pickle
import zipfile
from random import Random

import pytest
import torch

from torchcourse.exercises import checkpoints

from .rebuilt import rebuilt, rebuilt_lines

PREFIXES = ("module.", "_orig_mod.")


def bare(name):
    while name.startswith(PREFIXES):
        name = name.partition(".")[2]
    return name


def in_place(state_dict):
    for name in list(state_dict):
        state_dict[bare(name)] = state_dict.pop(name)
    return state_dict


MEND = {
    "the solution": (lambda sd: {bare(n): t for n, t in sd.items()}, "right"),
    "replace": (
        lambda sd: {n.replace("module.", "").replace("_orig_mod.", ""): t for n, t in sd.items()},
        "wrong",
    ),
    "one prefix only": (lambda sd: {n.removeprefix("module."): t for n, t in sd.items()}, "wrong"),
    "each once, in one order": (
        lambda sd: {n.removeprefix("module.").removeprefix("_orig_mod."): t for n, t in sd.items()},
        "almost",
    ),
    "the last word": (lambda sd: {n.split(".")[-1]: t for n, t in sd.items()}, "wrong"),
    "the first word away": (lambda sd: {n.partition(".")[2]: t for n, t in sd.items()}, "wrong"),
    "nothing": (lambda sd: sd, "wrong"),
    "in place": (in_place, "almost"),
    "copies": (lambda sd: {bare(n): t.clone() for n, t in sd.items()}, "wrong"),
    "sorted": (lambda sd: {bare(n): sd[n] for n in sorted(sd)}, "almost"),
    "no return": (lambda sd: None, "not yet"),
    "the stub": (lambda sd: ..., "not yet"),
    "raises": (lambda sd: sd["nothing"], "wrong"),
}


@pytest.mark.parametrize("answer", MEND)
def test_mend(answer):
    function, state = MEND[answer]
    verdict = checkpoints.mend(function)
    assert verdict.state == state, verdict


def resume(
    model=True, optimizer=True, scheduler=True, rng="last", more=1, weights_only=True
):  # the solution, with faults to choose
    def answer(path, m, o, s):
        file = torch.load(
            path, map_location="cpu", weights_only=weights_only
        )  # allowed: a file of the check's own
        if rng == "first":
            torch.set_rng_state(file["rng"])
            torch.rand(1)
        for wanted, part, name in (
            (model, m, "model"),
            (optimizer, o, "optimizer"),
            (scheduler, s, "scheduler"),
        ):
            if wanted:
                part.load_state_dict(file[name])
        if rng == "last":
            torch.set_rng_state(file["rng"])
        return None if more is None else file["epoch"] + more

    return answer


RESUME = {
    "the solution": (resume(), "right", "bit for bit"),
    "no model": (resume(model=False), "wrong", "still has its first weights"),
    "no optimizer": (resume(optimizer=False), "wrong", "optimizer has no state"),
    "no scheduler": (resume(scheduler=False), "wrong", "scheduler begins its schedule anew"),
    "no random state": (resume(rng=None), "almost", "dropout will draw other numbers"),
    "random state, then a draw": (resume(rng="first"), "almost", "dropout will draw other numbers"),
    "the finished epoch again": (resume(more=0), "almost", "Go on with 5"),
    "no return": (resume(more=None), "almost", "return the number of the next epoch"),
    "unsafe": (resume(weights_only=False), "almost", "weights_only=False"),
    "the stub": (lambda *args: ..., "not yet", "still returns"),
    "raises": (lambda path, m, o, s: torch.load(path, weights_only=True)["nothing"], "wrong", "KeyError"),
}


@pytest.mark.parametrize("answer", RESUME)
def test_resume(answer):
    function, state, said = RESUME[answer]
    before = torch.get_rng_state()
    verdict = checkpoints.resume(function)
    assert verdict.state == state and said in verdict.why, verdict
    assert torch.equal(torch.get_rng_state(), before)


# --- the rebuilt reader -------------------------------------------------------------------------------------

OURS = rebuilt("06_checkpoints")


@pytest.mark.parametrize("seed", range(3))
def test_the_rebuilt_reader_agrees_with_torch(seed):
    verdict = checkpoints.compare_reader(OURS["read_state_dict"], Random(seed), files=40)
    assert verdict.state == "right", verdict


def reader(**changes):
    """The notebook's reader with some methods replaced."""
    made = type("Reader", (OURS["SafeReader"],), changes)
    return lambda file: made(
        zipfile.ZipFile(file)
    ).load()  # allowed: the reader under test, on files of the check


def imports_everything(self, module, name):
    known = OURS["KNOWN"].get((module, name))
    return known or pickle.Unpickler.find_class(self, module, name)


def forgets_who_shares(self, reference):
    self.storages.clear()
    return OURS["SafeReader"].persistent_load(self, reference)


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"find_class": imports_everything}, "hostile file ran code"),
        ({"persistent_load": forgets_who_shares}, "do not share one in yours"),
        ({"persistent_load": lambda self, reference: torch.zeros(100)}, "dtype|differ|offset"),
    ],
    ids=["imports everything", "forgets who shares", "reads nothing"],
)
def test_a_fault_in_the_reader_is_found(changes, said):
    import re

    verdict = checkpoints.compare_reader(reader(**changes), Random(0), files=20)
    assert verdict.state == "wrong" and re.search(said, verdict.why), verdict


def test_a_reader_that_refuses_everything_is_no_reader():
    def refuse(file):
        raise pickle.UnpicklingError("no")

    assert checkpoints.compare_reader(refuse, Random(0)).state == "wrong"


def test_the_reader_reads_a_real_state_dict():
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 2).double())
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    model.load_state_dict(OURS["read_state_dict"](buffer))


def test_it_stays_short_enough_to_read_in_class():
    assert 20 < rebuilt_lines("06_checkpoints") <= 50
