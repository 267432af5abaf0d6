"""Whatever stops a save, the checkpoint before it stays whole; and no rubbish is left."""

import errno
import os
import stat
import subprocess
import sys
import threading
import time

import pytest
import torch
from torch import nn

from torchcourse.checkpoints import CheckpointError, CheckpointFileError, load, save, write


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "run.pt"
    save(target, step=1, weight=torch.full((500,), 1.0))
    return target


def assert_still_step_one(path):
    back = load(path)
    assert back["step"] == 1 and bool((back["weight"] == 1).all())
    assert os.listdir(path.parent) == [path.name]


def save_second(path, **settings):
    save(path, step=2, weight=torch.full((500_000,), 2.0), **settings)


class FullAfter:
    """A file on a disk with room for so many bytes only."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("room", [0, 100, 10_000, 1_999_000])
def test_a_full_disk(path, monkeypatch, room):
    real = write._open
    monkeypatch.setattr(write, "_open", lambda *args: FullAfter(real(*args), room))
    with pytest.raises(
        CheckpointFileError, match=r"the disk is full\. The previous checkpoint is untouched"
    ) as seen:
        save_second(path)
    assert (
        seen.value.errno == errno.ENOSPC
        and isinstance(seen.value, OSError)
        and isinstance(seen.value, ValueError)
    )
    assert_still_step_one(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits on file sizes are Unix's")
def test_a_real_limit_on_the_file(path):
    """The system itself refuses, in the middle of a large record."""
    script = (
        "import resource, sys, torch\n"
        "from torchcourse.checkpoints import save\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "try: save(sys.argv[1], step=2, weight=torch.zeros(500_000))\n"
        "except OSError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=120)
    assert "larger than allowed there. The previous checkpoint is untouched." in done.stdout, done.stderr
    assert_still_step_one(path)


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_refusal_at_the_last_moment(path, monkeypatch, call):
    def refuse(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(
        CheckpointFileError, match=r"Input/output error. The previous checkpoint is untouched"
    ):
        save_second(path, durable=True)
    monkeypatch.undo()
    assert_still_step_one(path)


def test_an_interrupt_stays_an_interrupt(path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_second(path)
    monkeypatch.undo()
    assert_still_step_one(path)


def test_a_part_that_fails_while_it_is_written(path):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(CheckpointError, match=r"RecursionError.*The previous checkpoint is untouched"):
        save(path, step=2, deep=deep)
    assert_still_step_one(path)


def test_durable_asks_the_disk_before_the_name_changes(path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *args, n=name, r=real: (calls.append(n), r(*args))[1])
    save(path, step=2, durable=True)
    assert calls[:2] == ["fsync", "replace"]


def test_a_first_save_that_fails_leaves_nothing(tmp_path, monkeypatch):
    real = write._open
    monkeypatch.setattr(write, "_open", lambda *args: FullAfter(real(*args), 10))
    with pytest.raises(CheckpointFileError, match=r"No file was left behind"):
        save(tmp_path / "new.pt", step=1)
    assert os.listdir(tmp_path) == []


# --- paths --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, said",
    [
        ("", "is a folder"),
        ("no/such/run.pt", "in the folder .*, which is not there; make it first"),
        ("x" * 300, "too long"),
        ("a\0b", "null"),
    ],
)
def test_paths_that_cannot_be_written(tmp_path, name, said):
    with pytest.raises(CheckpointFileError, match=said):
        save(tmp_path / name, step=1)
    assert os.listdir(tmp_path) == []


def test_a_folder_without_permission(path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")  # root may write anywhere, so it is played

    monkeypatch.setattr(write, "_open", refuse)
    with pytest.raises(CheckpointFileError, match=r"not permitted\. The previous checkpoint is untouched"):
        save_second(path)
    monkeypatch.undo()
    assert_still_step_one(path)


def test_a_device_is_not_replaced():
    with pytest.raises(CheckpointFileError, match="a device or a pipe"):
        save(os.devnull, step=1)
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)


def test_a_path_that_is_no_path():
    with pytest.raises(TypeError, match="must be a string or a Path, not int"):
        save(3, step=1)


@pytest.mark.skipif(os.name == "nt", reason="links and rights as Unix has them")
def test_links_and_rights_are_kept(path, tmp_path):
    os.chmod(path, 0o640)
    link = tmp_path / "latest.pt"
    link.symlink_to(path)
    save_second(link)
    assert link.is_symlink() and load(path)["step"] == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    umask = os.umask(0o022)
    os.umask(umask)
    save(tmp_path / "fresh.pt", step=1)
    assert stat.S_IMODE((tmp_path / "fresh.pt").stat().st_mode) == 0o666 & ~umask


# --- parts --------------------------------------------------------------------------------------------------

REFUSED = {
    "nothing": ({}, "Nothing to save"),
    "a reserved name": ({"rng": 1}, "No part can be called `rng`"),
    "our own key": ({"torchcourse": 1}, "No part can be called `torchcourse`"),
    "a function": ({"f": print}, "Part `f` holds a builtins.builtin_function_or_method"),
    "a class": ({"model": nn.Linear}, "Part `model` is the class Linear; pass an object of it"),
    "a list of modules": ({"models": [nn.Linear(1, 1)]}, r"Part `models` at \[0\] holds a whole Linear"),
    "an array": ({"data": {"x": torch.ones(2).numpy()}}, r"Part `data` at \['x'\] holds a NumPy array"),
    "no data": ({"model": nn.Linear(1, 1, device="meta")}, r"\['weight'\] holds a tensor on the meta device"),
    "not yet initialised": ({"model": nn.LazyLinear(1)}, "UninitializedParameter"),
    "an object": ({"o": object()}, "reading that back would mean running code"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_parts_that_could_not_be_read_back(path, case):
    parts, said = REFUSED[case]
    with pytest.raises(CheckpointError, match=said):
        save(path, **parts)
    assert_still_step_one(path)


def test_a_state_dict_that_raises(path):
    class Broken(nn.Linear):
        def state_dict(self, *args, **kwargs):
            raise RuntimeError("not today")

    with pytest.raises(
        CheckpointError, match="The state of part `model` can't be read: RuntimeError: not today"
    ):
        save(path, model=Broken(1, 1))
    assert_still_step_one(path)


# --- killed processes ---------------------------------------------------------------------------------------

SAVES_FOREVER = """
import sys, torch
from torchcourse.checkpoints import save
torch.set_num_threads(1)
step = int(sys.argv[2])
while True:
    step += 1
    save(sys.argv[1], step=step, weight=torch.full((200_000,), float(step)))
    print(step, flush=True)
