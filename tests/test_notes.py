"""The instructor's notes: each stands in one form, and speaks of the notebook that there is."""

import re
import shutil
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import mistune
import pytest

from tests.notebooks import files
from tests.notebooks.page import page_of
from torchcourse import _course, _work

STEMS = [lesson.stem for lesson in _course.LESSONS]
SECTIONS = ["Before the class", "The hour, section by section", "Where they get stuck", "After the class"]
COLUMNS = ["Section", "Minutes", "Ask", "Expect the wrong answer", "If short of time"]
_parse = mistune.create_markdown(renderer="ast", plugins=["table"])


@dataclass
class Notes:
    """What a note holds: headings (level, text), rows of its tables, points of its lists per section."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    points: dict[str, int] = field(default_factory=dict)


def said(token):
    """The text of a parsed piece, without its marks."""
    return token.get("raw", "") or "".join(map(said, token.get("children", [])))


def read(text):
    notes = Notes()
    for token in _parse(text):
        if token["type"] == "heading":
            notes.headings.append((token["attrs"]["level"], said(token)))
        elif token["type"] == "list":
            notes.points[notes.headings[-1][1]] = len(token["children"])
        elif token["type"] == "table":
            head, body = token["children"]
            notes.rows += [[said(cell) for cell in row["children"]] for row in (head, *body["children"])]
    return notes


def wrong(stem, text):
    """Sentences on what is wrong with a note; none for one in the form."""
    lesson, notes, lines = _course.lesson(stem), read(text), text.splitlines()
    title = f"Notes for {lesson.number} · {lesson.title}"
    if notes.headings[:1] != [(1, title)]:
        yield f"it begins with {lines[:1]}, not with `# {title}`"
    if not re.match(rf"\*{lesson.minutes} minutes\. \S.*\*$", "\n".join(lines[1:3]).strip()):
        yield f"under the title stands no `*{lesson.minutes} minutes. …*`"
    if [text for level, text in notes.headings[1:] if level == 2] != SECTIONS or len(notes.headings) != 5:
        yield f"its sections are {notes.headings[1:]}, not {SECTIONS}"
    if not 3 <= notes.points.get(SECTIONS[2], 0) <= 5:
        yield f"it has {notes.points.get(SECTIONS[2], 0)} points where they get stuck; 3 to 5 are wanted"
    yield from wrong_plan(notes.rows, lesson.minutes, sections_of(stem))


def wrong_plan(rows, minutes, sections):
    if rows[:1] != [COLUMNS]:
        yield f"its table has the columns {rows[:1]}, not {COLUMNS}"
        return
    if (planned := [row[0] for row in rows[1:]]) != sections:
        yield f"its table speaks of {planned}; the notebook's sections are {sections}"
    if not all(row[1].isdecimal() for row in rows[1:]):
        yield "a section's minutes are no number"
    elif (total := sum(int(row[1]) for row in rows[1:])) != minutes:
        yield f"its minutes sum to {total}, and the lesson has {minutes}"
    if empty := [row[0] for row in rows[1:] if not all(cell.strip() for cell in row)]:
        yield f"a cell is empty for {empty}"


def sections_of(stem):
    headings = page_of(files.read(files.NOTEBOOKS / f"{stem}.ipynb")).headings
    return [text for level, text in headings if level == 2]


def note(stem):
    return (files.NOTEBOOKS / _course.lesson(stem).notes).read_text(encoding="utf-8")


@pytest.mark.parametrize("stem", STEMS)
def test_a_note_has_its_form_and_speaks_of_its_notebook(stem):
    assert not (faults := list(wrong(stem, note(stem)))), "\n".join(faults)


def test_there_are_no_other_notes():
    assert sorted(path.stem for path in Path(files.NOTEBOOKS, "notes").iterdir()) == sorted(STEMS)


def test_the_index_links_each_note_once():
    index = page_of(files.read(files.NOTEBOOKS / "index.ipynb"))
    assert [link for link in index.links if link.startswith("notes/")] == [
        lesson.notes for lesson in _course.LESSONS
    ]


@pytest.mark.parametrize(
    ("change", "to", "words"),
    [
        ("# Notes for 01 · ", "# Notes on 01 · ", "it begins with"),
        ("*45 minutes. ", "*44 minutes. ", "`*45 minutes. …*`"),
        ("## After the class", "## Later", "its sections are"),
        ("- ", "", "0 points where they get stuck"),
        ("| Quiz | 3 |", "| Quiz | 4 |", "its minutes sum to 46"),
        ("| Quiz | 3 |", "| Quiz | some |", "no number"),
        ("| Quiz | 3 |", "| A quiz | 3 |", "the notebook's sections are"),
        ("| Section |", "| Part |", "its table has the columns"),
    ],
)
def test_what_is_out_of_form_is_told(change, to, words):
    text = note("01_storage_and_strides")
    assert change in text
    told = list(wrong("01_storage_and_strides", text.replace(change, to)))
    assert any(words in fault for fault in told), told


def test_the_learners_copy_has_the_notes_and_keeps_what_is_written_into_them(tmp_path):
    source, work, day = tmp_path / "notebooks", tmp_path / "work", date(2026, 11, 30)
    name = _course.lesson("01_storage_and_strides").notes
    shutil.copytree(files.NOTEBOOKS / "notes", source / "notes")
    assert len(_work.refresh(source, work, day).written) == len(STEMS)
    assert (work / name).read_bytes() == (source / name).read_bytes()

    mine = (work / name).read_text(encoding="utf-8") + "\nMy class asked for row 3.\n"
    (work / name).write_text(mine, encoding="utf-8")
    for path in (source / "notes").iterdir():
        path.write_text(path.read_text(encoding="utf-8") + "\nNew.\n", encoding="utf-8")
    done = _work.refresh(source, work, day)
    beside = f"{Path(name).stem}.new-{day}.md"
    assert done.beside == ((name, beside),) and len(done.written) == len(STEMS) - 1
    assert (work / name).read_text(encoding="utf-8") == mine
    assert (work / "notes" / beside).read_text(encoding="utf-8").endswith("New.\n")
