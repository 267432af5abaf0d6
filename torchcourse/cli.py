"""The command `torchcourse`."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

from . import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0: all is well, 1: a *must* of the doctor fails, 2: the call was wrong."""
    options = _parser().parse_args(arguments)
    # A GPU's name may hold signs that a Windows console can't show.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return doctor(options.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="torchcourse", description="Interactive notebooks on what PyTorch does underneath."
    )
    parser.add_argument("--version", action="version", version=f"torchcourse {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser(
        "doctor",
        help="tell what the course needs, what is here, and whether a GPU can be used",
        description="Print what the course must have and may have, and whether a GPU can be used. "
        "Exit status 1 when something that it must have is missing.",
    )
    command.add_argument("--json", action="store_true", help="print the same facts as JSON")
    return parser


def doctor(as_json: bool = False) -> int:
    """Look at this machine, print the report, and return 0 when every *must* is met, else 1."""
    from . import devices
    from .devices import doctor as rules
    from .devices import report as texts

    report = rules.examine(devices.read_machine())
    print(texts.as_json(report) if as_json else report)
    return 0 if report.healthy else 1


if __name__ == "__main__":
    sys.exit(main())
