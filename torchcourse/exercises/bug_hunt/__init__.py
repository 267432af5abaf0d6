"""The bug hunt: a training script with ten planted faults, and a check that judges by behaviour.

    game = hunt(seed=0)        # the script, its functions, the symptoms
    check(globals())           # in a notebook that holds the functions: which of the ten are mended
    hint(3)                    # for symptom 3: what shows it; step=2: the function; step=3: the line
    write(7, "hunt7.py")       # the script of another seed as a file, and
    check_file("hunt7.py")     # how far its reader is

A check calls the reader's functions on small stand-ins, and compares what they do, never their text.
"""

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ._faults import POOL, Fault
from ._plan import MARK, Hunt, hunt, planted
from ._probes import PROBES
from ._score import Row, Score
from ._script import PARTS
from ._untouched import untouched

__all__ = ["Hunt", "Row", "Score", "check", "check_file", "hint", "hunt", "write"]


def check(names: Mapping[str, Any] | ModuleType, seed: int = 0) -> Score:
    """Which of the ten faults of this seed are mended in the functions with the script's names.

    names: `globals()` of a notebook, a module, or any mapping. Nothing of it is changed; random states, modes
    and what is printed stay as they are. A function that raises or is missing mends nothing, and is named.
    Raises TypeError for names of another kind, and for a seed that is no integer.
    """
    given = vars(names) if isinstance(names, ModuleType) else names
    if not isinstance(given, Mapping):
        raise TypeError(f"hand over globals() or a module; got {type(names).__name__}.")
    faults = planted(seed)
    mended = {fault.slug: _mended(fault, given) for fault in POOL}
    rows = tuple(_row(number, fault, mended[fault.slug]) for number, fault in enumerate(faults, 1))
    others = [fault for fault in POOL if fault not in faults and not mended[fault.slug]]
    return Score(seed, rows, _broken(given, others))


def check_file(path: str | Path, seed: int | None = None) -> Score:
    """`check` for a script in a file. It is imported, as `import` would: what stands at its top level runs.

    The seed stands in the file that `write` made; hand one over if that line is gone. Raises ValueError with a
    sentence when there is no such file, no seed, or when the script can't be imported.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no file {path.name!r} here; write(seed, path) makes one.")
    if seed is None:
        found = re.search(rf"{MARK}(\d+)", path.read_text(encoding="utf-8"))
        if found is None:
            raise ValueError(f"{path.name} says no seed; call check_file(path, seed=…).")
        seed = int(found[1])
    return check(_module(path), seed)


def write(seed: int, path: str | Path) -> Path:
    """Write the script of a seed to a new file, and return its path. Raises ValueError if the file is there."""
    path = Path(path)
    text = hunt(seed).text
    if path.exists():
        raise ValueError(f"{path.name} is there already, and may hold your work: choose another name.")
    path.write_text(text, encoding="utf-8")
    return path


def hint(number: int, step: int = 1, seed: int = 0) -> str:
    """A hint for symptom 1 to 10. step 1: what shows it; 2: the function that holds it; 3: the line, and why."""
    faults = planted(seed)
    if number not in range(1, len(faults) + 1) or step not in (1, 2, 3):
        raise ValueError(
            f"symptoms go from 1 to {len(faults)}, steps from 1 to 3; got {number!r} and {step!r}."
        )
    fault = faults[number - 1]
    return (fault.tool, f"It is in `{fault.part}`.", fault.line)[step - 1]


def _mended(fault: Fault, names: Mapping[str, Any]) -> bool:
    with untouched():
        try:
            return bool(PROBES[fault.slug](names))
        except Exception:  # the reader's function may raise anything: then it is not mended
            return False


def _row(number: int, fault: Fault, mended: bool) -> Row:
    name, chapter = (fault.slug, fault.chapter) if mended else (None, None)
    return Row(number, fault.symptom, name, chapter)


def _broken(names: Mapping[str, Any], others: list[Fault]) -> tuple[str, ...]:
    """Sentences on what is missing, and on what was sound when the hunt began."""
    missing = [part for part in PARTS if not callable(names.get(part))]
    changed = sorted({fault.part for fault in others} - set(missing))
    return (
        *(f"`{part}` is not there: run its cell, and keep its name." for part in missing),
        *(f"`{part}` has a fault that was not there in the beginning." for part in changed),
    )


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bug_hunt_script", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path.name} is no Python file: its name should end in .py.")
    module = importlib.util.module_from_spec(spec)
    try:
        with untouched():
            spec.loader.exec_module(module)  # allowed: the reader's own script, as `import` would run it
    except Exception as error:
        raise ValueError(f"{path.name} can't be imported: {type(error).__name__}: {error}") from error
    return module
