"""Musts and mays: what the doctor demands, and what it only mentions."""

import json
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings

from torchcourse.devices import Build, Machine, Part, read_machine
from torchcourse.devices import machine as reading
from torchcourse.devices.doctor import course_needs, examine, in_range
from torchcourse.devices.report import as_json, render

from .machines import CASES, recorded_run
from .test_diagnosis import machines

NEEDS = {
    "python": ">=3.11,<3.14",
    "torch": ">=2.9,<2.15",
    "jupyterlab": ">=4.4,<5",
    "ipykernel": ">=7.1,<8",
    "ipywidgets": ">=8.1,<9",
    "anywidget": ">=0.9.18,<0.12",
}
WELL = Machine(
    build=Build("2.13.0+cpu"),
    python="3.12.4",
    parts=(
        Part("torchcourse", "0.1.0"),
        Part("jupyterlab", "4.6.6"),
        Part("ipykernel", "7.4.0"),
        Part("ipywidgets", "8.1.9"),
        Part("anywidget", "0.11.0"),
        Part("pygraphviz", "2.0.4"),
    ),
    kernelspecs=("torchcourse-cpu", "torchcourse-cuda"),
    browser="chromium",
    memory_bytes=8 * 2**30,
    memory_free_bytes=4 * 2**30,
    disk_free_bytes=20 * 2**30,
)


def without(name, version=None):
    return replace(WELL, parts=tuple(Part(p.name, version) if p.name == name else p for p in WELL.parts))


def failed(machine, needs=NEEDS):
    report = examine(machine, needs)
    assert report.healthy is not any(check.must and not check.passed for check in report.checks)
    assert all(bool(check.mend) is not check.passed for check in report.checks)
    return [check.name for check in report.checks if check.must and not check.passed]


def test_a_machine_that_is_well_needs_no_gpu():
    report = examine(WELL, NEEDS)
    assert report.healthy
    assert report.verdict == "Everything that the course needs is here; it runs on the CPU."
    assert [check.name for check in report.checks if not check.passed] == ["GPU"]


def test_with_a_gpu():
    build = Build("2.13.0+cu130", "13.0", available=True, computes=True)
    report = examine(replace(WELL, build=build), NEEDS)
    assert report.verdict == "Everything that the course needs is here; it runs on the GPU and on the CPU."


@pytest.mark.parametrize(
    ("machine", "names"),
    [
        (replace(WELL, python="3.10.9"), ["Python"]),
        (replace(WELL, python="3.14.0"), ["Python"]),
        (replace(WELL, python="3.13.0rc2"), []),
        (replace(WELL, build=Build("2.8.0")), ["torch"]),
        (replace(WELL, build=Build("2.15.0")), ["torch"]),
        (replace(WELL, build=Build("2.14.0a0+git1234")), []),
        (replace(WELL, build=Build("unknown")), ["torch"]),
        (replace(WELL, build=Build()), ["torch"]),
        (replace(WELL, build=Build("2.13.0", error="OSError: libgomp.so.1")), ["torch"]),
        (replace(WELL, kernelspecs=()), ["kernels"]),
        (replace(WELL, kernelspecs=("torchcourse-cpu",)), ["kernels"]),
        (replace(WELL, memory_bytes=2**29), ["memory"]),
        (replace(WELL, memory_bytes=None), []),  # what can't be read is not held against it
        (replace(WELL, disk_free_bytes=2**20), ["disk"]),
        (replace(WELL, disk_free_bytes=None), []),
        (replace(WELL, browser=None), []),
        (without("pygraphviz"), []),
        (without("torchcourse"), ["torchcourse"]),
        (without("jupyterlab"), ["jupyterlab"]),
        (without("ipykernel", "6.29.0"), ["ipykernel"]),
        (without("ipywidgets", "7.8.1"), ["ipywidgets"]),
        (without("anywidget", "0.12.0"), ["anywidget"]),
    ],
)
def test_each_must_can_fail(machine, names):
    assert failed(machine) == names


def test_without_its_own_ranges_the_doctor_says_so():
    assert failed(WELL, {}) == ["torchcourse"]


