"""One list of packages: pyproject.toml holds it, conda's and Binder's files are held to it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
FILES = ["environment.yml", "binder/environment.yml"]
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base", "graphviz": "python-graphviz"}
CONDA_ONLY = {"python", "pip"}


def declared():
    """Name on conda-forge -> the range that pyproject.toml declares, for what a learner needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    needs = {CONDA_NAMES.get(need.name, need.name): need.specifier for need in map(Requirement, lines)}
    return {**needs, "python": SpecifierSet(project["requires-python"])}


def asked(file):
    """Name -> (range, build) as a conda environment file asks for it."""
    lines = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))["dependencies"]
    return {name: (bounds, build) for name, bounds, build in map(parse, lines)}


def parse(line):
    """`name>=1,<2`, `name=3.12` (which means 3.12.*) or `name 2.13.* build*`."""
    name, bounds, build = re.fullmatch(r"([\w-]+)\s*([^\s]*)\s*(\S*)", line).groups()
    if bounds[:1].isdigit():
        bounds = f"=={bounds}"
    if re.fullmatch(r"=\d[\d.]*", bounds):
        bounds = f"={bounds}.*"
    return name, SpecifierSet(bounds), build


def around(*ranges):
    """Versions at, just below and just above every bound of the ranges."""
    for specifier in (specifier for one in ranges for specifier in one):
        release = Version(specifier.version.removesuffix(".*")).release
        for position in range(len(release)):
            for step in (-1, 0, 1):
                if release[position] + step >= 0:
                    yield Version(".".join(map(str, [*release[:position], release[position] + step])))
        yield Version(".".join(map(str, [*release, 1])))


def outside(inner, outer):
    found = {version for version in around(inner, outer) if version in inner and version not in outer}
    return [str(version) for version in sorted(found)]


def test_the_comparison_of_ranges_can_fail():
    assert outside(SpecifierSet(">=2,<4"), SpecifierSet(">=2,<3")) == ["3", "3.1"]
    assert outside(SpecifierSet(">=1.9,<3"), SpecifierSet(">=2,<3"))
    assert outside(SpecifierSet("==2.13.*"), SpecifierSet(">=2.9,<2.15")) == []
    assert parse("python=3.12")[1] == SpecifierSet("==3.12.*")
    assert parse("pytorch 2.13.* cpu*") == ("pytorch", SpecifierSet("==2.13.*"), "cpu*")


@pytest.mark.parametrize("file", FILES)
def test_holds_the_same_packages_as_the_project(file):
    assert set(asked(file)) - CONDA_ONLY == set(declared()) - CONDA_ONLY
    assert set(asked(file)) >= CONDA_ONLY


@pytest.mark.parametrize("file", FILES)
def test_asks_for_nothing_that_the_project_does_not_support(file):
    compared = 0
    for name, supported in declared().items():
        bounds, _ = asked(file)[name]
        assert outside(bounds, supported) == [], name
        assert any(version in bounds for version in around(bounds, supported)), name
        compared += 1
    assert compared >= 9


@pytest.mark.parametrize("file", FILES)
def test_comes_from_conda_forge_alone_and_says_why_of_each_line(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert yaml.safe_load(text)["channels"] == ["conda-forge", "nodefaults"]
    lines = [line for line in text.partition("dependencies:")[2].splitlines() if line.strip()]
    assert len(lines) == len(asked(file))
    assert all(re.search(r"  # \w", line) for line in lines)


def test_binder_has_one_python_and_no_cuda():
    packages = asked("binder/environment.yml")
    assert packages["python"][0] == SpecifierSet("==3.12.*")
    assert packages["pytorch"][1].startswith("cpu")
    assert "python=3.12 " in (ROOT / "binder/environment.yml").read_text(encoding="utf-8")
    assert not (ROOT / "binder/environment.yml").is_symlink()


def test_run_py_asks_for_the_torch_that_conda_and_binder_ask_for():
    (default,) = re.findall(r'or "torch(==[\d.]+\*)"', (ROOT / "run.py").read_text(encoding="utf-8"))
    for file in FILES:
        assert outside(asked(file)["pytorch"][0], SpecifierSet(default)) == []
    assert outside(SpecifierSet(default), declared()["pytorch"]) == []


def test_run_py_knows_the_same_pythons_as_the_project():
    (line,) = re.findall(r"^PYTHONS = (.*)$", (ROOT / "run.py").read_text(encoding="utf-8"), re.M)
    known = re.findall(r"3\.\d+", line)
    supported = [f"3.{minor}" for minor in range(30) if f"3.{minor}.1" in declared()["python"]]
    assert known == supported


def test_post_build_hides_no_error():
    text = (ROOT / "binder/postBuild").read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash\n") and "set -euo pipefail" in text
    assert "pip install --no-cache-dir --no-deps ." in text
    assert "|| true" not in text and "/dev/null" not in text
    assert os.name == "nt" or os.access(ROOT / "binder/postBuild", os.X_OK)


def test_the_class_layout_is_one_that_jupyterlab_takes(tmp_path):
    """Imported as postBuild does it; both notebooks of it exist."""
    (workspace,) = re.findall(
        r"workspaces import (\S+)", (ROOT / "binder/postBuild").read_text(encoding="utf-8")
    )
    command = [sys.executable, "-m", "jupyter", "lab", "workspaces", "import", workspace]
    settings = {**os.environ, "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (saved,) = tmp_path.glob("*.jupyterlab-workspace")
    paths = re.findall(r'"path": ?"([^"]+)"', saved.read_text(encoding="utf-8"))
    assert len(paths) == 2 and all((ROOT / path).is_file() for path in paths)


def test_binder_finds_its_configuration():
    """repo2docker without Docker: it says what it detected and prints what it would build."""
    program = Path(sys.executable).with_name("jupyter-repo2docker")
    found = str(program) if program.exists() else shutil.which("jupyter-repo2docker")
    if not found:
        pytest.skip("jupyter-repo2docker is not here: the extra `test` installs it")
    command = [found, "--no-build", "--debug", str(ROOT)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-2000:]
    assert "Building conda environment for python=3.12" in said
    assert "src/binder/environment.yml" in said and "RUN ./binder/postBuild" in said
