"""tc.device(): the kernel's word, the GPU's deed, and the one sentence where they differ."""

import json
import subprocess
import sys
from importlib.resources import files

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import torchcourse as tc
from torchcourse.devices import GPU, Build, Driver, Machine, NoGPU, choice, diagnose

WORKING = Build("2.13.0+cu130", "13.0", available=True, computes=True)
IDLE = Build("2.13.0+cu130", "13.0", available=True, computes=False, said="CUDA error: out of memory")
CPU = Build("2.13.0+cpu")


@pytest.fixture
def kernel(monkeypatch):
    """Give this process a kernel's variable and a machine."""

    def start(variable, build):
        if variable is None:
            monkeypatch.delenv("TORCHCOURSE_DEVICE", raising=False)
        else:
            monkeypatch.setenv("TORCHCOURSE_DEVICE", variable)
        driver = Driver("answers", "580.65.06", "13.0", (GPU("NVIDIA L4"),), True)
        monkeypatch.setattr(choice, "this_build", lambda: build)
        monkeypatch.setattr(choice, "read_machine", lambda build: Machine(build, driver))
        gpu_works.cache_clear()

    gpu_works = choice.gpu_works
    yield start
    gpu_works.cache_clear()


@pytest.mark.parametrize(
    ("variable", "build", "device"),
    [
        ("cpu", WORKING, "cpu"),
        ("cpu", CPU, "cpu"),
        ("cuda", WORKING, "cuda"),
        (None, WORKING, "cuda"),
        ("", WORKING, "cuda"),
        (None, CPU, "cpu"),
        (None, IDLE, "cpu"),  # available, and still nothing computes there
    ],
)
def test_the_rule(kernel, variable, build, device):
    kernel(variable, build)
    assert tc.device() == torch.device(device)


@pytest.mark.parametrize("build", [CPU, IDLE])
def test_cuda_is_demanded_and_can_not_be_used(kernel, build):
    kernel("cuda", build)
    with pytest.raises(NoGPU) as caught:
        tc.device()
    message = str(caught.value)
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.diagnosis.kind == {CPU: "cpu-build", IDLE: "gpu-full"}[build]
    assert message.startswith(caught.value.diagnosis.sentence.rstrip("."))
    assert message.endswith("or choose the kernel torchcourse (CPU).")
    assert "\n" not in message


def test_a_way_out_is_named_once():
    mac = diagnose(Machine(Build("2.13.0"), system="macOS 15.1"))
    assert str(NoGPU(mac)).count("torchcourse (CPU)") == 1


@pytest.mark.parametrize("variable", ["gpu", "CUDA", "cuda:1", "cpu "])
def test_another_word_is_refused_with_a_sentence(kernel, variable):
    kernel(variable, WORKING)
    with pytest.raises(ValueError, match=r"TORCHCOURSE_DEVICE is '.*'; it must be 'cpu', 'cuda' or not set"):
        tc.device()


def test_ipython_shows_the_sentence_and_no_frames(kernel, monkeypatch):
    kernel("cuda", CPU)
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    shown = []
    monkeypatch.setattr(shell, "_showtraceback", lambda kind, value, lines: shown.extend(lines))
    result = shell.run_cell("import torchcourse as tc\ntc.device()")
    assert isinstance(result.error_in_exec, NoGPU)
    assert shown == [f"NoGPU: {result.error_in_exec}"]


def test_the_gpu_is_asked_once(kernel, monkeypatch):
    kernel(None, WORKING)
    asked = []
    monkeypatch.setattr(choice, "this_build", lambda: asked.append(1) or WORKING)
    assert tc.device() == tc.device() == torch.device("cuda")
    assert len(asked) == 1


def test_the_cpu_kernel_never_touches_the_gpu(kernel, monkeypatch):
    kernel("cpu", WORKING)
    monkeypatch.setattr(choice, "gpu_works", lambda: pytest.fail("asked for the GPU"))
    assert tc.device() == torch.device("cpu")


def test_the_two_kernelspecs_set_what_the_rule_reads():
    for word in ("cpu", "cuda"):
        spec = json.loads(
            files("torchcourse").joinpath(f"kernels/torchcourse-{word}/kernel.json").read_text()
        )
        assert spec["env"][choice.VARIABLE] == word
    # The CPU kernel hides the GPU; the CUDA kernel must not.
    assert "CUDA_VISIBLE_DEVICES" not in spec["env"]


def test_the_messages_name_the_kernels_as_jupyter_shows_them():
    names = [
        json.loads(files("torchcourse").joinpath(f"kernels/torchcourse-{word}/kernel.json").read_text())[
            "display_name"
        ]
        for word in ("cpu", "cuda")
    ]
    assert names == [choice.CPU_KERNEL, "torchcourse (CUDA)"]


def test_importing_the_course_and_its_doctor_does_not_import_torch():
    code = "import sys, torchcourse.devices, torchcourse.cli, torchcourse.devices.report; print('torch' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert answer.stdout.strip() == "False"


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_on_a_real_gpu(monkeypatch):
    choice.gpu_works.cache_clear()
    monkeypatch.setenv("TORCHCOURSE_DEVICE", "cuda")
    assert torch.ones(2, device=tc.device()).sum().item() == 2.0
