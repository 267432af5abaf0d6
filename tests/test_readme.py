"""What the README promises is there."""

import re
import tomllib
from pathlib import Path

import pytest

from torchcourse._course import LESSONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]


def test_owner_and_name_stand_in_one_place():
    repository = SOURCE.removeprefix("https://github.com/")
    named = re.findall(r"(?:github\.com|mybinder\.org/v2/gh)/([\w.-]+/[\w.-]+)", README)
    assert named and set(named) == {repository}


@pytest.mark.parametrize("target", sorted(set(re.findall(r'(?:\]\(|src="|srcset=")([^)"#:]+)[)"]', README))))
def test_every_link_and_picture_is_there(target):
    assert (ROOT / target).is_file()


def test_the_chapters_are_those_of_the_table():
    assert re.findall(r"\(notebooks/(\w+)\.ipynb\)", README) == [lesson.stem for lesson in LESSONS]
    for lesson in LESSONS:
        assert f"| {lesson.number} | [{lesson.title}](notebooks/{lesson.file}) | {lesson.puzzle} |" in README


def test_its_commands_are_those_of_run_py():
    script = (ROOT / "run.py").read_text(encoding="utf-8")
    commands = set(re.findall(r"run\.py ([a-z][a-z-]*)", README))
    assert {"lab", "test", "test-cuda", "write", "bench"} <= commands
    assert all(f'"{command}"' in script for command in commands)


def test_every_top_level_name_is_explained():
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    there = {
        path.name + "/" * path.is_dir()
        for path in ROOT.iterdir()
        if path.name + "/" * path.is_dir() not in ignored
    }
    plain = {".git/", ".gitignore", "README.md", "LICENSE", "LICENSE-CODE", "LICENSE-TEXT", "CHANGELOG.md"}
    assert all(name.rstrip("/") in README for name in there - plain), there


def test_every_picture_has_alt_text():
    assert README.count("<img ") == len(re.findall(r'<img [^>]*alt="[^"]{20,}"', README))


def test_the_tools_run_as_they_are_shown(tmp_path, monkeypatch, capsys):
    import torch

    (block,) = re.findall(r"```python\n(.*?)```", README, re.S)
    monkeypatch.chdir(tmp_path)
    model, x, y = torch.nn.Linear(4, 2), torch.randn(8, 4), torch.zeros(8, dtype=torch.long)
    optimizer, loss_fn = torch.optim.Adam(model.parameters()), torch.nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()

    names = {"model": model, "x": x, "y": y, "other": x[:1], "optimizer": optimizer, "loss_fn": loss_fn}
    # explain_errors speaks to IPython, and there is none here
    code = block.replace("tc.explain_errors()", "tc.explain_errors")
    exec(
        code, names | {"step": step, "error": ValueError("foreign")}
    )  # allowed: our own README is what is tested
    said = capsys.readouterr().out
    assert "It fits on a card of 8.0 GiB" in said and (tmp_path / "run.pt").exists()
