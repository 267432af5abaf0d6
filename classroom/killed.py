"""A kernel killed as the system kills for memory: noticed, explained in one sentence, fresh again."""

import asyncio
import time
from dataclasses import dataclass
from itertools import islice

import psutil

from . import memory
from .hub import START_LIMIT, ClassError, Hub
from .learner import Learner, code_cells

FIRST_CELLS = 3  # run again on the fresh kernel


@dataclass(frozen=True)
class Killed:
    """Seconds until the server told of it and until the fresh kernel answered; the sentence read; what failed."""

    noticed: float = 0.0
    fresh: float = 0.0
    said: str = ""
    failure: str = ""


async def kill(hub: Hub, learner: Learner, cell_limit: float) -> Killed:
    """Kills this learner's kernel in the middle of a cell and goes on in the same notebook."""
    assert learner.kernel is not None
    start = time.monotonic()
    try:
        waiting = asyncio.create_task(learner.kernel.run("import time; time.sleep(600)", START_LIMIT))
        await asyncio.sleep(1)  # it is in the cell now
        start = time.monotonic()
        _process(hub, learner.name).kill()
        await waiting
        if not learner.kernel.states:
            raise ClassError(f"the server did not tell of the killed kernel within {START_LIMIT} s")
        noticed = time.monotonic() - start
        await learner.kernel.ready(START_LIMIT)
        fresh = time.monotonic() - start
        return Killed(noticed, fresh, await _go_on(hub, learner, cell_limit))
    except Exception as error:  # as in `Learner.work`
        return Killed(failure=f"the killed kernel: {error}")


async def _go_on(hub: Hub, learner: Learner, cell_limit: float) -> str:
    """Runs the notebook's first cells; returns the sentence that the first one shows, which must be there."""
    assert learner.kernel is not None
    model = await hub.ask("GET", f"/user/{learner.name}/api/contents/{learner.lesson.file}")
    said = ""
    for number, (code, _) in enumerate(islice(code_cells(model["content"]), FIRST_CELLS), 1):
        ran = await learner.kernel.run(code, cell_limit)
        if ran.failed:
            raise ClassError(f"cell {number} failed on the fresh one: {ran.failed}")
        said += ran.stderr
    sentence = next((line for line in said.splitlines() if line.startswith("The last kernel")), "")
    if not sentence:
        raise ClassError("no sentence told the learner what had happened")
    return sentence


def _process(hub: Hub, name: str) -> psutil.Process:
    """The kernel itself: the child of the server, not a worker that it started."""
    found = memory.parts(psutil.Process(hub.process.pid))
    (server,) = found[name, "server"]
    return next(process for process in found[name, "kernel"] if process.ppid() == server.pid)
