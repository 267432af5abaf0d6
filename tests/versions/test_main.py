"""Which environment is asked for, and that what ran once does not run again."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from torchcourse._releases import STORED

from . import __main__ as versions
from . import environments, results
from .environments import NotMade
from .results import Result
from .seen import Seen, store
from .verdict import TRUE, Verdict


@pytest.fixture
def asked(monkeypatch):
    """Records every command in the place of running it."""
    commands: list[list[str]] = []

    def record(command, **options):
        commands.append([str(word) for word in command])
        return subprocess.CompletedProcess(
            command, 0, "torch (2.15.0)\nAvailable versions: 2.15.0, 2.14.1", ""
        )

    monkeypatch.setattr(subprocess, "run", record)
    monkeypatch.setattr(subprocess, "call", lambda command, **options: record(command).returncode)
    monkeypatch.setattr(environments.run, "wants_cpu_wheels", lambda: True)
    return commands


def test_the_words_for_releases(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(versions, "NEWEST", tmp_path / "kept" / "newest.txt")
    found = [versions._version(word) for word in ("oldest", "stored", "newest", "nightly", "2.14.1")]
    assert found == ["2.9", STORED, "2.15.0", "nightly", "2.14.1"]
    assert versions.NEWEST.read_text(encoding="utf-8") == "2.15.0\n"
    with pytest.raises(NotMade, match="'last' is no release"):
        versions._version("last")


def test_torch_comes_first_and_the_course_last(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "BUILD", tmp_path)
    (tmp_path / "torch-2.9").mkdir()  # what venv would make
    python = environments.python_of("2.9")
    assert python.parents[1] == tmp_path / "torch-2.9" or sys.platform == "win32"
    made, torch, others, course = asked
    assert made[1:3] == ["-m", "venv"]
    assert "torch==2.9.*" in torch and environments.run.CPU_WHEELS in torch
    assert not [word for word in others if word.startswith("torch")] and any("nbclient" in w for w in others)
    assert "--no-deps" in course and "-e" in course
    environments.python_of("2.9")
    assert len(asked) == 4  # it is there
    monkeypatch.setattr(environments, "_others", lambda: ["a-new-one>=1"])
    environments.python_of("2.9")
    assert "a-new-one>=1" in asked[-2]  # what the tests need has grown since it was made


def test_the_nightly_build_has_an_index_of_its_own():
    assert environments.NIGHTLY in environments._torch("nightly")
    assert "torch==2.14.1" in environments._torch("2.14.1")


def test_pip_that_fails_says_what_it_could_not_do(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "BUILD", tmp_path)
    fails = subprocess.CompletedProcess([], 1, "", "no network")
    monkeypatch.setattr(subprocess, "run", lambda *words, **options: fails)
    with pytest.raises(NotMade, match=r"could not install torch==2\.9"):
        environments.python_of("2.9")
    with pytest.raises(NotMade, match="can't tell which torch is the newest"):
        environments.newest()


def test_what_ran_does_not_run_again(asked, tmp_path):
    notebook, file = versions.files.NOTEBOOKS / "index.ipynb", tmp_path / "index.json"
    store(file, Seen("2.9.1", "index", versions.mark(notebook), ()))
    assert versions._observe(sys.executable, notebook, file)
    assert asked == []
    store(file, Seen("2.9.1", "index", "of another source", ()))
    assert versions._observe(sys.executable, notebook, file)
    assert asked[0][1:3] == ["-m", "tests.versions.observe"]


def test_a_release_that_cannot_be_had_does_not_stop_the_others(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(versions.page, "PAGE", tmp_path / "claims.md")
    monkeypatch.setattr(versions.files, "ROOT", tmp_path)
    monkeypatch.setattr(versions, "_observe", lambda *words: True)
    monkeypatch.setattr(versions, "BUILD", tmp_path)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    here = results.release_of(version("torch"))
    store(tmp_path / here / "a.json", Seen(f"{here}.0", "a", "", ()))
    given = [
        "--env",
        f"{here}={sys.executable}",
        "--env",
        f"2.10={tmp_path}",
        "--env",
        f"2.8={sys.executable}",
    ]
    assert versions.main(["last", "2.10", "2.8", here, *given, "--no-tests"]) == 1
    said = capsys.readouterr().err
    assert (tmp_path / f"{here}.json").is_file() and "torch last did not run" in said
    assert f"torch 2.10 did not run: --env names {tmp_path}, and no Python is there" in said
    assert f"torch 2.8 did not run: --env names {sys.executable}, and there is torch {here}" in said


@pytest.mark.parametrize(
    ("code", "says", "ran"),
    [
        (0, "2 passed in 1s\n", True),
        (1, "1 failed in 1s\n", True),
        (2, "!!! Interrupted !!!\n", False),
        (3, "", False),
    ],
)
def test_unit_tests_that_fail_have_run(monkeypatch, tmp_path, capsys, code, says, ran):
    def call(command, *, stdout, **options):
        stdout.write(says)
        return code

    monkeypatch.setattr(subprocess, "call", call)
    assert versions._unit_tests(sys.executable, tmp_path / "tests.txt") is ran
    assert (says.strip("!\n ") or "exit code 3") in capsys.readouterr().out


def test_part_of_the_course_leaves_the_rest_of_the_result(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    first, *_ = sorted(versions.claims.rows())
    results.write(Result("2.9.1", {first: Verdict(TRUE)}), tmp_path)
    versions._keep(Result("2.9.1", {}))
    assert list(results.read(tmp_path / "2.9.json").claims) == [first]
