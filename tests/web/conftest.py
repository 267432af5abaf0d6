"""The browser of the browser lane serves the tests of the site, too; each of the two folders starts its own."""

from tests.browser.conftest import browser

__all__ = ["browser"]
