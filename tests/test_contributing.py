"""The walk-throughs of CONTRIBUTING.md, done as they are written there, in a copy of the repository.

With all their blocks the commands are green; without the rows, or without the tests, each of them is red.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from torchcourse._course import LESSONS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
WALKS = ("A claim", "A case for `explain`", "A view")
LEFT_OUT = (".*", "__pycache__", "build", "dist", "work", "test-results", "*.egg-info")
_BLOCK = re.compile(
    r"^(?:`([^`\n]+)`, a new (row|entry|text|file|cell)\b([^\n]*)\n\n)?```(\w+)\n(.*?)^```$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A block of a walk-through: what goes into which file, or commands (`file` is "")."""

    file: str
    what: str
    how: str
    text: str

    @property
    def is_test(self) -> bool:
        return self.file.startswith(("tests/", "notebooks/")) and self.what != "row"


def blocks(walk: str) -> list[Block]:
    section = PAGE.partition(f"## {walk}\n")[2].partition("\n## ")[0]
    return [Block(file, what, how, text) for file, what, how, _, text in _BLOCK.findall(section)]


def put(root: Path, block: Block) -> None:
    path = root / block.file
    WAYS[block.what](path, block)


def _row(path: Path, block: Block) -> None:
    """At the end of a table: of a CSV, or before the bracket that closes the one in a module."""
    text = path.read_text(encoding="utf-8")
    closed = len(text) if path.suffix == ".csv" else max(text.rfind("\n)"), text.rfind("\n}")) + 1
    path.write_text(text[:closed] + block.text + text[closed:], encoding="utf-8")


def _text(path: Path, block: Block) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    data["known"] |= json.loads(f"{{{block.text}}}")
    path.write_text(json.dumps(data), encoding="utf-8")


def _file(path: Path, block: Block) -> None:
    assert not path.exists(), f"{path.name} is no new file"
    path.write_text(block.text, encoding="utf-8")


def _cell(path: Path, block: Block) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    recap = next(k for k, cell in enumerate(cells) if "## Recap" in "".join(cell["source"]))
    tags = re.findall(r"`(claim:[^`]+)`", block.how)
    new = {"cell_type": "code", "id": "new", "metadata": {"tags": tags}, "source": block.text.rstrip()}
    cells.insert(recap, {**new, "outputs": [], "execution_count": None})
    path.write_text(json.dumps(notebook), encoding="utf-8")


WAYS = {"row": _row, "entry": _row, "text": _text, "file": _file, "cell": _cell}


class Copy:
    """A copy of the repository, in which commands run with the copy's own package."""

    def __init__(self, root: Path) -> None:
        self.root = shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*LEFT_OUT))

    def add(self, *chosen: Block) -> "Copy":
        for block in chosen:
            put(self.root, block)
        return self

    def run(self, command: str) -> tuple[int, str]:
        python, *words = shlex.split(command)
        assert python == "python"
        env = {**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        env = {key: value for key, value in env.items() if not key.startswith("PYTEST_")}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env=env,
            capture_output=True,
            text=True,
            timeout=900,
        )
        return done.returncode, done.stdout + done.stderr


def every(is_test: bool | None = None) -> list[Block]:
    there = [block for walk in WALKS for block in blocks(walk) if block.file]
    return [block for block in there if is_test is None or block.is_test == is_test]


def commands(walk: str) -> list[str]:
    return [line for block in blocks(walk) if not block.file for line in block.text.splitlines()]


# What shows each row at once: the walk-throughs' own tests, without those that need a kernel or a browser.
QUICK = (
    *("tests/notebooks/test_notebooks.py", "tests/errors/test_known.py", "tests/browser/test_views.py"),
    *("tests/widgets/test_bits.py", "-q", "-p", "no:cacheprovider", "-k"),
    "every_claim or (01_storage and (claims or stored_form)) or bincount or belongs or is_touched or test_bits",
)


def quick(copy: "Copy") -> tuple[int, str]:
    words = [word for word in QUICK if not word.endswith(".py") or (copy.root / word).exists()]
    return copy.run(f"python -m pytest {shlex.join(words)}")


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_is_one_row_its_files_and_its_tests(walk):
    there = blocks(walk)
    rows = [block for block in there if block.what in ("row", "entry")]
    assert len(rows) == 1 and commands(walk) and any(block.is_test for block in there)
    assert all((ROOT / block.file).exists() != (block.what == "file") for block in there if block.file)


def test_all_three_at_once_are_green(tmp_path):
    copy = Copy(tmp_path / "copy").add(*every())
    code, said = copy.run("python -c 'import torchcourse; print(torchcourse.__file__)'")
    assert code == 0 and Path(said.strip()).is_relative_to(copy.root), said
    for code, said in (copy.run(commands("A claim")[0]), quick(copy)):
        assert code == 0, said


@pytest.mark.parametrize("rows", [True, False], ids=["without the tests", "without the rows"])
def test_half_of_each_is_red(tmp_path, rows):
    """Rows alone, or files and tests alone: each of the three fails, by its own test."""
    half = [block for block in every() if (not block.is_test if rows else block.what not in ("row", "entry"))]
    code, said = quick(Copy(tmp_path / "copy").add(*half))
    assert code == 1, said
    view = "test_every_view_is_touched[bits]" if rows else "test_bits_show_themselves"
    case = "test_a_kind_is_told_by_its_own_texts[bincount-input]" if rows else "test_a_text_belongs_to_a_kind"
    for test in (view, case, "test_claims[01_storage_and_strides]"):
        assert re.search(rf"^(FAILED|ERROR) \S*{re.escape(test)}", said, re.M), said


@pytest.mark.slow
@pytest.mark.parametrize("walk", WALKS)
def test_its_commands_are_green_as_they_stand(tmp_path, walk):
    copy = Copy(tmp_path / "copy").add(*(block for block in blocks(walk) if block.file))
    for command in commands(walk):
        code, said = copy.run(command)
        assert code == 0, said


def test_what_it_names_is_there():
    for name in re.findall(r"\]\(((?!https?:|#)[^)]+)\)", PAGE):
        assert (ROOT / name).is_file(), name
    for form in re.findall(r"template=([\w.-]+)", PAGE):
        assert (ROOT / ".github" / "ISSUE_TEMPLATE" / form).is_file(), form
    lanes = re.findall(r'^    "([a-z-]+)":', (ROOT / "run.py").read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"python3 run\.py ([a-z][a-z-]*)", PAGE)) <= set(lanes)
    assert any(lesson.stem in PAGE for lesson in LESSONS)
