"""The page of claims: which rows it has, where it says what, and that the page in the repository is this one."""

import re
from pathlib import Path

import pytest
from packaging.version import Version

from tests.notebooks import claims, files
from tests.notebooks.examples import code, printed, store_cells
from torchcourse import _releases
from torchcourse._releases import STORED, Change

from . import __main__ as versions
from . import environments, observe, page, results, verdict
from .page import Claim
from .results import Result
from .verdict import FALSE, TRUE, Verdict

KNOWN = [
    Claim("A-1", "storage", "A view | shares its storage.", "01_storage.ipynb"),
    Claim("A-2", "autograd", "A leaf has no node.", "02_autograd.ipynb"),
    Claim("A-3", "autograd", "A new row.", ""),
]
OLD = Result(
    "2.9.1",
    {
        "A-1": Verdict(FALSE, "AssertionError: Nothing <was> raised."),
        "A-2": Verdict(TRUE, "", ("Exp",), ("ExpBackward0",)),
    },
    {"passed": 5, "failed": 1},
    ("tests/test_a.py::test_b",),
)
NEW = Result("2.13.0", {"A-1": Verdict(TRUE), "A-2": Verdict(TRUE)})


@pytest.fixture
def shown(monkeypatch):
    change = Change("<2.10", "Before 2.10 `view` did not ask.", ("A-1",), ())
    monkeypatch.setattr(page, "changes", lambda: (change,))
    return page.page(KNOWN, [OLD, NEW], "2.15.0")


def test_each_claim_has_a_row_to_link_to(shown):
    assert (
        '| <a id="A-1"></a>[A-1](../notebooks/01_storage.ipynb) | **false** | true | A view \\| shares its storage. |'
        in shown
    )
    assert (
        '| <a id="A-2"></a>[A-2](../notebooks/02_autograd.ipynb) | true | true | A leaf has no node. |'
        in shown
    )
    assert '| <a id="A-3"></a>A-3 | not run | not run | A new row. |' in shown


def test_the_summary_counts_every_claim(shown):
    assert "| 2.9.1 | 1 | 1 | 1 | 0 | 0 | 1 | 5 passed, 1 failed |" in shown
    assert "| 2.13.0 | 2 | 0 | 0 | 0 | 0 | 1 | did not run |" in shown
    assert "- `tests/test_a.py::test_b`" in shown


def test_a_newer_release_that_did_not_run_is_named(shown):
    assert "The newest release at the last look was 2.15.0. It has not run" in shown
    assert "last look" not in page.page(KNOWN, [NEW], "2.13.0")


def test_a_row_that_differs_says_what_changed(shown):
    row = next(line for line in shown.splitlines() if line.startswith('| <a href="#A-1">'))
    assert "| **false** | true | Before 2.10 `view` did not ask. torch 2.9: " in row
    assert "Nothing &lt;was> raised." in row
    assert '| <a href="#A-2">' not in shown  # it stands with the other words
    assert re.search(
        r'<summary>A-2 </summary>\n\n<a href="#A-2">A-2</a>:\n\n```diff\n- Exp\n\+ ExpBackward0\n```', shown
    )


def test_where_all_is_the_same_the_page_says_so():
    text = page.page(KNOWN[:2], [NEW])
    assert "No claim is false on any release that ran." in text
    assert "Every release that ran prints what is stored." in text


def test_the_page_is_what_the_kept_results_make():
    looked = versions.NEWEST.read_text(encoding="utf-8").strip() if versions.NEWEST.is_file() else ""
    made = page.page(page.known_claims(), results.read_all(), looked)
    assert page.PAGE.read_text(encoding="utf-8") == made, "run `python3 run.py versions --table`"


def test_the_page_holds_the_claims_and_the_supported_releases():
    text = page.PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r'<a id="([^"]+)">', text)) == set(claims.rows())
    there = [one.release for one in results.read_all()]
    assert environments.oldest() in there and STORED in there
    assert Version(there[-1]) > Version(STORED)  # something newer than the stored one has run


def test_every_release_that_is_kept_has_run_every_claim():
    for one in results.read_all():
        assert set(one.claims) == set(claims.rows()), (
            f"torch {one.torch}: run `python3 run.py versions {one.release}`"
        )


def test_on_the_stored_release_every_claim_is_true():
    (stored,) = [one for one in results.read_all() if one.release == STORED]
    assert {claim: one for claim, one in stored.claims.items() if one != Verdict(TRUE)} == {}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A notebook that ran: a true claim, a false one, a removed name and what follows, another error, other words."""
    cells = [
        code("first = 1\nassert first == 1", tags=("claim:T-1",)),
        code("assert first == 2", tags=("claim:F-1",)),
        code("import math\n\nfrom torch import long_gone as helper", tags=("claim:G-1",)),
        code("helper(1)", tags=("claim:G-2",)),
        code("first + 'one'", tags=("claim:E-1",)),
        code(
            "print('x is 1.0001 here')\nprint('same')", printed("x is 1.0 here\nsame\n"), tags=("claim:T-2",)
        ),
        code("print('new words')\nprint('same')", printed("old words\nsame\n"), tags=("claim:W-1",)),
        code("print('new time')", printed("old time\n"), tags=("claim:T-3", "measured")),
    ]
    return observe.observe(store_cells(tmp_path_factory.mktemp("course"), *cells))


def test_planted_changes_get_their_verdicts(small):
    found = verdict.verdicts(small)
    words = {claim: one.word for claim, one in found.items()}
    gone, error = verdict.GONE, verdict.ANOTHER
    assert words == {
        **{"T-1": TRUE, "F-1": FALSE, "G-1": gone, "G-2": gone, "E-1": error},
        **{"T-2": TRUE, "W-1": TRUE, "T-3": TRUE},
    }
    assert found["F-1"].shows == "AssertionError"
    assert (found["W-1"].stored, found["W-1"].here) == (("old words",), ("new words",))
    assert not found["T-2"].stored and not found["T-3"].stored


def test_a_cell_leaves_its_names(small):
    assert small.cells[2].makes == ("helper", "math")
    assert observe.bound("%%xray seen\nx = 1") <= {"x", "seen"}
    assert observe.bound("def f(a):\n    b = 1\nclass C: pass") >= {"f", "C"}
    assert observe.bound("not python at all") == set()


def test_marks_stand_for_cells_of_the_course():
    there = {one: set(ids) for path in files.find([]) for one, _, ids, _ in _marks(path)}
    for change in _releases.changes():
        missing = [one for one in change.cells if one not in there]
        assert not missing, (
            f"{change.claims}: no cell has the mark {missing}; `python -m tests.versions.marks` lists them"
        )
        shown = set().union(*(there[one] for one in change.cells))
        assert set(change.claims) <= shown


def _marks(path: Path):
    from .marks import marks

    return marks(path)
