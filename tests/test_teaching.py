import warnings

import pytest
import torch

from torchcourse import teaching
from torchcourse.teaching import predict, raises, warns


def test_raises_shows_the_type_and_the_telling_line(capsys):
    with raises(RuntimeError, match="view size") as caught:
        torch.arange(12).reshape(3, 4).t().view(12)
    assert isinstance(caught.value, RuntimeError)
    assert capsys.readouterr().out.startswith("RuntimeError: view size is not compatible")


def test_raises_shows_the_line_that_matches(capsys):
    with raises(ValueError, match="second"):
        raise ValueError("first line\nthe second line\nthird")
    assert capsys.readouterr().out == "ValueError: the second line\n"


def test_raises_without_a_message_shows_the_type(capsys):
    with raises(KeyboardInterrupt):
        raise KeyboardInterrupt
    assert capsys.readouterr().out == "KeyboardInterrupt\n"


def test_raises_fails_when_nothing_is_raised():
    with (
        pytest.raises(AssertionError, match=r"Nothing was raised\. Expected here: ValueError or KeyError"),
        raises(ValueError, KeyError),
    ):
        pass


def test_raises_fails_when_the_message_differs():
    with (
        pytest.raises(AssertionError, match="no match for 'view size'"),
        raises(RuntimeError, match="view size"),
    ):
        raise RuntimeError("out of memory")


def test_another_exception_passes_through():
    with pytest.raises(KeyError), raises(ValueError):
        raise KeyError("k")


def test_a_second_use_forgets_the_first():
    checked = raises(ValueError)
    with checked:
        raise ValueError("one")
    with pytest.raises(AssertionError), checked:
        pass
    assert checked.value is None


@pytest.mark.parametrize("given", [(), ("RuntimeError",), (int,), (RuntimeError, None)])
def test_raises_says_what_it_takes(given):
    with pytest.raises(TypeError, match="takes one or more BaseException classes"):
        raises(*given)


@pytest.mark.parametrize("pattern", ["(", b"bytes", 3])
def test_a_bad_pattern_gets_a_sentence(pattern):
    with pytest.raises(ValueError, match="is no regular expression"):
        raises(ValueError, match=pattern)


def test_an_exception_whose_message_raises_is_shown_all_the_same(capsys):
    class Odd(Exception):
        def __str__(self):
            raise ZeroDivisionError

    with raises(Odd):
        raise Odd
    assert capsys.readouterr().out == "Odd: (its message can't be read)\n"


def test_long_messages_are_cut(capsys):
    with raises(ValueError):
        raise ValueError("x" * 10_000)
    assert len(capsys.readouterr().out) < teaching.LONGEST_LINE + 30
    with pytest.raises(AssertionError) as told, raises(ValueError, match="y"):
        raise ValueError("x" * 10_000)
    assert len(str(told.value)) < teaching.LONGEST_LINE + 90


def test_warns_sees_a_warning_that_torch_gives_once_only(capsys):
    import numpy as np

    for _ in range(2):
        array = np.arange(3.0)
        array.flags.writeable = False
        with warns(UserWarning, match="not writable"):
            torch.from_numpy(array)
    assert capsys.readouterr().out.count("UserWarning: The given NumPy array is not writable") == 2


def test_warns_sees_the_warning_of_typed_storage_each_time(capsys):
    for _ in range(2):
        with warns(UserWarning, match="TypedStorage is deprecated"):
            torch.arange(3).storage()
    assert not torch.storage._get_always_warn_typed_storage_removal()


def test_warns_leaves_filters_and_torch_as_they_were():
    before = list(warnings.filters), torch.is_warn_always_enabled()
    with warns(UserWarning):
        warnings.warn("here", UserWarning, stacklevel=1)
    with pytest.raises(ZeroDivisionError), warns(UserWarning):
        1 / 0
    assert (list(warnings.filters), torch.is_warn_always_enabled()) == before


def test_warns_fails_without_the_warning():
    with pytest.raises(AssertionError, match="No such warning was given"), warns(UserWarning, match="other"):
        warnings.warn("this", UserWarning, stacklevel=1)


def test_warns_sees_a_warning_without_a_text(capsys):
    with warns(UserWarning):
        warnings.warn("", UserWarning, stacklevel=1)
    assert capsys.readouterr().out == "UserWarning\n"


def test_one_warns_around_another_block_of_its_own():
    before = warnings.showwarning, torch.is_warn_always_enabled()
    checked = warns(UserWarning)
    with checked:
        with checked:
            warnings.warn("inside", UserWarning, stacklevel=1)
        warnings.warn("outside", UserWarning, stacklevel=1)
    assert (warnings.showwarning, torch.is_warn_always_enabled()) == before
    assert str(checked.value) == "outside"


def ask(**changes):
    settings = {
        "question": "How many of `x`'s numbers move?",
        "options": ["all", "none", 12],
        "answer": lambda: "none",
        "because": "`.t()` writes metadata only.",
    }
    return predict(**(settings | changes))


def test_the_answer_is_folded_away_and_the_text_asks_only():
    shown = ask()
    html = shown._repr_html_()
    before_first_fold = html[: html.index("<details")]
    assert "machine" not in before_first_fold and "open" not in html.split("<details")[1].split(">")[0]
    assert html.count("<details") == 3 and html.count("✓ Right") == 1 and html.count("✕ No") == 2
    assert str(shown) == "Predict: How many of `x`'s numbers move?\n  ( ) all\n  ( ) none\n  ( ) 12"
    assert "<code>x</code>" in html


def test_each_fold_shows_the_machines_answer_and_the_reason():
    for fold in ask()._repr_html_().split("<details")[1:]:
        assert "The machine says: <b>none</b>" in fold and "<code>.t()</code> writes metadata only." in fold


def test_a_wrong_option_can_have_a_reason_of_its_own():
    shown = ask(because={"none": "right reason", "all": "you thought of a copy"})
    assert shown.reason("all") == "you thought of a copy"
    assert shown.reason("12") == shown.reason("none") == "right reason"


def test_html_is_escaped():
    html = ask(question="<script>alert(1)</script>", options=["<b>", "none"])._repr_html_()
    assert "<script>" not in html and "&lt;b&gt;" in html


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"answer": lambda: "half"}, ValueError, "the machine answered 'half', which is none of the options"),
        ({"answer": "none"}, TypeError, "answer is a callable"),
        ({"options": ["none"]}, ValueError, "two or more different options"),
        ({"options": ["none", "none"]}, ValueError, "two or more different options"),
        ({"options": ["none", " none"]}, ValueError, "two or more different options"),
        ({"options": ["none", ""]}, ValueError, "two or more different options"),
        ({"options": "none"}, TypeError, "options is a list"),
        ({"options": 3}, TypeError, "options is a list"),
        ({"options": {"all", "none"}}, TypeError, "options is a list"),
        ({"question": None}, TypeError, "the question is a text"),
        ({"because": None}, TypeError, "because is a text"),
        ({"because": {"none": 3}}, TypeError, "because is a text"),
        ({"because": {"all": "…"}}, ValueError, "no reason for the machine's answer"),
    ],
)
def test_bad_calls_get_a_sentence(changes, error, sentence):
    with pytest.raises(error, match=sentence):
        ask(**changes)
