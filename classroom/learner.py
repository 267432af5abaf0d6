"""One learner: an own copy of the course, an own server, one chapter, all its cells, one after the other."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from torchcourse import _work
from torchcourse._course import Lesson

from . import memory
from .hub import START_LIMIT, ClassError, Hub
from .kernel import Kernel, connect

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SERVER_STEP = 0.25  # seconds between two looks at whether a server is up


@dataclass(frozen=True)
class Slowest:
    """The cell of a notebook that took longest: its place among the code cells, its first line."""

    number: int = 0
    line: str = ""
    seconds: float = 0.0


@dataclass
class Learner:
    """A learner and what came of the run; seconds, bytes. `failures` are sentences; none is the aim."""

    name: str
    lesson: Lesson
    server_start: float = 0.0
    kernel_start: float = 0.0
    start_cpu: float = 0.0
    cells: int = 0
    seconds: float = 0.0
    received: int = 0
    slowest: Slowest = Slowest()
    failures: list[str] = field(default_factory=list)
    kernel: Kernel | None = None

    async def work(self, hub: Hub, cell_limit: float) -> None:
        """From the log-in to the last cell. Whatever stops it is one of the failures."""
        try:
            await self._open(hub)
            await self._run(hub, cell_limit)
        except ClassError as error:
            self.failures.append(f"{self.lesson.stem}: {error}")
        except Exception as error:  # a lost connection has many names, and none may pass as a success
            self.failures.append(f"{self.lesson.stem}: {type(error).__name__}: {error}")
        except asyncio.CancelledError:
            self.failures.append(f"{self.lesson.stem}: cell {self.cells + 1} was not done at the time limit")
            raise

    async def _open(self, hub: Hub) -> None:
        start = time.monotonic()
        await hub.ask("POST", f"/hub/api/users/{self.name}/server", {})
        await _up(hub, self.name)
        self.server_start = time.monotonic() - start
        start = time.monotonic()
        self.kernel = await connect(hub, self.name, self.lesson.file, "torchcourse-cpu")
        await self.kernel.ready(START_LIMIT)
        self.kernel_start = time.monotonic() - start

    async def _run(self, hub: Hub, cell_limit: float) -> None:
        """The notebook comes by REST, as the browser gets it; an error ends it, as Run All does."""
        assert self.kernel is not None
        start = time.monotonic()
        model = await hub.ask("GET", f"/user/{self.name}/api/contents/{self.lesson.file}")
        for number, (code, may_raise) in enumerate(code_cells(model["content"]), 1):
            ran = await self.kernel.run(code, cell_limit)
            if ran.failed and not may_raise:
                raise ClassError(f"cell {number} ({_first_line(code)}): {ran.failed}")
            self.cells = number
            if number == 1:  # the cell with the imports
                self.start_cpu = memory.processor_seconds(hub.process.pid, self.name)
            if ran.seconds > self.slowest.seconds:
                self.slowest = Slowest(number, _first_line(code), ran.seconds)
        self.seconds, self.received = time.monotonic() - start, self.kernel.received


def code_cells(notebook: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The source of each code cell, and whether its tags announce an error."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and "".join(cell["source"]).strip():
            yield "".join(cell["source"]), "raises-exception" in cell["metadata"].get("tags", [])


def seat(hub: Hub, name: str) -> None:
    """The learner's home, with an own copy of the course in it, as `run.py lab` makes it."""
    _work.refresh(NOTEBOOKS, hub.folder / name / "work", date.today())


async def _up(hub: Hub, name: str) -> None:
    """Until the hub says that the server is ready, or that it failed."""
    last = time.monotonic() + START_LIMIT
    while time.monotonic() < last:
        server = (await hub.ask("GET", f"/hub/api/users/{name}"))["servers"].get("")
        if server is None:
            raise ClassError(f"the server of {name} did not start")
        if server["ready"]:
            return
        await asyncio.sleep(SERVER_STEP)
    raise ClassError(f"the server of {name} was not ready within {START_LIMIT} s")


def _first_line(code: str) -> str:
    return next(line for line in code.splitlines() if line.strip())[:60]
