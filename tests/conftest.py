"""Options of the whole test suite. The lanes' own fixtures stand beside them."""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("torchcourse")
    group.addoption("--cuda", action="store_true", help="only nbval, on the CUDA kernel")
    group.addoption("--slow", action="store_true", help="only the tests that take minutes")
    group.addoption("--notebooks", type=Path, metavar="FOLDER", help="notebooks of another folder")
    group.addoption("--alloc-real", metavar="FOLDER", help="allocator traces recorded on real GPUs")
    group.addoption("--claims", type=Path, metavar="FILE", help="claims of another file")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test runs in its own lane: the slow ones with --slow, all others without."""
    slow = config.getoption("--slow")
    chosen = [item for item in items if bool(item.get_closest_marker("slow")) == slow]
    if len(chosen) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen
