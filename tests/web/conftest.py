"""One browser for the tests of the site."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser import chromium


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    program = chromium.find()
    if program is None:
        pytest.skip(chromium.MISSING)
    with chromium.running(program) as started:
        yield started
