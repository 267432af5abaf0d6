"""What `run.py lab` hands over to: the copy, and with which words JupyterLab starts."""

import sys

import pytest

from torchcourse import _lab


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Calls `main`; JupyterLab and the copy are written down instead of made."""
    seen = {"copied": None}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["_lab"])
    monkeypatch.setattr(
        _lab.runpy, "run_module", lambda name, run_name: seen.update(ran=(name, *sys.argv[1:]))
    )
    monkeypatch.setattr(_lab._work, "main", lambda words: seen.update(copied=words) or seen.get("code", 0))
    monkeypatch.setattr(_lab, "_as_root", lambda: [])

    def start(*words, code=0):
        seen["code"] = code
        return _lab.main(words), seen

    return start


def test_the_copy_is_brought_up_to_date_and_opened(started, tmp_path):
    code, seen = started("--no-browser")
    assert code == 0 and seen["copied"] == ["notebooks", "work"]
    url = "--LabApp.default_url=/lab/tree/index.ipynb"
    assert seen["ran"] == ("jupyterlab", f"--ServerApp.root_dir={tmp_path / 'work'}", url, "--no-browser")


def test_source_opens_the_originals_and_touches_no_copy(started, tmp_path):
    _, seen = started("--source")
    assert seen["copied"] is None and f"--ServerApp.root_dir={tmp_path / 'notebooks'}" in seen["ran"]


def test_reset_is_the_copys(started):
    assert started("--reset", "01")[1]["copied"] == ["notebooks", "work", "--reset", "01"]


def test_a_copy_that_fails_opens_nothing(started):
    code, seen = started(code=1)
    assert code == 1 and "ran" not in seen


def test_teach_takes_its_words_from_the_lessons_layout(started, monkeypatch):
    monkeypatch.setattr(
        _lab._teach, "opening", lambda root, chapter: [f"--LabApp.default_url=/lab/workspaces/{chapter}"]
    )
    assert started("--teach", "01")[1]["ran"][2] == "--LabApp.default_url=/lab/workspaces/01"


def test_a_chapter_that_is_not_there_opens_nothing(started, capfd):
    code, seen = started("--teach", "99")
    assert code == 1 and "ran" not in seen and "There is no chapter '99'" in capfd.readouterr().err


def test_two_wishes_at_once_are_a_wrong_call(started):
    with pytest.raises(SystemExit, match="2"):
        started("--source", "--reset", "01")


def test_root_is_said_to_be_meant(monkeypatch):
    monkeypatch.setattr(_lab.os, "geteuid", lambda: 0, raising=False)
    assert _lab._as_root() == ["--allow-root"]
    monkeypatch.setattr(_lab.os, "geteuid", lambda: 1000)
    assert _lab._as_root() == []


@pytest.mark.parametrize(
    ("slip", "meant"), [("--rest", "--reset"), ("--teatch=01", "--teach"), ("--whels", "--wheels")]
)
def test_a_slip_of_the_pen_opens_nothing_and_is_named(started, capsys, slip, meant):
    with pytest.raises(SystemExit) as stopped:
        started(slip, "01")
    told = capsys.readouterr().err
    assert stopped.value.code == 2 and f"there is no {slip}; did you mean {meant}?" in told


@pytest.mark.parametrize("word", ["--watch", "--browser=firefox", "--ServerApp.port=9999", "--no-browser"])
def test_jupyters_own_words_reach_it(started, word):
    assert started(word)[1]["ran"][-1] == word


@pytest.mark.parametrize("words", [["02b"], ["2b"], ["--no-browser", "02b"], ["02b_cuts_and_in_place.ipynb"]])
def test_a_chapter_named_is_the_page_that_opens(started, words):
    ran = started(*words)[1]["ran"]
    assert ran[2] == "--LabApp.default_url=/lab/tree/02b_cuts_and_in_place.ipynb"
    assert list(ran[3:]) == [word for word in words if word.startswith("-")]


def test_the_value_of_jupyters_option_is_no_chapter(started):
    assert started("--port", "10")[1]["ran"][2:] == (
        "--LabApp.default_url=/lab/tree/index.ipynb",
        "--port",
        "10",
    )


def test_a_word_that_is_neither_chapter_nor_file_opens_nothing(started, capsys):
    with pytest.raises(SystemExit):
        started("99")
    assert "there is no chapter and no file '99'. Chapters: 00, 01, 01b" in capsys.readouterr().err


def test_help_is_the_courses_own(started, capsys):
    with pytest.raises(SystemExit) as stopped:
        started("--help")
    told = capsys.readouterr().out
    assert stopped.value.code == 0 and "--teach NN" in told and "Other words go to JupyterLab" in told
