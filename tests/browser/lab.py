"""A JupyterLab server of its own: on loopback, with a token, away from the user's settings and files."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

START_LIMIT = 120  # seconds; 8 to 14 on two quiet cores
STOP_LIMIT = 20
_direct = build_opener(ProxyHandler({}))  # a proxy of the environment has no business on loopback


class LabError(Exception):
    """One sentence on what the server didn't do, and the end of its log."""


@dataclass(frozen=True)
class Lab:
    """A running server: `root` is the folder that it shows."""

    root: Path
    address: str
    token: str

    def url(self, notebook: str) -> str:
        """The address that opens a notebook (a path below `root`) in a JupyterLab without a past."""
        return f"{self.address}/lab/tree/{quote(notebook)}?token={self.token}&reset"

    def ask(self, method: str, path: str) -> bytes:
        headers = {"Authorization": f"token {self.token}"}
        request = Request(f"{self.address}/{path}", method=method, headers=headers)
        with _direct.open(request, timeout=STOP_LIMIT) as answer:
            return answer.read()

    def end_kernel(self, notebook: str) -> None:
        """Ends the kernel of a notebook, so that at most a few are in memory at a time."""
        for session in json.loads(self.ask("GET", "api/sessions")):
            if session["path"] == notebook:
                self.ask("DELETE", f"api/sessions/{session['id']}")


@contextmanager
def running(root: Path, state: Path) -> Iterator[Lab]:
    """Starts the JupyterLab of this Python on the folder `root`; its own files go to the folder `state`."""
    token = secrets.token_hex(16)
    log = state / "lab.log"
    _settings(state)
    with log.open("wb") as out:
        process = subprocess.Popen(
            _command(root, token), env=_environment(state), stdout=out, stderr=out, stdin=subprocess.DEVNULL
        )
    try:
        lab = Lab(root, _address(process, state / "runtime", log), token)
        yield lab
        lab.ask("POST", "api/shutdown")  # the one way out that ends the kernels on every system
        process.wait(STOP_LIMIT)
    finally:
        process.kill()
        process.wait(STOP_LIMIT)


def _settings(state: Path) -> None:
    """Each page would have Node look whether JupyterLab needs a build, for a second or two of a core."""
    folder = state / "config" / "labconfig"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "page_config.json").write_text(json.dumps({"buildCheck": False}), encoding="utf-8")


def _command(root: Path, token: str) -> list[str]:
    options = {
        "ServerApp.root_dir": root,
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": 0,  # the system picks a free one
        "ServerApp.open_browser": False,
        "ServerApp.allow_root": True,  # containers and CI run as root
        "IdentityProvider.token": token,
        "LabApp.expose_app_in_browser": True,  # the page's own "idle" comes before the kernel does
    }
    return [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]


def _environment(state: Path) -> dict[str, str]:
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    return os.environ | {name: str(state / folder) for name, folder in own.items()}


def _address(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Where the server listens, from the file that it writes when it does."""
    end = time.monotonic() + START_LIMIT
    while time.monotonic() < end and process.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            try:
                return f"http://127.0.0.1:{json.loads(file.read_text())['port']}"
            except ValueError:  # half written
                pass
        time.sleep(0.2)
    ended = process.poll()
    said = (
        f"did not listen within {START_LIMIT} s" if ended is None else f"ended at once (exit status {ended})"
    )
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
    raise LabError(f"JupyterLab {said}. The end of its log:\n{tail}")
