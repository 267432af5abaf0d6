"""What the lanes measured, as lines at the end of a run.

It travels with the tests' reports, since the tests may run in several processes.
"""

import pytest

from .compare import comparing

BUDGET, COMPARED = "budget", "nbval"


def write(terminalreporter: pytest.TerminalReporter) -> None:
    """Writes what was compared, and the budgets, where any of it ran."""
    if compared := _told(terminalreporter, COMPARED):
        same, cells = map(sum, zip(*compared, strict=True))
        terminalreporter.section("notebooks under nbval")
        terminalreporter.write_line(f"{comparing()[1]}: {same} of {cells} cells compared")
    if budgets := _told(terminalreporter, BUDGET):
        terminalreporter.section("budgets of the notebooks (one pass; peak of all passes)")
        for line in _table(sorted(budgets)):
            terminalreporter.write_line(line)


def _told(terminalreporter: pytest.TerminalReporter, what: str) -> list[list]:
    """What the tests recorded under this name, each of them once."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    calls = [report for report in reports if report.when == "call"]
    return [value for report in calls for name, value in report.user_properties if name == what]


def _table(budgets: list[list]) -> list[str]:
    width = max(len(stem) for stem, *_ in budgets)
    lines = [f"{'notebook':<{width}}  cells  runs  seconds  peak MB"]
    for stem, cells, runs, seconds, peak, mark in budgets:
        figures = f"{cells:>5}  {runs:>4}  {seconds:>7.1f}  {peak / 1e6:>7.0f}"
        lines.append(f"{stem:<{width}}  {figures}  {mark}".rstrip())
    return lines
