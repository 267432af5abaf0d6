"""Asking another program, with a limit in time and in length."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

LONGEST = 100_000  # characters that are looked at: the telling lines stand at the top


class Answer(NamedTuple):
    """What a program gave back: exit status and text (stdout, then stderr)."""

    status: int
    text: str


Run = Callable[[Sequence[str], float], Answer]  # the command, and the seconds that it may take


def run(command: Sequence[str], seconds: float) -> Answer:
    """Run a program and return what it said.

    Raises OSError when it can't be started and TimeoutError when it doesn't end in time.
    """
    # LC_ALL: error texts are recognised by their English words.
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "utf-8"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _give_up(process)
        raise TimeoutError(f"{command[0]} gave no answer in {seconds:.0f} s") from None
    return Answer(process.returncode, (out + b"\n" + err).decode("utf-8", "replace"))


def _give_up(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    # A program that hangs inside the driver can't be killed; waiting for its end would hang as well.
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=1)


def clean(text: str) -> str:
    """The first part of a text, without control characters (a terminal would obey them)."""
    return "".join(sign for sign in text[:LONGEST] if sign.isprintable() or sign == "\n")


def telling_line(text: str, at_most: int = 160) -> str:
    """The last line that says something: of a traceback, the exception's own."""
    lines = [line.strip() for line in clean(text).splitlines() if line.strip()]
    line = lines[-1] if lines else ""
    return line if len(line) <= at_most else line[: at_most - 1] + "…"
