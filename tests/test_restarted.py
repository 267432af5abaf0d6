"""What a learner reads after a kernel that vanished, and that nothing is said after any orderly end."""

import json
import time
import uuid
from contextlib import contextmanager

import pytest
from jupyter_client.manager import KernelManager

from torchcourse import _restarted

GIB = 2**30


@pytest.mark.parametrize(
    ("before", "kills", "allowed", "said"),
    [
        (
            {"kills": 3, "cell": "big = ones()"},
            4,
            2 * GIB,
            "was most likely ended by the system in the cell `big = ones()` for lack of memory (limit 2.0 GiB): ",
        ),
        ({"kills": 3, "cell": ""}, 4, None, "was most likely ended by the system for lack of memory: "),
        (
            {"kills": 3, "cell": "x"},
            3,
            2 * GIB,
            "ended without a word in the cell `x`, as when memory runs out, native",
        ),
        ({}, 7, None, "ended without a word, as when memory runs out, native"),
        ({"kills": "abc", "cell": None}, 7, None, "ended without a word, as when memory runs out, native"),
        ({"kills": 1e400}, 7, None, "ended without a word, as when memory runs out, native"),
    ],
)
def test_the_sentence_says_memory_only_where_linux_counted_a_kill(before, kills, allowed, said):
    sentence = _restarted._sentence(before, kills, allowed)
    assert sentence.startswith(f"The last kernel of this notebook {said}")
    assert sentence.endswith("its variables are gone, run the cells from the top.") and "\n" not in sentence


@pytest.fixture
def groups(tmp_path, monkeypatch):
    monkeypatch.delenv("MEM_LIMIT", raising=False)
    own, root = tmp_path / "own", tmp_path / "root"
    own.mkdir()
    root.mkdir()
    return own, root


def test_cgroup_v2(groups):
    own, root = groups
    (own / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 2\noom_kill 5\noom_group_kill 0\n")
    (own / "memory.max").write_text("max\n")
    (root / "memory.max").write_text("2147483648\n")
    assert _restarted.counter(groups) == own / "memory.events"
    assert _restarted._number(_restarted.counter(groups), "oom_kill") == 5
    assert _restarted.limit(groups) == 2 * GIB


def test_cgroup_v1_without_a_limit(groups):
    own, _ = groups
    (own / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    (own / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert _restarted._number(_restarted.counter(groups), "oom_kill") == 1
    assert _restarted.limit(groups) is None


def test_the_hub_names_its_limit(groups, monkeypatch):
    monkeypatch.setenv("MEM_LIMIT", str(GIB))
    (groups[1] / "memory.max").write_text(str(2 * GIB))
    assert _restarted.limit(groups) == GIB


def test_a_mark_without_its_connection_file_is_swept(tmp_path):
    stays, goes = tmp_path / "kernel-1.torchcourse", tmp_path / "kernel-2.torchcourse"
    for file in (stays, goes, tmp_path / "kernel-1.json", tmp_path / "notes.torchcourse"):
        file.write_text("{}")
    _restarted._sweep(tmp_path)
    assert stays.exists() and not goes.exists() and (tmp_path / "notes.torchcourse").exists()


@pytest.mark.parametrize("cut", ["", '{"kills": 1, "ce', "[]", "\x00"])
def test_a_mark_cut_off_in_the_middle_still_tells(tmp_path, cut):
    mark = tmp_path / "kernel-1.torchcourse"
    mark.write_text(cut)
    assert _restarted._read(mark) == {}
    assert _restarted._read(tmp_path / "kernel-2.torchcourse") is None


@pytest.mark.parametrize(
    ("cell", "begins"), [("\n a = 1\nb", "a = 1 …"), ("a", "a"), ("", ""), ("x" * 70, "x" * 60 + " …")]
)
def test_how_a_cell_begins(cell, begins):
    class Info:
        raw_cell = cell

    assert _restarted._begins(Info()) == begins


@contextmanager
def kernel(folder):
    """A kernel as a Jupyter server starts it: what matters is the name of its connection file."""
    manager = KernelManager(
        kernel_name="python3", connection_file=str(folder / f"kernel-{uuid.uuid4()}.json")
    )
    manager.shutdown_wait_time = 60  # on a loaded machine a busy kernel may need longer than the usual 5 s
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(60)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client, code):
    """All the text that a cell shows, on both streams, and its error."""
    seen = []
    client.execute_interactive(code, output_hook=lambda message: seen.append(message["content"]), timeout=60)
    return "".join(content.get("text", content.get("evalue", "")) for content in seen)


def test_a_kernel_that_is_killed_a_restart_and_an_end(tmp_path):
    with kernel(tmp_path) as (manager, client):
        assert run(client, "import torchcourse; torchcourse._register()") == ""
        (mark,) = tmp_path.glob("*.torchcourse")
        assert json.loads(mark.read_text())["cell"] == ""
        # What was asked for leaves no mark: an error in a cell, an interrupt, a restart of a busy kernel.
        assert "division" in run(client, "1 / 0")
        client.execute("import time; time.sleep(60)")
        manager.restart_kernel()
        client.wait_for_ready(60)
        assert run(client, "import torchcourse") == ""
        # Killed in a cell: the next one says so, once.
        client.execute("fatal = 1; import os; os.kill(os.getpid(), 9)")
        while manager.is_alive():
            time.sleep(0.05)
        manager.restart_kernel(now=True)
        client.wait_for_ready(60)
        said = run(client, "import torchcourse")
        assert "ended without a word in the cell `fatal = 1; import os; os.kill(os.getpid(), 9)`" in said
        assert run(client, "import importlib; importlib.reload(torchcourse)").count("last kernel") == 0
        manager.shutdown_kernel()
        assert not list(tmp_path.iterdir())
