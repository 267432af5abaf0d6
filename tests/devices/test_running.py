"""Asking another program: its words, its limits."""

import sys

import pytest

from torchcourse.devices.running import clean, run, telling_line


def python(code, seconds=60.0):
    return run([sys.executable, "-c", code], seconds)


def test_both_streams_and_the_status_come_back():
    answer = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert answer.status == 3
    assert answer.text.split() == ["out", "err"]


def test_bytes_that_are_no_text_are_taken():
    assert "�" in python("import sys; sys.stdout.buffer.write(bytes(range(256)))").text


def test_nothing_waits_for_a_program_that_does_not_end():
    with pytest.raises(TimeoutError, match=r"gave no answer in 0 s"):
        python("import time; time.sleep(600)", seconds=0.2)


def test_nothing_waits_for_the_keyboard():
    assert python("import sys; print(repr(sys.stdin.read()))").text.strip() == "''"


def test_a_program_that_is_missing():
    with pytest.raises(FileNotFoundError):
        run(["torchcourse-no-such-program"], 1)


def test_clean_keeps_lines_and_drops_what_a_terminal_obeys():
    assert clean("a\x1b[31m\tb\r\nc\x00") == "a[31mb\nc"
    assert len(clean("x" * 10_000_000)) == 100_000


def test_the_telling_line_is_the_last_that_says_something():
    assert telling_line("Traceback:\n  File\nOSError: no such file\n\n  \n") == "OSError: no such file"
    assert telling_line("") == ""
    assert telling_line("x" * 500, 10) == "x" * 9 + "…"
