"""The glossary's table holds together, its page says what it says, and every link leads to its word."""

import ast
import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from tests.notebooks import files
from tests.notebooks.page import page_of
from torchcourse import _glossary
from torchcourse._glossary import Term, anchor, terms

ROOT = Path(__file__).parents[1]
NOTEBOOKS, PACKAGE = ROOT / "notebooks", ROOT / "torchcourse"
NAMES = [term.name for term in terms()]
SENTENCE = re.compile(r"[.:;)?]$")
# What a renderer of Markdown, a browser and Jupyter leave as it is in the part of a link behind #.
PLAIN = re.compile(r"[A-Za-z0-9_.,:;?!'-]+")


@cache
def sections(stem: str) -> tuple[tuple[int, str, str], ...]:
    """(level, heading, all that stands below it up to the next heading) of a notebook, outputs' text included."""
    found = [(0, "", [])]
    for cell in files.read(NOTEBOOKS / f"{stem}.ipynb").cells:
        fenced = False
        for line in cell.source.splitlines():
            fenced ^= line.startswith("```")
            heading = re.match(r"(#+) (.+)", line) if cell.cell_type == "markdown" and not fenced else None
            if heading:
                found.append((len(heading[1]), heading[2].replace("`", ""), []))
            found[-1][2].append(line)
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            found[-1][2].append(text if isinstance(text, str) else "".join(text))
    return tuple((level, heading, re.sub(r"[*`]", "", "\n".join(lines))) for level, heading, lines in found)


def anchors(stem: str) -> set[str]:
    return {anchor(heading) for _, heading, _ in sections(stem) if heading}


def below(stem: str, heading: str) -> str:
    """The text of a section, with that of the sections inside of it."""
    all_of = sections(stem)
    start = next(k for k, (_, name, _) in enumerate(all_of) if name == heading)
    inner = []
    for level, _, text in all_of[start + 1 :]:
        if level <= all_of[start][0]:
            break
        inner.append(text)
    return "\n".join([all_of[start][2], *inner])


def said(spelling: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(spelling)}(?!\w)", text, re.IGNORECASE) is not None


def test_the_table_is_sorted_and_no_word_has_two_meanings():
    assert sorted(NAMES, key=str.casefold) == NAMES
    spellings = [spelling for term in terms() for spelling in term.spellings]
    assert len(set(spellings)) == len(spellings)


def test_the_table_is_read_as_it_stands():
    """No empty field that must not be, no stray space, no row with a comma too many."""
    for line in _glossary.TABLE.read_text(encoding="utf-8").splitlines():
        assert line == line.strip() and "  " not in line
    assert all(None not in (term.name, term.meaning, term.notebook, term.heading) for term in terms())


@pytest.mark.parametrize("term", terms(), ids=NAMES)
def test_a_term_is_explained_where_its_link_leads(term: Term):
    assert PLAIN.fullmatch(anchor(term.heading)), "an ordinary heading, so that the link works everywhere"
    assert anchor(term.heading) in anchors(term.notebook)
    text = below(term.notebook, term.heading)
    assert any(said(spelling, text) for spelling in term.spellings), f"none of {term.spellings} stands there"


def test_a_meaning_is_a_sentence_or_two_that_fit_a_card():
    for term in terms():
        assert 30 <= len(term.meaning) <= 215, term.name
        assert term.meaning[0].isupper() and SENTENCE.search(term.meaning), term.name
        assert term.meaning.count("`") % 2 == 0, term.name
        assert set(term.views) <= set(STORIES), term.name
        assert set(term.see) <= set(NAMES) - {term.name} and len(set(term.see)) == len(term.see), term.name


def test_the_page_is_the_table():
    stored = (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8")
    assert stored == _glossary.page(), "run `python -m torchcourse._glossary notebooks/glossary.md`"


def test_the_page_has_one_anchor_for_each_term_and_no_link_into_the_void():
    shown = page_of(new_notebook(cells=[new_markdown_cell(_glossary.page())]))
    headings = [text for _, text in shown.headings]
    assert [text for level, text in shown.headings if level == 3] == NAMES
    assert len(set(map(str.casefold, headings))) == len(headings)
    for file, _, name in (unquote(link).partition("#") for link in shown.links):
        there = anchors(Path(file).stem) if name and file else shown.anchors
        assert (NOTEBOOKS / file).exists() and (not name or name in there), f"{file}#{name}"


def test_the_index_leads_to_the_page():
    assert "(glossary.md)" in "".join(text for _, _, text in sections("index"))


# --- in the views -----------------------------------------------------------------------------------------

# Each view's own words come from these, beside what its scripts say.
STORIES = {
    "explore": ["storage"],
    "xray": ["graphs/xray", "layers"],
    "step_backward": [
        "graphs/_backward_words.py",
        "graphs/backward.py",
        "graphs/_backward_story.py",
        "autograd",
    ],
    "timeline": ["graphs/timeline", "memory"],
    "tree": ["graphs/modules.py", "graphs/modules_picture.py", "modules"],
    "ways": ["graphs/ways.py", "graphs/ways_picture.py", "export"],
    "playground": ["graphs/decay.py", "optimizers/decay.py"],
    "queue": ["graphs/queue.py", "graphs/queue_story.py", "devices/queue"],
}


def spoken_in(view: str) -> str:
    """What the code behind a view can say: the texts in its Python but for docstrings, and its scripts."""
    paths = [PACKAGE / name for name in STORIES[view]]
    sources = [file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])]
    scripts = [file.read_text(encoding="utf-8") for file in (PACKAGE / "widgets").glob(f"{view}*.js")]
    return "\n".join(
        [*map(texts_of, sources), *(re.sub(r"(?<!:)//.*|/\*.*?\*/", "", text) for text in scripts)]
    )


def texts_of(source: Path) -> str:
    """All string literals of a module that are no docstring."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    no_text = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in no_text)
    return "\n".join(str(node.value) for node in texts)


@pytest.mark.parametrize("view", sorted(STORIES))
def test_a_view_says_the_words_that_it_explains(view: str):
    known = [term for term in terms() if view in term.views]
    assert 4 <= len(known) <= 24
    text = spoken_in(view)
    for term in known:
        assert any(said(spelling, text) for spelling in term.spellings), term.name


def test_a_view_s_script_carries_its_own_words_only():
    from torchcourse.widgets._card import script

    first, *rest = script("player", "queue").splitlines()
    known = json.loads(first.removeprefix("const WORDS = ").removesuffix(";"))
    assert [spellings[0] for spellings, _, _ in known] == [t.name for t in terms() if "queue" in t.views]
    assert "const WORDS" not in "\n".join(rest)
    assert script().startswith("const WORDS = [];")


def test_the_words_can_stand_in_a_script_of_a_page(monkeypatch: pytest.MonkeyPatch):
    odd = Term("odd", ("</script>",), '<b>`x` & "y"</b>.', "04_cuda_memory", "The puzzle", (), ("queue",))
    monkeypatch.setattr(_glossary, "terms", lambda: (odd,))
    assert "<" not in _glossary.words("queue")
    assert json.loads(_glossary.words("queue")) == [[["odd", "</script>"], odd.meaning, "04 CUDA memory"]]
