import pytest

from torchcourse.exercises import LONGEST, STATES, Verdict, almost, check, not_yet, rebuild, right, wrong


@check
def doubles(answer):
    """double(n): 2 · n."""
    if answer(2) != 4:
        yield wrong("2 gives 4.")
    yield right("yes.")


def test_a_right_answer_is_green_and_a_wrong_one_is_told():
    assert doubles(lambda n: 2 * n).state == "right"
    assert str(doubles(lambda n: n)) == "✕ wrong: 2 gives 4."


@pytest.mark.parametrize("answer", [None, 4, "2*n", ...])
def test_what_is_no_function_is_told_so(answer):
    assert doubles(answer).state == "not yet" and "function itself" in doubles(answer).why


def test_the_stub_is_told_that_it_is_one():
    assert doubles(lambda n: ...).state == "not yet" and "still returns `...`" in doubles(lambda n: ...).why


def test_an_answer_that_raises_never_raises_in_the_notebook():
    class Odd(Exception):
        def __str__(self):
            raise ValueError

    def raises_odd(n):
        raise Odd

    verdict = doubles(lambda n: n[0])
    assert (
        verdict.state == "wrong"
        and "TypeError: 'int' object is not subscriptable (called with 2)" in verdict.why
    )
    assert "Odd: (its message can't be read)" in doubles(raises_odd).why
    assert doubles(lambda: 4).state == "wrong"


class Faulty:
    def __ne__(self, other):
        raise ZeroDivisionError("no comparison")


def test_a_result_that_cannot_be_compared_is_told_so():
    verdict = doubles(lambda n: Faulty())
    assert verdict.state == "wrong" and "can't be compared with PyTorch's: no comparison" in verdict.why


def test_a_reason_stays_short():
    @check
    def quotes(answer):
        yield wrong("x" * 10**6)

    assert len(quotes(lambda: 1).why) < LONGEST + 10


def test_rebuilt_code_that_raises_is_told_and_where():
    def broken():
        return 1 / 0

    verdict = rebuild(lambda part: right(part()))(broken)
    assert verdict.state == "wrong" and "ZeroDivisionError: division by zero (in broken, line" in verdict.why


def test_a_verdict_is_told_by_more_than_colour_and_is_escaped():
    html = almost("<b>x</b>")._repr_html_()
    assert "◐ almost" in html and "<b>x</b>" not in html
    assert len({glyph for glyph, _ in STATES.values()}) == 4
    assert repr(not_yet("why")) == "… not yet: why"
    assert Verdict("right", "a") == right("a")
