"""A folder of wheels: what is asked of pip, and when a folder does not fit. No network: pip is a stub, but for
one test, in which a real pip finds wheels of a few bytes in a folder."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from torchcourse import _wheels
from torchcourse._wheels import HERE, MANIFEST, Room, WheelsError, misfit, requirements, this_platform

ROOT = Path(__file__).parents[1]
TORCH = "torch==2.13.*"
ROOM = Room(HERE, this_platform(), TORCH)
OTHER = Room("3.12" if HERE != "3.12" else "3.13", "windows-x86_64", TORCH)


@pytest.fixture
def pip(monkeypatch):
    """pip's calls, written down; each is answered from `answers`, else with 0."""
    calls, answers = [], []
    monkeypatch.setattr(
        _wheels.subprocess, "call", lambda words: calls.append(words) or (answers.pop(0) if answers else 0)
    )
    calls_and_answers = type("Pip", (), {"calls": calls, "answers": answers})
    return calls_and_answers


def test_it_runs_with_python_alone():
    """Before anything is installed: `-S` hides every installed package."""
    words = [sys.executable, "-S", "-m", "torchcourse._wheels", "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "--platform" in done.stdout, done.stderr


def test_what_is_asked_for_is_what_lab_installs():
    names = requirements(TORCH)
    assert names[0] == TORCH and {"editables", "pip"} <= set(names)
    for name in ("anywidget", "pygraphviz", "jupyterlab", "hatchling"):
        assert any(one.startswith(name) for one in names), name
    assert not any(one.startswith(("pytest", "torchcourse")) for one in names)


def test_outside_of_a_checkout_a_sentence(tmp_path):
    with pytest.raises(WheelsError, match="from a checkout"):
        requirements(TORCH, tmp_path / "pyproject.toml")


def test_filled_for_this_machine(pip, tmp_path):
    folder = tmp_path / "für März"
    _wheels.fill(folder, ROOM)
    (call,) = pip.calls
    assert call[1:4] == ["-m", "pip", "download"] and "--only-binary=:all:" in call
    assert call[call.index("--find-links") + 1] == folder.as_uri() and "--platform" not in call
    assert misfit(folder, TORCH) == ""


def test_torch_alone_from_its_own_index_and_a_failure_goes_on(pip, tmp_path):
    pip.answers.append(1)
    _wheels.fill(tmp_path, ROOM, "https://wheels.example/cpu/")
    alone, rest = pip.calls
    assert alone[-4:] == ["--no-deps", "--index-url", "https://wheels.example/cpu/", TORCH]
    assert "--index-url" not in rest and TORCH in rest


def test_a_failure_leaves_no_manifest_of_before(pip, tmp_path):
    _wheels.fill(tmp_path, ROOM)
    pip.answers.append(1)
    with pytest.raises(WheelsError, match="exit code is 1"):
        _wheels.fill(tmp_path, ROOM)
    assert "no whole set" in misfit(tmp_path, TORCH)


def test_filled_for_another_machine(pip, tmp_path):
    _wheels.fill(tmp_path, OTHER)
    (call,) = pip.calls
    assert call[call.index("--python-version") + 1] == OTHER.python and "win_amd64" in call
    assert json.loads(call[3])["sys_platform"] == "win32"
    told = misfit(tmp_path, TORCH)
    assert f"Python {OTHER.python}" in told and f"Python {HERE}" in told and "\n" not in told


@pytest.mark.parametrize(
    ("room", "words"),
    [
        (Room(HERE, "windows-arm", TORCH), "--platform"),
        (Room(HERE, this_platform(), "torch==2.9.*"), "TORCHCOURSE_TORCH"),
    ],
)
def test_a_folder_that_does_not_fit(tmp_path, room, words):
    (tmp_path / MANIFEST).write_text(json.dumps(room.__dict__ | {"wheels": []}))
    assert words in misfit(tmp_path, TORCH)


def test_a_folder_that_was_copied_in_part(pip, tmp_path):
    for name in ("a-1-py3-none-any.whl", "b-1-py3-none-any.whl"):
        (tmp_path / name).touch()
    _wheels.fill(tmp_path, Room(HERE, this_platform(), TORCH))
    assert misfit(tmp_path, TORCH) == ""
    (tmp_path / "b-1-py3-none-any.whl").unlink()
    assert "lacks 1 of its wheels, first b-1-py3" in misfit(tmp_path, TORCH)


def test_a_file_is_no_folder(pip, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert _wheels.main([str(tmp_path / "file")]) == 1
    assert "Name another folder" in capsys.readouterr().err


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"python": "3.12", "more": 1}'])
def test_a_broken_manifest_is_none(tmp_path, text):
    if text is not None:
        (tmp_path / MANIFEST).write_text(text)
    assert "no whole set of wheels" in misfit(tmp_path, TORCH)


def test_without_pip_and_ensurepip_the_debian_package_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(_wheels.importlib.util, "find_spec", lambda name: None)
    assert _wheels.main([str(tmp_path)]) == 1
    assert f"apt install python{HERE}-venv" in capsys.readouterr().err


def test_the_command_checks(pip, tmp_path, capsys):
    assert _wheels.main(["--check", "--torch", TORCH, str(tmp_path)]) == 1
    assert "no whole set" in capsys.readouterr().err
    assert _wheels.main(["--torch", TORCH, str(tmp_path)]) == 0
    assert "0 wheels" in capsys.readouterr().out
    assert _wheels.main(["--check", "--torch", TORCH, str(tmp_path)]) == 0


def wheel(folder, name, *needs):
    """The smallest wheel that pip takes."""
    info = f"{name}-1.0.dist-info"
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        "Version: 1.0",
        *(f"Requires-Dist: {one}" for one in needs),
    ]
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        file.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


def test_a_real_pip_asks_the_other_systems_markers(tmp_path, monkeypatch):
    """What only Windows needs is fetched for Windows, and what only this system needs is not."""
    shop, folder = tmp_path / "shop", tmp_path / "folder"
    shop.mkdir()
    platform, python = (
        ("linux-x86_64", "3.11") if sys.platform == "win32" else ("windows-x86_64", OTHER.python)
    )
    for name in ("theirs", "ours"):
        wheel(shop, name)
    wheel(
        shop,
        "torch",
        *(
            f"{name}; sys_platform {sign} '{sys.platform}'"
            for name, sign in (("theirs", "!="), ("ours", "=="))
        ),
    )
    monkeypatch.setattr(_wheels, "requirements", lambda torch: [torch])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", shop.as_uri())
    _wheels.fill(folder, Room(python, platform, "torch==1.0"))
    assert {path.name.partition("-")[0] for path in folder.glob("*.whl")} == {"torch", "theirs"}
