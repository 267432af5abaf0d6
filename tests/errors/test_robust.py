"""Whatever is given: an answer, no exception, in bounded time and size."""

import random
import sys

import pytest
import torch

from torchcourse.errors import explain
from torchcourse.errors.parts import of_text

from .test_known import DATA

TEXTS = [message for case in DATA["cases"] for message in case["messages"]]
SIZES = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x400 and 256x120)"


@pytest.mark.parametrize("thing", [3, 2.5, torch.zeros(2), object(), RuntimeError, {}, [], (), [1, 2], print])
def test_what_is_no_error_gets_a_sentence(thing):
    seen = explain(thing)
    assert not seen.known and seen.kind is None
    assert f"this is a {type(thing).__name__}, which is no error" in seen.what


def test_the_last_error(monkeypatch):
    for name in ("last_value", "last_exc"):
        monkeypatch.delattr(sys, name, raising=False)
    assert "no error to explain" in explain().what
    monkeypatch.setattr(sys, "last_value", RuntimeError(SIZES), raising=False)
    assert explain().kind == "matmul-sizes"
    try:
        raise RuntimeError("CUDA error: invalid device ordinal")
    except RuntimeError:
        assert explain().kind == "invalid-device"
    assert explain().kind == "matmul-sizes"


def test_texts_in_many_forms():
    lines = ["Traceback (most recent call last):", '  File "a.py", line 1, in <module>', "    a @ b", SIZES]
    for form in ("\n".join(lines), lines, "\n".join(lines).encode(), f"<pre>{SIZES}</pre>", SIZES.upper()):
        assert explain(form).kind == "matmul-sizes", form
    assert explain(f"\x1b[31m{SIZES.replace(' ', chr(10))}\x1b[0m").kind == "matmul-sizes"
    assert explain(f"[rank0]: {SIZES}").kind == "matmul-sizes"
    assert explain(SIZES[:45]).kind == "matmul-sizes"
    assert explain("").known is explain("   \n").known is False


def test_a_chain_names_all_and_explains_the_one_of_pytorch():
    try:
        try:
            torch.zeros(2, 3) @ torch.zeros(2, 3)
        except RuntimeError as error:
            raise KeyError("my own") from error
    except KeyError as error:
        seen = explain(error)
    assert seen.kind == "matmul-sizes"
    assert any("my own" in other for other in seen.others)


def test_a_group_is_looked_through():
    group = ExceptionGroup("several", [ValueError("mine"), ExceptionGroup("inner", [RuntimeError(SIZES)])])
    seen = explain(group)
    assert seen.kind == "matmul-sizes" and "ValueError: mine" in seen.others


def test_a_chain_that_bites_its_tail():
    error = RuntimeError(SIZES)
    error.__cause__, error.__context__ = ValueError("a"), error
    error.__cause__.__cause__ = error
    assert explain(error).kind == "matmul-sizes"


def test_a_worker_error_is_the_inner_one():
    text = (
        "RuntimeError: Caught RuntimeError in DataLoader worker process 0.\n"
        "Original Traceback (most recent call last):\n"
        '  File "w.py", line 3, in f\n    g()\n'
        "RuntimeError: stack expects each tensor to be equal size, but got [1, 5] at entry 0 and [2, 5] at entry 1"
    )
    for form in (text, RuntimeError(text.partition(": ")[2])):
        seen = explain(form)
        assert seen.kind == "stack-sizes" and "[1, 5]" in seen.what
    assert explain(text.replace("stack expects each", "nobody knows")).kind == "worker-raised"


@pytest.mark.parametrize("raised", [ValueError, SystemExit, RecursionError, MemoryError])
def test_a_str_that_raises(raised):
    class Broken(RuntimeError):
        def __str__(self):
            raise raised

    assert not explain(Broken("x")).known
    assert explain(Broken(SIZES.partition(": ")[2])).kind == "matmul-sizes"


@pytest.mark.parametrize(
    "text",
    [
        *("x" * 10**7, "[" * 10**6, "RuntimeError: size\n" * 300_000, " " * 10**7, "<span " * 10**6),
        *("\x1b[" * 10**6, "(" * 10**6, '  File "' * 10**5, "expected dtype on device dimension " * 10**5),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_large_texts(text):
    seen = explain(text)
    assert len(str(seen)) < 20_000


def test_a_large_text_is_told_by_its_end():
    assert explain("noise\n" * 10**6 + SIZES).kind == "matmul-sizes"


def test_parts_of_a_printed_chain():
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nKeyError: 1\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "a.py", line 2, in f\n    y\nValueError: two\n'
    )
    assert [(part.type, part.message) for part in of_text(text)] == [("ValueError", "two"), ("KeyError", "1")]


@pytest.mark.parametrize("count", [1_500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_messages_raise_nothing(count):
    dice = random.Random(2026)
    for _ in range(count):
        text = mutated(dice.choice(TEXTS), dice)
        seen = explain(text)
        assert isinstance(str(seen), str) and (seen.kind is None) == (not seen.known), text


def mutated(text, dice):
    """Cut, doubled, coloured, in other case, in HTML, with odd signs, in a traceback, chained, without blanks."""
    ways = (
        lambda t: t[: dice.randrange(len(t) + 1)],
        lambda t: t[dice.randrange(len(t) + 1) :],
        lambda t: t * 2,
        lambda t: " ".join(f"\x1b[3{dice.randrange(8)}m{word}\x1b[0m" for word in t.split(" ")),
        lambda t: t.swapcase(),
        lambda t: f"<pre>{t.replace('<', '&lt;')}</pre><br>",
        lambda t: t.replace(" ", "".join(dice.choices("\0\n\r\t\x1b\u202e([{\\<&", k=3)), 3),
        lambda t: f'Traceback (most recent call last):\n  File "x.py", line 3, in f\n    y = g(x)\n{t}',
        lambda t: (
            f"{t}\nDuring handling of the above exception, another exception occurred:\n{dice.choice(TEXTS)}"
        ),
        lambda t: t.replace(" ", "", dice.randrange(9)),
    )
    for _ in range(dice.randrange(1, 4)):
        text = dice.choice(ways)(text)
    return text
