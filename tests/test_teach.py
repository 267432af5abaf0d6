"""A lesson and its notes side by side: what is laid down, for which chapter, and what stays as it was."""

import json
import shutil
from pathlib import Path

import pytest
from jupyterlab_server.workspaces_handler import WorkspacesManager

from torchcourse import _course, _teach
from torchcourse._teach import TeachError, find, opening, prepare

ROOT = Path(__file__).parents[1]
LESSON = _course.lesson("01b_views_and_reshape")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A copy of one lesson and its notes, and a reader with settings of their own."""
    own = tmp_path / "own"
    monkeypatch.setenv("JUPYTERLAB_SETTINGS_DIR", str(own))
    for name, text in (("docmanager", '{"a": 1}'), ("themes", '{"theme": "JupyterLab Dark"}')):
        file = own / "@jupyterlab" / "apputils-extension" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    root = tmp_path / "Kurs für März"
    (root / "notes").mkdir(parents=True)
    for name in (LESSON.file, LESSON.notes):
        shutil.copy(ROOT / "notebooks" / name, root / name)
    return root


@pytest.mark.parametrize(
    ("asked", "stem"),
    [
        ("01", "01_storage_and_strides"),
        ("1", "01_storage_and_strides"),
        ("1b", "01b_views_and_reshape"),
        ("01b_views_and_reshape", "01b_views_and_reshape"),
        ("01b_views_and_reshape.ipynb", "01b_views_and_reshape"),
        ("12", "12_bug_hunt"),
        ("0", "00_start_here"),
    ],
)
def test_a_lesson_is_found(asked, stem):
    assert find(asked).stem == stem


@pytest.mark.parametrize("asked", ["", "99", "1x", "../01"])
def test_an_unknown_lesson_gets_a_sentence(asked):
    with pytest.raises(TeachError, match=r"no chapter '.*' to teach\. There are: 00, 01, 01b"):
        find(asked)


def test_lesson_and_notes_stand_side_by_side(work):
    words = dict(word.split("=", 1) for word in prepare(work, LESSON))
    assert words["--LabApp.default_url"] == "/lab/workspaces/teach-01b"
    data = WorkspacesManager(words["--LabApp.workspaces_dir"]).load("teach-01b")["data"]
    dock = data["layout-restorer:data"]["main"]["dock"]
    names = [name for area in dock["children"] for name in area["widgets"]]
    opened = [(data[name]["data"]["path"], data[name]["data"]["factory"]) for name in names]
    assert opened == [(LESSON.file, "Notebook"), (LESSON.notes, "Markdown Preview")]
    assert dock["orientation"] == "horizontal" and all((work / path).is_file() for path, _ in opened)


def test_the_settings_are_the_readers_but_for_the_letters(work):
    words = dict(word.split("=", 1) for word in prepare(work, LESSON))
    folder = Path(words["--LabApp.user_settings_dir"]) / "@jupyterlab" / "apputils-extension"
    assert (folder / "docmanager.jupyterlab-settings").read_text() == '{"a": 1}'
    themes = json.loads((folder / "themes.jupyterlab-settings").read_text())
    assert themes["overrides"] == _teach.LETTERS and "theme" not in themes


def test_what_the_reader_has_stays_and_the_layout_starts_anew(work):
    def state():
        files = sorted(path for path in work.parent.rglob("*") if path.is_file())
        return {path: path.read_bytes() for path in files if _teach.PLACE not in path.parts}

    before = state()
    prepare(work, LESSON)
    left = work / _teach.PLACE / "workspaces" / "mess.jupyterlab-workspace"
    left.write_text("{}")
    prepare(work, LESSON)
    assert state() == before and not left.exists()


def test_it_is_three_arguments(work):
    words = opening(work, "01b")
    assert len(words) == 3 and all(word.startswith("--LabApp.") for word in words)


@pytest.mark.parametrize(
    ("asked", "words"), [("99", "no chapter '99'"), ("02", "has no 02_autograd.ipynb and")]
)
def test_it_says_why_not(work, asked, words):
    with pytest.raises(TeachError, match=words):
        opening(work, asked)
    assert not (work / _teach.PLACE).exists()


def test_a_folder_that_takes_no_layout_is_named(work, monkeypatch):
    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(_teach, "prepare", full)
    with pytest.raises(TeachError, match=r"could not be written to .*: No space left on device\."):
        opening(work, "01b")