def test_the_broken_import_is_told():
    broken = replace(
        WELL, build=Build("2.13.0", error="OSError: libgomp.so.1: cannot open shared object file")
    )
    text = render(examine(broken, NEEDS))
    assert "FAILS  torch " in text
    assert "libgomp.so.1" in text
    assert "The course can't run yet: torch." in text


def test_graphviz_that_does_not_load_is_only_a_may():
    parts = (*WELL.parts[:-1], Part("pygraphviz", "2.0.4", "DLL load failed"))
    report = examine(replace(WELL, parts=parts), NEEDS)
    assert report.healthy
    check = next(check for check in report.checks if check.name == "Graphviz")
    assert not check.passed
    assert "DLL load failed" in check.found


def test_musts_and_mays_are_told_apart():
    text = render(examine(WELL, NEEDS))
    musts, mays = text.split("\n\n")[:2]
    assert musts.startswith("must") and "jupyterlab" in musts and "GPU" not in musts
    assert mays.startswith("may") and "GPU" in mays and "jupyterlab" not in mays


def test_the_columns_are_aligned():
    for block in render(examine(WELL, NEEDS)).split("\n\n")[:2]:
        names = [line[:9] for line in block.splitlines()[1:]]
        assert all(name[:2] == "  " and name[-2:] == "  " for name in names), block


@settings(deadline=None)
@given(machines)
def test_any_machine_gets_a_report(facts):
    report = examine(facts, NEEDS)
    assert str(report).splitlines()[0].startswith("must")
    told = json.loads(as_json(report))
    assert told["healthy"] is report.healthy
    assert told["diagnosis"]["kind"] == report.diagnosis.kind
    assert len(told["diagnosis"]["path"]) == len(report.diagnosis.path)


def test_the_ranges_come_from_the_installed_package():
    needs = course_needs()
    assert needs["python"] == ">=3.11,<3.14"
    assert {"torch", "jupyterlab", "ipykernel", "anywidget", "ipywidgets"} <= needs.keys()
    assert needs["torch"].startswith(">=")


def test_in_range():
    assert in_range("2.13.0+cpu", ">=2.9,<2.15")
    assert not in_range("not a version", ">=2.9")
    assert not in_range(None, "")
    assert in_range("1", "")


@pytest.mark.parametrize("case", CASES[::9], ids=lambda case: case["name"])
def test_reading_a_whole_machine(case, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    monkeypatch.setenv("TORCHCOURSE_DEVICE", "cpu")
    machine = read_machine(recorded_run(case))
    assert (machine.visible, machine.wanted) == ("1,0", "cpu")
    assert machine.python == sys.version.split()[0]
    assert machine.part("ipykernel").version
    assert machine.disk_free_bytes and machine.disk_free_bytes > 0
    assert machine.memory_bytes is None or machine.memory_bytes >= (machine.memory_free_bytes or 0) > 0


def test_the_kernels_own_torch_is_not_asked_twice():
    def run(command, seconds):
        raise FileNotFoundError

    build = Build("2.13.0+cpu")
    assert read_machine(run, build).build is build


def test_parts_of_the_machine_may_be_missing(monkeypatch):
    def refuse(name, *rest):
        raise ImportError(name)

    monkeypatch.setattr(reading, "import_module", refuse)
    monkeypatch.setitem(sys.modules, "jupyter_client.kernelspec", None)
    machine = read_machine(recorded_run(CASES[0]))
    assert machine.memory_bytes is None
    assert machine.part("pygraphviz").error
    assert set(machine.kernelspecs) <= {"torchcourse-cpu", "torchcourse-cuda"}


def test_a_folder_that_is_gone_has_no_disk(monkeypatch):
    def gone():
        raise FileNotFoundError

    monkeypatch.setattr(reading.os, "getcwd", gone)
    assert reading._disk_free() is None


def test_a_terminal_gets_no_control_characters():
    odd = replace(WELL, visible="\x1b[2J", wanted="\x1b[31mgpu\udcff\a")
    assert not set(render(examine(odd, NEEDS))) & set("\x1b\a\udcff")
