"""The hub's surroundings: what a run leaves behind, whose processes are whose, what a kernel answers."""

import os
import subprocess
import sys
from contextlib import ExitStack

import psutil
import pytest

from classroom import hub, memory
from classroom.kernel import Ran, _read
from classroom.learner import _first_line, code_cells

SLEEP = "import time; time.sleep(60)"
NEST = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEP!r}])"


def test_a_hub_that_does_not_start_says_its_last_words_and_leaves_nothing(monkeypatch, tmp_path):
    def start(folder, told):
        with hub._log(folder).open("wb") as log:
            left = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}]); sys.exit('no port')"
            environment = os.environ | {hub.MARK: told["token"]}
            return subprocess.Popen([sys.executable, "-c", left], stderr=log, env=environment)

    monkeypatch.setattr(hub, "_start", start)
    monkeypatch.setattr(hub.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(hub.ClassError, match=r"did not start[\s\S]*no port"), hub.running(1):
        pass
    assert list(tmp_path.iterdir()) == []
    assert not [process for process in psutil.process_iter() if SLEEP in _command(process)]


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_ports_are_free_and_differ():
    ports = hub._free_ports(20)
    assert len(set(ports)) == 20
    with ExitStack() as held:
        for port in ports:
            held.enter_context(hub.socket.socket()).bind(("127.0.0.1", port))


def test_processes_and_their_memory_by_learner():
    """This test stands for the hub; one child is a learner's server with a kernel, another one is the proxy."""
    with ExitStack() as ended:
        for who in ("ann", ""):
            environment = os.environ | ({"JUPYTERHUB_USER": who} if who else {})
            child = subprocess.Popen([sys.executable, "-c", NEST if who else SLEEP], env=environment)
            ended.callback(child.wait)
            ended.callback(
                lambda child=child: [p.kill() for p in [*psutil.Process(child.pid).children(), child]]
            )
        us = psutil.Process()
        _until(lambda: len(memory.parts(us).get(("ann", "kernel"), [])) == 1)
        found = memory.parts(us)
        assert found["ann", "kernel"][0].ppid() == found["ann", "server"][0].pid
        assert us in found["", "hub"] and ("", "server") not in found
        watch = memory.Watch(us.pid)
        watch.look()
        server = watch.peak["ann", "server"]
        assert 0 < server.own <= server.own + server.shared <= server.resident
        assert watch.together >= server.own + watch.now["", "hub"].own
        assert memory.processor_seconds(us.pid, "ann") > 0


def _until(true, seconds=20):
    deadline = hub.time.monotonic() + seconds
    while not true():
        assert hub.time.monotonic() < deadline
        hub.time.sleep(0.05)


def test_memory_adds_and_keeps_the_highest():
    one, other = memory.Memory(1, 5, 9), memory.Memory(2, 3, 4)
    assert one + other == memory.Memory(3, 8, 13)
    assert one.highest(other) == memory.Memory(2, 5, 9)


def test_what_a_kernel_says_about_a_cell():
    ran = Ran()
    assert _read("stream", {"name": "stderr", "text": "one "}, ran) == ""
    assert _read("stream", {"name": "stderr", "text": "two"}, ran) == ""
    assert _read("status", {"execution_state": "busy"}, ran) == ""
    assert _read("status", {"execution_state": "idle"}, ran) == "idle"
    assert _read("execute_reply", {"status": "ok"}, ran) == "reply"
    assert (ran.stderr, ran.stdout, ran.failed) == ("one two", "", "")
    _read("execute_reply", {"status": "error", "ename": "NameError", "evalue": "name 'tc'"}, ran)
    assert ran.failed == "NameError: name 'tc'"


def test_outputs_that_the_server_dropped_are_a_failure():
    ran = Ran()
    _read("stream", {"name": "stderr", "text": "IOPub data rate exceeded.\nThe Jupyter server will"}, ran)
    assert ran.failed == "the server dropped outputs (IOPub rate exceeded)"


def test_the_code_cells_of_a_notebook():
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": "# one", "metadata": {}},
            {"cell_type": "code", "source": ["x = 1\n", "y = 2"], "metadata": {}},
            {"cell_type": "code", "source": " \n", "metadata": {}},
            {"cell_type": "code", "source": "1 / 0", "metadata": {"tags": ["raises-exception"]}},
        ]
    }
    assert list(code_cells(notebook)) == [("x = 1\ny = 2", False), ("1 / 0", True)]
    assert _first_line("\n\n" + "a" * 70 + "\nb") == "a" * 60
