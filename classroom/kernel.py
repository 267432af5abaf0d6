"""One kernel behind the hub, spoken to as JupyterLab does: a session by REST, messages by websocket."""

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session
from jupyter_server.services.kernels.connection.base import deserialize_binary_message
from tornado.websocket import WebSocketClientConnection, websocket_connect

from .hub import ClassError, Hub

LARGEST = 2**28  # bytes of one message; the default of 10 MiB would end the connection
ASK_AGAIN = 10  # seconds


@dataclass
class Ran:
    """What one cell answered: its end, its seconds, its text on both streams, and why it failed, or ''."""

    seconds: float = 0.0
    stdout: str = ""
    stderr: str = ""
    failed: str = ""


@dataclass
class Kernel:
    """A notebook's running kernel: `run` executes code; `states` holds what the server said of it."""

    socket: WebSocketClientConnection
    session: Session
    states: list[str] = field(default_factory=list)  # "restarting", "dead": since it was last ready
    received: int = 0  # bytes

    async def run(self, code: str, limit: float) -> Ran:
        """Executes code and waits for reply and idle. A time-out or a dead kernel is an answer too."""
        ran, start = Ran(), time.monotonic()
        try:
            async with asyncio.timeout(limit):
                await self._exchange("execute_request", _execute(code), ran)
        except TimeoutError:
            ran.failed = f"it ran longer than {limit:g} s"
        except ClassError as error:
            ran.failed = str(error)
        ran.seconds = time.monotonic() - start
        return ran

    async def ready(self, limit: float) -> None:
        """Until the kernel answers who it is. Asked again, since the first idle of a new kernel can be missed."""
        self.states.clear()
        last = time.monotonic() + limit
        while time.monotonic() < last:
            with suppress(TimeoutError):
                async with asyncio.timeout(ASK_AGAIN):
                    return await self._exchange("kernel_info_request", {}, Ran())
        raise ClassError(f"a kernel did not answer within {limit:.0f} s")

    async def _exchange(self, kind: str, content: dict[str, Any], ran: Ran) -> None:
        """Sends one request and reads until both its reply and its idle are there."""
        message = self.session.msg(kind, content)
        frame = json.dumps(message | {"channel": "shell", "buffers": []}, default=json_default)
        await self.socket.write_message(frame)
        waiting = {"reply", "idle"}
        while waiting:
            kind, parent, answer = await self._next()
            if parent == message["header"]["msg_id"]:
                waiting.discard(_read(kind, answer, ran))
            elif self.states:
                raise ClassError(f"the kernel died (the server says: {self.states[-1]})")

    async def _next(self) -> tuple[str, str, dict[str, Any]]:
        """The next message: its type, its parent's id, its content."""
        frame = await self.socket.read_message()
        if frame is None:
            raise ClassError("the server closed the connection to the kernel")
        self.received += len(frame)
        message = json.loads(frame) if isinstance(frame, str) else deserialize_binary_message(frame)
        kind, said = message["header"]["msg_type"], message["content"]
        if kind == "status" and said["execution_state"] in ("restarting", "autorestarting", "dead"):
            self.states.append(said["execution_state"])
        return kind, message["parent_header"].get("msg_id", ""), said


async def connect(hub: Hub, user: str, file: str, name: str) -> Kernel:
    """A session for a notebook of this user, and the connection to its kernel. Waits until it is ready."""
    wanted = {"path": file, "name": file, "type": "notebook", "kernel": {"name": name}}
    made = await hub.ask("POST", f"/user/{user}/api/sessions", wanted)
    path = f"/user/{user}/api/kernels/{made['kernel']['id']}/channels?session_id={made['id']}"
    request = hub.request("GET", path)
    request.url = "ws" + request.url.removeprefix("http")
    socket = await websocket_connect(request, max_message_size=LARGEST)
    return Kernel(socket, Session(key=b"", username=user))


def _execute(code: str) -> dict[str, Any]:
    return {
        "code": code,
        "silent": False,
        "store_history": True,
        "user_expressions": {},
        "allow_stdin": False,
        "stop_on_error": True,
    }


def _read(kind: str, content: dict[str, Any], ran: Ran) -> str:
    """Notes what one message says about a cell; answers which of reply and idle it is, or ''."""
    if kind == "stream":
        setattr(ran, content["name"], getattr(ran, content["name"]) + content["text"])
        if "IOPub " in content["text"] and " rate exceeded" in content["text"]:
            ran.failed = "the server dropped outputs (IOPub rate exceeded)"
    elif kind == "status" and content["execution_state"] == "idle":
        return "idle"
    elif kind.endswith("_reply"):
        if content["status"] != "ok":
            ran.failed = (
                f"{content.get('ename', 'it was not run')}: {content.get('evalue', content['status'])}"
            )
        return "reply"
    return ""
