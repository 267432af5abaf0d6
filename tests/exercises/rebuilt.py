"""The code of a notebook's "Rebuild it", taken from its cells tagged `rebuild`."""

import json
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def sources(stem):
    cells = json.loads((NOTEBOOKS / f"{stem}.ipynb").read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if "rebuild" in cell["metadata"].get("tags", [])]


def rebuilt(stem):
    """The names that these cells define, torch included as in the notebook."""
    import torch

    names = {"torch": torch}
    for source in sources(stem):
        exec(source, names)  # allowed: our own notebook's cells are what is tested
    return names


def rebuilt_lines(stem):
    """How many lines of code these cells have."""
    return sum(bool(line.strip()) for source in sources(stem) for line in source.splitlines())
