"""Reading the torch that is installed, sound, broken and missing."""

import json
import sys
from dataclasses import asdict
from importlib.metadata import version
from types import ModuleType

import pytest
import torch

from torchcourse.devices import GPU, Build
from torchcourse.devices.build import build_from_json, read_build, this_build
from torchcourse.devices.running import Answer, run

SOUND = Build(
    "2.13.0+cu130", "13.0", None, ("sm_90",), True, (GPU("L4", 2**34, (8, 9)),), True, "", False, ""
)


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (Build(), "missing"),
        (Build("2.13.0+cpu"), "cpu"),
        (SOUND, "cuda 13.0"),
        (Build("2.13.0+rocm6.4", hip="6.4.1"), "rocm 6.4.1"),
        (Build("2.13.0+xpu"), "xpu"),
    ],
)
def test_names_of_builds(build, name):
    assert build.name == name


def test_json_there_and_back():
    assert build_from_json(json.dumps(asdict(SOUND))) == SOUND
    assert build_from_json("{}") == Build()


def test_this_torch():
    build = this_build()
    assert build.version == torch.__version__
    assert build.cuda == torch.version.cuda
    assert build.available == torch.cuda.is_available()
    assert build.error == ""


def test_another_python_says_the_same():
    assert read_build(run) == this_build()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(0, "{}"), ""),
        (Answer(0, '{"version": 5}'), "could not say"),
        (Answer(0, '{"colour": "green"}'), "could not say"),
        (Answer(0, '{"gpus": [{}]}'), "could not say"),
        (Answer(0, '{"gpus": 3}'), "could not say"),
        (Answer(0, "{broken"), "could not say"),
        (Answer(0, ""), "exit status 0"),
        (Answer(-4, ""), "this processor is too old"),
        (Answer(-11, "Fatal Python error: Segmentation fault"), "Segmentation fault"),
        (Answer(3221225477, ""), "exit status 3221225477"),
    ],
)
def test_whatever_the_other_python_says(answer, words):
    error = read_build(lambda command, seconds: answer).error
    assert words in error
    assert bool(error) is bool(words)


@pytest.mark.parametrize("error", [TimeoutError("late"), OSError("no python")])
def test_a_python_that_does_not_answer(error):
    def raising(command, seconds):
        raise error

    assert read_build(raising).error


def test_a_broken_import_becomes_its_telling_line(monkeypatch):
    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == "torch":
                raise OSError("first line\nlibtorch.so: undefined symbol")

    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    build = this_build()
    # What is installed, from its metadata: PyPI's wheel says "2.14.1" there, and "2.14.1+cu130" when imported.
    assert build.version == version("torch")
    assert build.error == "libtorch.so: undefined symbol"


def test_a_file_called_torch_is_recognised(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    assert "rename it" in this_build().error


def test_a_torch_that_warns_and_one_that_can_not_compute(monkeypatch):
    def warn():
        import warnings

        warnings.warn("CUDA initialization: too old", stacklevel=2)
        return True

    really = torch.cuda.is_available()  # a CUDA build without a GPU says no
    monkeypatch.setattr(torch.cuda, "is_available", warn)
    build = this_build()
    assert build.available
    assert build.computes is really
    assert build.said  # without a GPU: torch's own complaint