"""


def kill_while_saving(path, seconds, step):
    """Let a process save again and again, and kill it at a random moment. The last step that it reported."""
    process = subprocess.Popen(
        [sys.executable, "-c", SAVES_FOREVER, path, str(step)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline()  # it saves now
        time.sleep(seconds)
    finally:
        process.kill()
        rest = process.communicate(timeout=60)[0]
    return max([step, *map(int, rest.split())])


def assert_whole(path, at_least):
    back = load(path)
    assert back["step"] >= at_least
    assert bool((back["weight"] == back["step"]).all())
    return back["step"]


def test_a_killed_save_loses_nothing(path):
    reported = kill_while_saving(path, 0.05, step=1)
    assert_whole(path, reported)
    save(path, step=10**6, weight=torch.zeros(1))
    assert os.listdir(path.parent) == [path.name]  # what the killed process left is cleared


@pytest.mark.slow
def test_fifty_kills_lose_nothing(path):
    moments = torch.rand(50, generator=torch.Generator().manual_seed(0)).tolist()
    step, left = 1, 0
    for moment in moments:
        reported = kill_while_saving(path, 0.1 * moment, step)
        left += len(os.listdir(path.parent)) > 1
        step = assert_whole(path, reported)
    assert left > 5  # many of the kills came in the middle of a save
    save(path, step=step)
    assert os.listdir(path.parent) == [path.name]


def test_leftovers_of_the_living_are_kept(path):
    """Another thread of this process, and another process that lives, may be writing now."""
    stem = write._stem(path)
    for name in (f"{stem}{os.getppid()}-aa.part", f"{stem}x-aa.part", ".other.pt.part"):
        (path.parent / name).touch()
    save(path, step=2)
    assert len(os.listdir(path.parent)) == 4


def test_threads_that_save_to_one_file(path):
    def work(step):
        for _ in range(5):
            save(path, step=step, weight=torch.full((50_000,), float(step)))

    threads = [threading.Thread(target=work, args=(step,)) for step in (2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_whole(path, 2)
    assert os.listdir(path.parent) == [path.name]
