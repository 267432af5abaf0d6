"""The browser: which one, and started so that nothing of it reaches out."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = (
    f"no Chromium found: install one ({', '.join(NAMES[:3])}), or name its program in TORCHCOURSE_CHROMIUM"
)

# A browser has errands of its own: updates, lists of bad sites, experiments, spelling.
_QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-pings",
    # What a page asks of another machine fails at once, instead of waiting for an answer or for a proxy.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=127.0.0.1;localhost",
)


class ChromiumError(Exception):
    """One sentence on why there is no browser where there has to be one."""


def find(environ: Mapping[str, str] = os.environ) -> str | None:
    """The program to start: the one named in the environment, else the first on the PATH.

    None where there is none; ChromiumError where that is a fault: a named program that isn't there,
    or a CI machine (`CI=true`), whose set-up has to bring one.
    """
    named = environ.get("TORCHCOURSE_CHROMIUM")
    if named:
        if not shutil.which(named):
            raise ChromiumError(f"TORCHCOURSE_CHROMIUM names {named!r}, and there is no such program.")
        return named
    path = environ.get("PATH", "")
    found = next((program for name in NAMES if (program := shutil.which(name, path=path))), None)
    if found is None and environ.get("CI") == "true":
        raise ChromiumError(f"CI=true, and {MISSING}.")
    return found


@contextmanager
def running(program: str) -> Iterator[Browser]:
    # The sandbox needs a user who is not root.
    as_root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_QUIET, *as_root])
        try:
            yield browser
        finally:
            browser.close()
