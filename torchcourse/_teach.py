"""One lesson for a class: the notebook with its notes beside it, in letters that carry to the last row.

`python run.py lab --teach 01` asks `opening` with what Jupyter is to be started. Layout and settings lie in a
folder of their own, made anew each time, so that a learner's own layout and settings stay what they are.
"""

import json
import shutil
from pathlib import Path

from torchcourse._course import LESSONS, Lesson

# Code, text and menus, in pixels; JupyterLab's own are 13, 14 and 13. The views follow the text.
LETTERS = {"code-font-size": "20px", "content-font-size1": "22px", "ui-font-size1": "16px"}
THEMES = Path("@jupyterlab", "apputils-extension", "themes.jupyterlab-settings")
SETTINGS = {  # the theme follows the system, and its dark one is the one of high contrast
    "adaptive-theme": True,
    "preferred-dark-theme": "JupyterLab Dark High Contrast",
    "overrides": LETTERS,
}
PARTS = (0.66, 0.34)  # of the window, for the lesson and its notes


PLACE = ".teach"  # in the learner's copy


class TeachError(Exception):
    """One sentence for the instructor: what could not be opened, and what to do."""


def find(asked: str) -> Lesson:
    """The lesson called by its number ("01", "1", "01b"), stem or file; `TeachError` names those there are."""
    number = asked if asked[1:2].isdigit() else f"0{asked}"
    for lesson in LESSONS:
        if asked in (lesson.stem, lesson.file) or number == lesson.number:
            return lesson
    there = ", ".join(lesson.number for lesson in LESSONS)
    raise TeachError(f"There is no chapter {asked!r} to teach. There are: {there}.")


def workspace(lesson: Lesson) -> dict[str, object]:
    """JupyterLab's layout of one lesson: the notebook to the left, its notes as a preview to the right."""
    notebook, notes = f"notebook:{lesson.file}", f"markdownviewer-widget:{lesson.notes}"
    areas = [{"type": "tab-area", "currentIndex": 0, "widgets": [name]} for name in (notebook, notes)]
    dock = {"type": "split-area", "orientation": "horizontal", "sizes": PARTS, "children": areas}
    shut = {"collapsed": True, "visible": True, "widgets": []}
    return {
        "data": {
            "layout-restorer:data": {
                "main": {"dock": dock, "current": notebook},
                "left": {**shut, "current": "filebrowser", "widgets": ["filebrowser"]},
                "right": shut,
            },
            notebook: {"data": {"path": lesson.file, "factory": "Notebook"}},
            notes: {"data": {"path": lesson.notes, "factory": "Markdown Preview"}},
        },
        "metadata": {"id": name_of(lesson)},
    }


def name_of(lesson: Lesson) -> str:
    return f"teach-{lesson.number}"


def prepare(root: Path, lesson: Lesson) -> list[str]:
    """Lays layout and settings into `root`, the folder of the notebooks; returns arguments for JupyterLab.

    Raises `TeachError` where the lesson or its notes are not there, `OSError` where nothing can be written.
    """
    from jupyterlab.commands import get_user_settings_dir  # type: ignore[import-untyped]
    from jupyterlab_server.workspaces_handler import WorkspacesManager

    if missing := [name for name in (lesson.file, lesson.notes) if not (root / name).is_file()]:
        raise TeachError(f"{root} has no {' and no '.join(missing)}: is this the course's folder?")
    place = root.resolve() / PLACE
    shutil.rmtree(place, ignore_errors=True)
    if Path(get_user_settings_dir()).is_dir():  # shortcuts, language: all but what is said here
        shutil.copytree(get_user_settings_dir(), place / "settings")
    themes = place / "settings" / THEMES
    themes.parent.mkdir(parents=True, exist_ok=True)
    themes.write_text(json.dumps(SETTINGS, indent=2), encoding="utf-8")
    WorkspacesManager(str(place / "workspaces")).save(name_of(lesson), json.dumps(workspace(lesson)))
    return [
        f"--LabApp.user_settings_dir={place / 'settings'}",
        f"--LabApp.workspaces_dir={place / 'workspaces'}",
        f"--LabApp.default_url=/lab/workspaces/{name_of(lesson)}",
    ]


def opening(root: Path, chapter: str) -> list[str]:
    """JupyterLab's arguments for this chapter ("01") of the copy in `root`; `TeachError` says why there are none."""
    try:
        return prepare(root, find(chapter))
    except OSError as error:
        raise TeachError(f"The layout could not be written ({error}). Make {root} writable.") from None
