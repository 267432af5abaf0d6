"""What may hinder a GPU: one sentence and one mend for each kind. Only words; `diagnosis` decides."""

from __future__ import annotations

from typing import NamedTuple

from .facts import GPU, Build, Machine
from .needs import major, numbers

KINDS = (
    "no-torch",
    "torch-broken",
    "macos",
    "cpu-build",
    "other-build",
    "rocm-no-gpu",
    "no-driver",
    "driver-not-loaded",
    "driver-mismatch",
    "driver-refused",
    "gpu-lost",
    "driver-silent",
    "driver-unreadable",
    "no-library",
    "driver-too-old",
    "no-devices",
    "hidden",
    "mig-empty",
    "gpu-not-in-build",
    "gpu-full",
    "gpu-busy",
    "gpu-fault",
    "process-broken",
    "forked",
    "compat-package",
    "fabric-manager",
    "driver-stuck",
    "unknown",
)

CPU_KERNEL = "torchcourse (CPU)"  # the kernelspec's display name

SEE = "(see https://pytorch.org/get-started/locally)"


class Finding(NamedTuple):
    """`sentence` ends with a full stop; `mend` is an imperative without one."""

    kind: str
    sentence: str
    mend: str


def quoted(said: str) -> str:
    """Someone else's words in brackets; nothing where there are none."""
    return f" (“{said.rstrip('.')}”)" if said else ""


def no_torch(error: str) -> Finding:
    more = "" if "No module named 'torch'" in error else quoted(error)
    return Finding("no-torch", f"torch is not installed in this Python{more}.", "install torch")


def torch_broken(build: Build) -> Finding:
    sentence = f"torch {build.version} is installed but can't be imported{quoted(build.error)}."
    return Finding("torch-broken", sentence, "install it again in a fresh environment")


def macos(build: Build) -> Finding:
    apple = ", and this course does not teach on Apple's GPU (mps)" if build.mps else ""
    return Finding("macos", f"CUDA does not exist on macOS{apple}.", f"choose the kernel {CPU_KERNEL}")


def cpu_build(machine: Machine) -> Finding:
    sentence = f"This torch ({machine.build.version}) is a CPU build: it holds no code for a GPU."
    if machine.driver.gpus:
        gpu, cuda = machine.driver.gpus[0].name, machine.driver.cuda
        upto = f" for CUDA {cuda} or lower" if cuda else ""
        return Finding("cpu-build", sentence, f"to use the {gpu}, install a CUDA build{upto} {SEE}")
    return Finding("cpu-build", sentence, f"on a machine with an NVIDIA GPU, install a CUDA build {SEE}")


def other_build(build: Build) -> Finding:
    sentence = f"This torch ({build.version}) is built for Intel's GPUs, which this course does not teach on."
    return Finding("other-build", sentence, f"install a CUDA build to use an NVIDIA GPU {SEE}")


def rocm(build: Build) -> Finding:
    sentence = f"This torch is built for AMD GPUs (ROCm {build.hip}) and sees none{quoted(build.said)}."
    return Finding(
        "rocm-no-gpu",
        sentence,
        "check rocminfo and HIP_VISIBLE_DEVICES, or install a CUDA build for an NVIDIA GPU",
    )


def no_driver(machine: Machine) -> Finding:
    sentence = f"No NVIDIA driver was found here, and a CUDA build ({machine.build.name}) needs one."
    if machine.wsl:
        mend = "install NVIDIA's driver in Windows (never one inside WSL), then run wsl --shutdown"
    elif machine.container:
        mend = "start the container with its GPU (docker run --gpus all) on a machine that has the driver"
    else:
        mend = "install NVIDIA's driver and restart, if this machine has an NVIDIA GPU"
    return Finding("no-driver", sentence, mend)


def bad_driver(machine: Machine) -> Finding:
    kind, sentence, mend = _BAD_DRIVER[machine.driver.state]
    if machine.driver.state == "refused" and machine.container:
        mend = "start the container again; if that does not help, give it the GPU (docker run --gpus all)"
    if machine.driver.state == "not loaded" and machine.wsl:
        mend = "update NVIDIA's driver in Windows, remove any driver inside WSL, then run wsl --shutdown"
    return Finding(kind, f"{sentence}{quoted(machine.driver.said)}.", mend)


