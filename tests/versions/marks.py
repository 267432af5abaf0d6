"""Lists the code cells of notebooks with their marks, for torchcourse/_releases.toml.

python -m tests.versions.marks NOTEBOOK …
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.notebooks import files
from torchcourse._releases import mark


def marks(path: Path) -> Iterator[tuple[str, int, tuple[str, ...], str]]:
    """(mark, number among all cells, claims, first line) of each code cell."""
    notebook = files.read(path)
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code":
            claims = tuple(t.removeprefix("claim:") for t in files.tags(cell) if t.startswith("claim:"))
            yield mark(cell.source), number, claims, cell.source.strip().split("\n")[0]


if __name__ == "__main__":
    for path in files.find(sys.argv[1:]):
        for one, number, claims, line in marks(path):
            print(one, f"{path.stem} {number:3}", ",".join(claims), line[:60])
