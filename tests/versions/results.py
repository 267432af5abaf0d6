"""What is kept of a release: one file in the repository per release, from which the table is written."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from packaging.version import Version

from . import seen, verdict
from .verdict import TRUE, Verdict

FOLDER = Path(__file__).with_name("results")


@dataclass(frozen=True)
class Result:
    """A release: the exact version that ran, its claims and its unit tests."""

    torch: str
    claims: dict[str, Verdict]
    tests: dict[str, int] = field(default_factory=dict)  # "passed" and such -> how many; {}: they did not run
    failed: tuple[str, ...] = ()  # the unit tests that failed

    @property
    def release(self) -> str:
        return release_of(self.torch)


def release_of(version: str) -> str:
    """ "2.13" of "2.13.0+cpu"; a preview is a release of its own: "nightly"."""
    parsed = Version(version)
    return "nightly" if parsed.is_devrelease else f"{parsed.major}.{parsed.minor}"


def gather(folder: Path) -> Result:
    """The result of the runs whose files lie in a folder. ValueError where there are none."""
    runs = [run for path in sorted(folder.glob("*.json")) if (run := seen.load(path))]
    if not runs:
        raise ValueError(f"No run lies in {folder.name}.")
    claims: dict[str, Verdict] = {}
    for run in runs:
        for claim, one in verdict.verdicts(run).items():
            claims[claim] = verdict.worse(claims.get(claim), one)
    tests = _tests(folder / "tests.txt")
    return Result(runs[0].torch.split("+")[0], dict(sorted(claims.items())), *tests)


def _tests(path: Path) -> tuple[dict[str, int], tuple[str, ...]]:
    """What pytest's last lines say: its counts, and what failed."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    words = (lines[-1] if lines else "").strip("= ").split(" in ")[0]
    pairs = [part.split() for part in words.split(", ") if part[:1].isdigit()]
    failed = [
        line.split(" ", 1)[1].split(" - ")[0] for line in lines if line.startswith(("FAILED ", "ERROR "))
    ]
    counts = {word: int(count) for count, word, *_ in pairs if not word.startswith("warning")}
    return counts, tuple(sorted(set(failed)))


def merged(new: Result, before: Result | None, known: Iterable[str]) -> Result:
    """What did not run this time stands as it was: some notebooks only, or no unit tests."""
    claims = {**(before.claims if before else {}), **new.claims}
    tests = new if new.tests or before is None else before
    kept = {claim: claims[claim] for claim in sorted(known) if claim in claims}
    return Result(new.torch, kept, tests.tests, tests.failed)


def write(result: Result, folder: Path = FOLDER) -> Path:
    """Claims that are true in the stored words make one list; the others say more."""
    path = folder / f"{result.release}.json"
    plain = Verdict(TRUE)
    told = {
        "torch": result.torch,
        "tests": result.tests,
        "failed": result.failed,
        "true": [claim for claim, one in result.claims.items() if one == plain],
        "others": {claim: asdict(one) for claim, one in result.claims.items() if one != plain},
    }
    folder.mkdir(exist_ok=True)
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    return path


def read(path: Path) -> Result:
    told = json.loads(path.read_text(encoding="utf-8"))
    claims = dict.fromkeys(told["true"], Verdict(TRUE))
    for claim, one in told["others"].items():
        claims[claim] = Verdict(one["word"], one["shows"], tuple(one["stored"]), tuple(one["here"]))
    return Result(told["torch"], claims, told["tests"], tuple(told["failed"]))


def read_all(folder: Path = FOLDER) -> list[Result]:
    """Every release that is kept, oldest first; the nightly build stands last."""
    results = [read(path) for path in folder.glob("*.json")]
    return sorted(results, key=lambda result: Version(result.torch))