_BAD_DRIVER = {
    "not loaded": (
        "driver-not-loaded",
        "NVIDIA's driver is installed, but its kernel module is not loaded",
        "restart; if that does not help, install the driver again (a new kernel or Secure Boot may block it)",
    ),
    "mismatch": (
        "driver-mismatch",
        "NVIDIA's driver was changed while it ran, so its kernel module and its library differ",
        "restart the computer",
    ),
    "refused": (
        "driver-refused",
        "The system does not let this user ask NVIDIA's driver",
        "ask whoever runs this machine for access to its GPU",
    ),
    "lost": (
        "gpu-lost",
        "NVIDIA's driver runs, but has lost its GPU",
        "shut the computer down, check the GPU's power, and start again",
    ),
    "silent": ("driver-silent", "NVIDIA's driver does not answer", "restart the computer"),
    "unreadable": (
        "driver-unreadable",
        "nvidia-smi answered in no known form",
        "run nvidia-smi in a terminal, read its message, and install the driver again",
    ),
}


def no_library(machine: Machine) -> Finding:
    if machine.container:
        mend = "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
    elif machine.wsl:
        mend = "put /usr/lib/wsl/lib on LD_LIBRARY_PATH"
    else:
        mend = "install the driver again"
    return Finding("no-library", "The driver runs, but its library (libcuda) can't be loaded here.", mend)


def driver_too_old(machine: Machine, least: str | None) -> Finding:
    driver, cuda = machine.driver, machine.build.cuda
    reach = f"supports CUDA up to {driver.cuda}" if driver.cuda else "is too old for it"
    needs = f" and needs driver {least} or newer" if least else ""
    sentence = f"This torch is built with CUDA {cuda}{needs}, and the driver {driver.version or ''} {reach}."
    mend = "update the driver"
    if driver.cuda and major(driver.cuda) == 12:
        mend += ", or install a torch built with CUDA 12 (PyTorch's index cu126)"
    return Finding("driver-too-old", sentence.replace("  ", " "), mend)


def no_devices() -> Finding:
    return Finding(
        "no-devices",
        "NVIDIA's driver runs, but finds no GPU.",
        "check that the GPU has power, is switched on (hybrid laptops) or passed through (virtual machines)",
    )


def hidden(machine: Machine) -> Finding:
    if machine.wanted == "cpu" and not machine.visible:
        sentence = (
            f"The kernel {CPU_KERNEL} hides the GPU on purpose: it sets CUDA_VISIBLE_DEVICES to nothing."
        )
        return Finding("hidden", sentence, "choose the kernel torchcourse (CUDA) to use the GPU")
    count = len(machine.driver.gpus)
    these = "every GPU" if not count else "the only GPU" if count == 1 else f"all {count} GPUs"
    setting = f"“{machine.visible}”" if machine.visible else "empty"
    sentence = f"CUDA_VISIBLE_DEVICES is {setting}, which hides {these}."
    return Finding("hidden", sentence, "unset it, or set it to 0, before Python starts")


def mig_empty() -> Finding:
    return Finding(
        "mig-empty",
        "The GPU is in MIG mode and has no instance, so CUDA sees no device.",
        "have an instance made (nvidia-smi mig -cgi), or MIG mode switched off",
    )


def not_in_build(build: Build, gpu: GPU) -> Finding:
    capability = gpu.capability or (0, 0)
    sentence = (
        f"{gpu.name} has compute capability {capability[0]}.{capability[1]}, "
        f"and this build ({build.version}) holds code for {' '.join(build.arch_list)} only."
    )
    return Finding("gpu-not-in-build", sentence, _other_build_for(build, capability))


def _other_build_for(build: Build, capability: tuple[int, int]) -> str:
    codes = [numbers(arch)[0] for arch in build.arch_list if numbers(arch)]
    if not codes or 10 * capability[0] + capability[1] > min(codes):
        return f"install a newer build that lists it {SEE}"
    # torch.cuda.PYTORCH_RELEASES_CODE_CC: of the published builds, CUDA 12.6 reaches down the furthest.
    if capability >= (5, 0) and major(build.cuda or "") > 12:
        return "install a torch built with CUDA 12.6 (PyTorch's index cu126), which reaches down to 5.0"
    return f"choose the kernel {CPU_KERNEL}: no torch of today holds code for a GPU that old"
