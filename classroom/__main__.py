"""The load test of a class: `python -m classroom --learners 10`, or `python3 run.py class --learners 10`."""

import argparse
import asyncio
import json
import os
import platform
import signal
import sys
from importlib.metadata import version
from pathlib import Path

import psutil

from torchcourse._course import LESSONS, Lesson

from . import hub, learner, memory
from .killed import Killed, kill
from .report import Report, Seat

MOST = 60  # learners on one machine; more says nothing new and can take the machine down
NEEDS = 2**30  # bytes free for each learner, or the test is not begun


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py class", description=__doc__)
    parser.add_argument("--learners", type=int, default=10, metavar="N", help="how many at once (10)")
    parser.add_argument("--chapters", metavar="NN,…", help="only these: 00,01b (all)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of each kernel (1)")
    parser.add_argument("--limit", type=float, default=1800, metavar="S", help="seconds for all (1800)")
    parser.add_argument("--cell-limit", type=float, default=300, metavar="S", help="seconds for a cell (300)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    asked = parser.parse_args(words)
    problem = _problem(asked)
    if problem:
        parser.exit(2, f"{problem}\n")
    return asked


def _problem(asked: argparse.Namespace) -> str:
    """What is wrong with the arguments, in one sentence, or ''."""
    known = {lesson.number for lesson in LESSONS}
    unknown = [number for number in _numbers(asked) if number not in known]
    if not 1 <= asked.learners <= MOST:
        return f"--learners {asked.learners}: a number from 1 to {MOST} is expected."
    if not 1 <= asked.threads <= 256 or not (asked.limit > 0 and asked.cell_limit > 0):
        return "--threads, --limit and --cell-limit: a number above 0 is expected (threads: 256 at most)."
    if unknown:
        return (
            f"--chapters: there is no {', '.join(map(repr, unknown))}; there are {', '.join(sorted(known))}."
        )
    if asked.json and not asked.json.resolve().parent.is_dir():
        return f"--json {asked.json}: there is no folder {asked.json.resolve().parent}."
    if os.name == "nt":
        return "JupyterHub does not run on Windows: run the class under WSL or Linux."
    return ""


def _numbers(asked: argparse.Namespace) -> list[str]:
    return [word.strip() for word in (asked.chapters or "").split(",") if word.strip()]


def lessons(asked: argparse.Namespace) -> list[Lesson]:
    """One lesson per learner: spread evenly over the course, or in turn where learners are more than lessons."""
    numbers, count = _numbers(asked), asked.learners
    chosen = [lesson for lesson in LESSONS if not numbers or lesson.number in numbers]
    step = max(len(chosen) / count, 1)
    return [chosen[int(index * step) % len(chosen)] for index in range(count)]


async def hold(running: hub.Hub, asked: argparse.Namespace) -> Report:
    """The class itself, from the first log-in to the figures."""
    people = [learner.Learner(f"learner-{i:02}", lesson) for i, lesson in enumerate(lessons(asked), 1)]
    await running.ask("POST", "/hub/api/users", {"usernames": [each.name for each in people]})
    for each in people:
        learner.seat(running, each.name)
    with memory.Watch(running.process.pid) as watch:
        await _all_at_once(running, people, asked)
        watch.look()
        cpu = {each.name: memory.processor_seconds(running.process.pid, each.name) for each in people}
    ready = [each for each in people if not each.failures]
    killed = await kill(running, ready[0], asked.cell_limit) if ready else Killed(failure="no kernel to kill")
    return _report(people, watch, cpu, killed)


async def _all_at_once(running: hub.Hub, people: list[learner.Learner], asked: argparse.Namespace) -> None:
    """Everybody starts in the same moment; who is not done at the limit has failed, and says where."""
    works = [asyncio.create_task(each.work(running, asked.cell_limit)) for each in people]
    try:
        await asyncio.wait(works, timeout=asked.limit)
    finally:
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)


def _report(
    people: list[learner.Learner], watch: memory.Watch, cpu: dict[str, float], killed: Killed
) -> Report:
    failures = [f"{each.name}, {failure}" for each in people for failure in each.failures]
    packages = [f"{name} {version(name)}" for name in ("torch", "jupyterhub", "jupyterlab", "ipykernel")]
    return Report(
        seats=tuple(_seat(each, watch, cpu) for each in people),
        hub=watch.peak["", "hub"],
        together=watch.together,
        cores=os.cpu_count() or 1,
        cpu=sum(cpu.values()),
        killed=killed,
        failures=(*failures, *([killed.failure] if killed.failure else [])),
        versions=(f"Python {platform.python_version()}", *packages),
    )


def _seat(each: learner.Learner, watch: memory.Watch, cpu: dict[str, float]) -> Seat:
    server, kernel = (each.name, "server"), (each.name, "kernel")
    return Seat(
        name=each.name,
        notebook=each.lesson.stem,
        minutes=each.lesson.minutes,
        server_start=each.server_start,
        kernel_start=each.kernel_start,
        cells=each.cells,
        seconds=each.seconds,
        slowest=each.slowest,
        received=each.received,
        server=watch.peak[server],
        kernel=watch.peak[kernel],
        end=watch.now.get(server, memory.Memory()) + watch.now.get(kernel, memory.Memory()),
        start_cpu=each.start_cpu,
        cpu=cpu[each.name],
    )


def enough(learners: int) -> str:
    """'' or the sentence that says why so many learners are not begun on this machine."""
    free = psutil.virtual_memory().available
    fit = int(free // NEEDS)
    if learners <= fit:
        return ""
    need = f"{learners} learners need about {learners} GiB of memory"
    return f"{need}, and {free / NEEDS:.1f} are free: ask for {fit} at most."


def main() -> int:
    asked = arguments()
    if short := enough(asked.learners):
        print(short, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    print(f"A class of {asked.learners} on {os.cpu_count()} cores begins; it may take minutes.", flush=True)
    try:
        with hub.running(asked.threads) as running:
            report = asyncio.run(hold(running, asked))
            words = running.log() if report.failures else ""
    except hub.ClassError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped as asked; every process of the class is ended.", file=sys.stderr)
        return 130
    print(report)
    if words:
        print(f"\nThe hub's last words:\n{words}", file=sys.stderr)
    if asked.json:
        asked.json.write_text(json.dumps(report.json(), indent=1) + "\n", encoding="utf-8")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
