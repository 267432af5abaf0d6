"""A JupyterHub of its own on loopback: made in a temporary folder, asked by its REST interface, ended whole."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse

HERE = Path(__file__).parent
MARK = "TORCHCOURSE_CLASS_RUN"  # in the environment of every process of a run
START_LIMIT = 180  # seconds for a hub, a server or a kernel to answer
AsyncHTTPClient.configure(None, max_clients=1000, defaults={"request_timeout": 120, "connect_timeout": 60})


class ClassError(Exception):
    """One sentence: what went wrong, and where the reason is."""


@dataclass(frozen=True)
class Hub:
    """A running hub: where it is, its token, its folder (the learners' homes are in it), its process."""

    url: str
    token: str
    folder: Path
    process: subprocess.Popen[bytes]

    async def ask(self, method: str, path: str, content: Any = None) -> Any:
        """One request to a path under the hub's address; the answer's JSON. Raises ClassError with a sentence."""
        answer = await AsyncHTTPClient().fetch(self.request(method, path, content), raise_error=False)
        if answer.code >= 400:
            raise ClassError(f"{method} {path} was answered {answer.code}: {_reason(answer)}")
        return json.loads(answer.body) if answer.body else None

    def request(self, method: str, path: str, content: Any = None) -> HTTPRequest:
        return HTTPRequest(
            self.url + path,
            method,
            headers={"Authorization": f"token {self.token}"},
            body=None if content is None else json.dumps(content),
            allow_nonstandard_methods=True,
        )

    def log(self) -> str:
        """The last lines that the hub, its proxy and its servers wrote."""
        return "\n".join(_log(self.folder).read_text(errors="replace").splitlines()[-15:])


@contextmanager
def running(threads: int) -> Iterator[Hub]:
    """A hub that answers. Afterwards no process and no file of it is left, whatever happened inside."""
    with tempfile.TemporaryDirectory(prefix="torchcourse-class-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        url, hub_url, proxy_url = (f"http://127.0.0.1:{port}" for port in _free_ports(3))
        told = {"url": url, "hub_url": hub_url, "proxy_url": proxy_url, "folder": str(folder)}
        told |= {word: secrets.token_hex(16) for word in ("token", "proxy_token")}
        process = _start(folder, told | {"threads": threads, "start_limit": START_LIMIT})
        try:
            hub = Hub(url, told["token"], folder, process)
            _wait(hub)
            yield hub
        finally:
            before = signal.signal(
                signal.SIGINT, signal.SIG_IGN
            )  # a second Ctrl-C leaves nothing behind either
            _end(process, told["token"])
            signal.signal(signal.SIGINT, before)


def _start(folder: Path, told: dict[str, Any]) -> subprocess.Popen[bytes]:
    config = HERE / "jupyterhub_config.py"
    with _log(folder).open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "--config", str(config)],
            cwd=folder,
            env=os.environ | {"TORCHCOURSE_CLASS": json.dumps(told), MARK: told["token"]},
            stdin=subprocess.PIPE,  # its end tells the hub that this process is gone
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for this process, which then ends the hub in order
        )


def _wait(hub: Hub) -> None:
    """Until the hub answers through its proxy."""
    direct = build_opener(ProxyHandler({}))  # a proxy of the environment has no business on loopback
    last = time.monotonic() + START_LIMIT
    while time.monotonic() < last and hub.process.poll() is None:
        try:
            with direct.open(f"{hub.url}/hub/api/", timeout=5):
                return
        except OSError:  # nobody listens yet, or the proxy does and the hub does not
            time.sleep(0.3)
    raise ClassError(f"JupyterHub did not start. Its last words:\n{hub.log()}")


def _end(process: subprocess.Popen[bytes], run: str) -> None:
    """The hub ends its servers, those end their kernels; what is left after 20 s is killed."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    left = [other for other in psutil.process_iter() if _belongs(other, run)]
    for other in left:
        with suppress(psutil.NoSuchProcess):
            other.kill()
    psutil.wait_procs(left, timeout=5)


def _belongs(process: psutil.Process, run: str) -> bool:
    """Whether this run started it. A mark in the environment finds it even after its parent is gone."""
    try:
        return process.environ().get(MARK) == run
    except (psutil.Error, OSError):
        return False


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has now. All are held at once, so that they differ."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _log(folder: Path) -> Path:
    return folder / "hub.log"


def _reason(answer: HTTPResponse) -> str:
    try:
        return str(json.loads(answer.body)["message"])
    except (ValueError, KeyError, TypeError):
        return answer.reason
