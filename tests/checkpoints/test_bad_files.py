"""Files that are no checkpoint, or not this one's: a sentence each, and all objects as they were."""

import io
import os
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from torchcourse.checkpoints import CheckpointError, CheckpointFileError, contents, load, save

from .runs import Run


class Hostile:
    """Makes a folder when it is unpickled: harmless, and seen."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "run.pt"
    run = Run()
    run.epoch()
    save(path, epoch=1, **run.parts)
    return path.read_bytes()


@pytest.fixture
def refuses(tmp_path):
    """Write the bytes, load them into a run, and require the sentence; nothing may have changed."""
    run = Run(seed=5)
    run.epoch()
    path = tmp_path / "file.pt"

    def check(data, said, error=CheckpointError):
        if data is not None:
            path.write_bytes(data)
        before = run.everything()
        with pytest.raises(error, match=said) as seen:
            load(path, **run.parts)
        message = str(seen.value)
        assert message.endswith(".") and "\n" not in message and len(message) < 500, message
        assert run.everything() == before
        return message

    return check


FOREIGN = {
    "nothing": (b"", "is empty"),
    "text": (b"epoch 3\nloss 0.25\n" * 20, "is a text file"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "is a PNG picture"),
    "a web page": (b"<!DOCTYPE html><title>Sign in</title>", "is a web page"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "is a pointer of Git LFS"),
    "a bare pickle": (pickle.dumps({"model": 1}), "is a bare pickle"),
    "random bytes": (bytes(range(1, 256)) * 8, "is no file of torch.save"),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_foreign_files(refuses, case):
    refuses(*FOREIGN[case])


def written(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def test_numpy_files(refuses):
    refuses(written(lambda file: np.save(file, np.ones(3))), "is a NumPy array")
    refuses(written(lambda file: np.savez(file, a=np.ones(3))), "can't be read as a checkpoint|damaged")


def test_other_zips(refuses):
    def archive(file):
        with zipfile.ZipFile(file, "w") as inside:
            inside.writestr("folder/notes.txt", "hello")

    refuses(written(archive), "can't be read as a checkpoint")


def test_files_of_torch_that_are_not_ours(refuses):
    sd = nn.Linear(2, 2).state_dict()
    refuses(
        written(lambda file: torch.save(sd, file)),
        "holds a dictionary with `weight`, `bias`, and was not written",
    )
    refuses(written(lambda file: torch.save({}, file)), "holds an empty dictionary")
    refuses(written(lambda file: torch.save(torch.ones(3), file)), "holds a Tensor, and was not written by")
    refuses(written(lambda file: torch.save({"torchcourse": 3}, file)), "was not written by")
    refuses(
        written(lambda file: torch.save(nn.Linear(2, 2), file)),
        "wants to call `torch.nn.modules.linear.Linear`",
    )


def test_a_file_of_a_later_format(refuses):
    later = {"torchcourse": {"format": 2, "kinds": {}}}
    refuses(written(lambda file: torch.save(later, file)), "has format 2; this torchcourse reads format 1")


def test_nothing_hostile_runs(refuses, tmp_path):
    made = tmp_path / "made"
    for thing in (Hostile(made), {"torchcourse": {}, "model": Hostile(made)}):
        said = refuses(written(lambda file, t=thing: torch.save(t, file)), r"wants to call `\w+\.mkdir`")
        assert "nothing in it ran" in said
    refuses(pickle.dumps(Hostile(made)), "nothing in it ran")
    assert not made.exists()


def test_a_file_that_is_not_there(refuses, tmp_path):
    refuses(None, "no such file", CheckpointFileError)
    with pytest.raises(CheckpointFileError, match="no ordinary file"):
        load(tmp_path)
    with pytest.raises(TypeError, match="must be a string or a Path, not BytesIO"):
        load(io.BytesIO())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("read", [load, contents])
def test_a_pipe_does_not_hang(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CheckpointFileError, match="no ordinary file"):
        read(tmp_path / "pipe")


def test_truncated_at_many_lengths(refuses, good):
    for length in [
        1,
        3,
        4,
        30,
        100,
        1000,
        *range(2000, len(good), len(good) // 25),
        len(good) - 22,
        len(good) - 1,
    ]:
        refuses(good[:length], "damaged or cut short|no file of torch.save|a text file")


def test_a_single_changed_byte_is_found(refuses, good):
    """torch.load itself would load changed weights without a word."""
    start = good.index(b"data/2") + 64
    torch.load(io.BytesIO(changed(good, start + 40)), weights_only=True)
    refuses(changed(good, start + 40), "damaged")


def changed(data, place):
    copy = bytearray(data)
    copy[place] ^= 1
    return bytes(copy)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damage_anywhere_is_a_sentence_or_changes_nothing(good, tmp_path_factory, data):
    place, value = data.draw(st.integers(0, len(good) - 1)), data.draw(st.integers(0, 255))
    copy = bytearray(good)
    copy[place] = value
    path = tmp_path_factory.mktemp("damaged") / "run.pt"
    path.write_bytes(copy)
    with suppress(CheckpointError):
        assert load(path)["epoch"] == 1
    with suppress(CheckpointError):
        contents(path)


# --- the right file, and other objects ----------------------------------------------------------------------


OTHER = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
SGD = torch.optim.SGD(OTHER.parameters(), lr=0.1)
STEP = torch.optim.lr_scheduler.StepLR(SGD, 1)
WRONG = {
    "a name that is not there": (
        {"modell": OTHER},
        r"has no part `modell`\. It has `epoch`, `model`, `optimizer`",
    ),
    "a plain value": ({"epoch": 3}, "`epoch` is a plain value in the file: leave it out"),
    "no object": ({"model": 3}, "`model` is the state of Sequential; pass the object"),
    "another architecture": ({"model": OTHER}, "`model` does not fit the file: Another architecture"),
    "another dtype": ({"model": Run().model.half()}, "`model` does not fit the file: The dtype changed"),
    "another optimizer": ({"optimizer": SGD}, "is the state of Adam, and you passed SGD"),
    "other parameters": ({"optimizer": torch.optim.Adam(OTHER.parameters())}, r"groups of \[4\] .* of \[6\]"),
    "another scheduler": ({"scheduler": STEP}, "is the state of CosineAnnealingLR, and you passed StepLR"),
    "another kind of part": ({"optimizer": STEP}, "is the state of Adam, and you passed StepLR"),
    "a module for a generator": ({"shuffle": OTHER}, "`shuffle` in the file is no state_dict"),
}


@pytest.mark.parametrize("case", WRONG)
def test_other_objects_than_in_the_file(good, tmp_path, case):
    """The parts that fit come first, and are not touched either."""
    wrong, said = WRONG[case]
    path = tmp_path / "file.pt"
    path.write_bytes(good)
    run = Run(seed=5)
    before = run.everything()
    with pytest.raises(CheckpointError, match=said):
        load(path, **{**run.parts, **wrong})
    assert run.everything() == before


def test_parameters_in_another_order(tmp_path):
    a, b = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))
    saved = torch.optim.Adam([a, b])
    (a.sum() + b.sum()).backward()
    saved.step()
    save(tmp_path / "run.pt", optimizer=saved)
    with pytest.raises(CheckpointError, match=r"`exp_avg` of parameter 0 has shape \(2,\) in the file"):
        load(tmp_path / "run.pt", optimizer=torch.optim.Adam([b, a]))


def test_a_part_whose_own_code_refuses_puts_all_back(refuses, tmp_path):
    class Counter:
        def __init__(self, number, refuse=False):
            self.number, self.refuse = number, refuse

        def state_dict(self):
            return {"number": self.number}

        def load_state_dict(self, state):
            self.number = state["number"]
            if self.refuse:
                self.refuse = False
                raise RuntimeError("not today")

    saved = Run()
    saved.epoch()
    save(tmp_path / "run.pt", counter=Counter(1), **saved.parts)
    run, counter = Run(seed=5), Counter(2, refuse=True)
    run.epoch()
    before = run.everything()
    with pytest.raises(CheckpointError, match=r"part `counter` was refused \(RuntimeError: not today\)\."):
        load(tmp_path / "run.pt", **run.parts, counter=counter)
    assert run.everything() == before and counter.number == 2


def test_random_states_that_are_nonsense_put_all_back(tmp_path):
    run = Run()
    run.epoch()
    path = tmp_path / "run.pt"
    save(path, **run.parts)
    content = torch.load(path, weights_only=True)
    content["torchcourse"]["random"]["python"]["keys"] = torch.tensor([1, 2])
    torch.save(content, path)
    other = Run(seed=5)
    other.epoch()
    before = other.everything()
    with pytest.raises(CheckpointError, match=r"part `random` was refused .* Everything is as it was\."):
        load(path, **other.parts)
    assert other.everything() == before


ODD_STATES = {
    "an entry that is a number": {"state": {0: 3}, "param_groups": [{"params": [0, 1]}]},
    "numbers that are lists": {"state": {0: {"exp_avg": "x"}}, "param_groups": [{"params": [[1], 2]}]},
    "a group that is a number": {"state": {}, "param_groups": [5]},
}


@pytest.mark.parametrize("case", ODD_STATES)
def test_a_state_that_is_none_gets_a_sentence(tmp_path, case):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    header = {"format": 1, "kinds": {"optimizer": "Adam"}}
    torch.save({"torchcourse": header, "optimizer": ODD_STATES[case]}, tmp_path / "odd.pt")
    with pytest.raises(CheckpointError, match=r"`optimizer` .*is no state of"):
        load(tmp_path / "odd.pt", optimizer=optimizer)


def test_a_name_with_a_zero_byte_is_no_name():
    with pytest.raises(CheckpointFileError, match="is no name for a file"):
        load("a\0b")
