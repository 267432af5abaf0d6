"""One lesson for a class: the notebook with its notes beside it, in letters that carry to the last row.

`python run.py lab --teach 01` asks `opening` with what Jupyter is to be started. Layout and settings lie in a
folder of their own, made anew each time, so that a learner's own layout and settings stay what they are.
"""

import json
import shutil
from pathlib import Path

from torchcourse._course import NUMBERS, Lesson, called

# Code, text and menus, in pixels; JupyterLab's own are 13, 14 and 13. The views follow the text.
LETTERS = {"code-font-size": "20px", "content-font-size1": "22px", "ui-font-size1": "16px"}
THEMES = Path("@jupyterlab", "apputils-extension", "themes.jupyterlab-settings")
SETTINGS = {  # the theme follows the system, and its dark one is the one of high contrast
    "adaptive-theme": True,
    "preferred-dark-theme": "JupyterLab Dark High Contrast",
    "overrides": LETTERS,
}
PARTS = (0.6, 0.4)  # of the window, for the lesson and its notes
# The notes are for the one who stands beside the screen: with the class's letters their table would not fit.
NOTES = Path("@jupyterlab", "markdownviewer-extension", "plugin.jupyterlab-settings")
NOTES_SETTINGS = {"fontSize": 14}

PLACE = ".teach"  # in the learner's copy


class TeachError(Exception):
    """One sentence for the instructor: what could not be opened, and what to do."""


def find(asked: str) -> Lesson:
    """The lesson called so; `TeachError` names those there are."""
    if lesson := called(asked):
        return lesson
    raise TeachError(f"There is no chapter {asked!r} to teach. There are: {NUMBERS}.")


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
                "left": shut,  # one that has a `current` would open
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
        shutil.copytree(get_user_settings_dir(), place / "settings", ignore_dangling_symlinks=True)
    for file, settings in ((THEMES, SETTINGS), (NOTES, NOTES_SETTINGS)):
        path = place / "settings" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings, indent=2), encoding="utf-8")
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
        raise TeachError(f"The layout could not be written to {root / PLACE}: {error}.") from None
