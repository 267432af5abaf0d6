"""What the builder refuses, in a sentence, and the small parts of it."""

import nbformat
import pytest

from tests.notebooks.files import NotebookError
from web import __main__ as command
from web import build as builder
from web.extension import mathml
from web.pages import relinked
from web.views import collect

PAGES = {"notebooks/a.ipynb": "a.ipynb", "notebooks/notes/a.md": "notes/a.md", "CHANGELOG.md": "changelog.md"}


@pytest.mark.parametrize(
    ("source", "link", "becomes"),
    [
        ("notebooks/a.ipynb", "a.ipynb#Top", "a.ipynb#Top"),
        ("notebooks/notes/a.md", "../a.ipynb", "../a.ipynb"),
        ("CHANGELOG.md", "notebooks/a.ipynb", "a.ipynb"),
        ("notebooks/a.ipynb", "../run.py", "https://github.com/torchcourse/torchcourse/blob/HEAD/run.py"),
        ("notebooks/a.ipynb", "no_such_file", "no_such_file"),
        ("notebooks/a.ipynb", "https://pytorch.org/a.ipynb", "https://pytorch.org/a.ipynb"),
        ("notebooks/a.ipynb", "#Top", "#Top"),
        ("notebooks/a.ipynb", "../../elsewhere", "../../elsewhere"),
    ],
)
def test_links_lead_to_pages_or_to_the_repository(source, link, becomes):
    assert relinked(f"see [it]({link}).", source, PAGES) == f"see [it]({becomes})."


def test_formulas_become_mathml():
    drawn = mathml(r"\texttt{storage\_offset} + \sum_i x_i", as_block=True)
    assert '<mtext class="tc-code">storage_offset</mtext>' in drawn and "<munder>" in drawn


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(builder.SiteError, match=r"no build put there \(thesis.txt\)"):
        builder.build([], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_what_was_laid_into_a_site_afterwards_is_not_deleted(tmp_path):
    (tmp_path / ".git").mkdir()
    for name in ("index.html", ".git/HEAD"):
        (tmp_path / name).write_text("")
    (tmp_path / builder.FILES).write_text("index.html")
    with pytest.raises(builder.SiteError, match=r"no build put there \(.git/HEAD\)"):
        builder.build([], tmp_path)
    assert (tmp_path / ".git/HEAD").exists() and (tmp_path / "index.html").exists()


@pytest.mark.parametrize("below", ["", "/site"])
def test_a_file_in_the_place_of_the_folder_is_a_sentence(monkeypatch, capsys, tmp_path, below):
    (tmp_path / "taken").touch()
    monkeypatch.setattr("sys.argv", ["web", "--only", "index", "--out", f"{tmp_path}/taken{below}"])
    assert command.main() == 1
    assert "The site was not built. " in capsys.readouterr().err


def test_sphinx_complaints_are_the_answer(tmp_path):
    source = tmp_path / "source"
    builder.write_front(source / "_static", [])
    (source / "index.md").write_text("# A page\n\n[nowhere](nowhere.md)\n\n$\\nosuch$\n")
    with pytest.raises(builder.SiteError, match="faults") as caught:
        builder.run_sphinx(tmp_path, [])
    assert "index.md:3" in str(caught.value) and "nosuch" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_a_cell_that_fails_is_named(tmp_path):
    picture = nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>", "text/plain": "a picture"})
    cells = [nbformat.v4.new_code_cell("1 / 0", outputs=[picture])]
    notebook = nbformat.v4.new_notebook(cells=cells)
    with pytest.raises(NotebookError, match=r"faulty\.ipynb, cell 1 \(`1 / 0`\) raised ZeroDivisionError"):
        collect(notebook, tmp_path / "faulty.ipynb")


def test_an_unknown_notebook_gives_a_sentence(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.argv", ["web", "--only", "no_such", "--out", str(tmp_path)])
    assert command.main() == 1
    assert "The site was not built. There is no notebook 'no_such'" in capsys.readouterr().err
