"""What torch's own complaint stands for, where build, driver and GPU look right."""

from __future__ import annotations

from .findings import SEE, Finding, quoted

# Words of torch's own complaint -> finding. The first that fits counts.
_SAID = (
    ("out of memory", "gpu-full", "The GPU's memory is full", "end what fills it (nvidia-smi lists it)"),
    (
        "busy or unavailable",
        "gpu-busy",
        "Another program holds the GPU for itself",
        "end that program (nvidia-smi lists it)",
    ),
    (
        "no kernel image",
        "gpu-not-in-build",
        "This build holds no code for this GPU",
        f"install a build that does {SEE}",
    ),
    (
        "forked subprocess",
        "forked",
        "CUDA was already used before this process was forked",
        "start workers with the method “spawn”",
    ),
    (
        "driver on your system is too old",
        "driver-too-old",
        "The driver is too old for this build",
        "update the driver",
    ),
    (
        "found no nvidia driver",
        "no-driver",
        "torch found no NVIDIA driver",
        "install NVIDIA's driver and restart",
    ),
    (
        "unsupported display driver",
        "driver-mismatch",
        "The driver's kernel module and its library differ",
        "restart the computer",
    ),
    (
        "forward compatibility was attempted",
        "compat-package",
        "The CUDA compatibility package stands before the driver, and this GPU does not support it",
        "take cuda-compat off LD_LIBRARY_PATH, or update the driver",
    ),
    (
        "system not yet initialized",
        "fabric-manager",
        "The GPUs are joined by NVSwitch, and NVIDIA's fabric manager does not run",
        "start the service nvidia-fabricmanager",
    ),
    (
        "no cuda-capable device",
        "no-devices",
        "CUDA finds no GPU",
        "check CUDA_VISIBLE_DEVICES, and that the GPU is passed through to this machine",
    ),
    ("uncorrectable", "gpu-fault", "The GPU reports a fault of its memory", "restart the computer"),
    (
        "device-side assert",
        "process-broken",
        "An earlier error on the GPU broke this process's CUDA",
        "restart the kernel",
    ),
    (
        "illegal memory access",
        "process-broken",
        "An earlier error on the GPU broke this process's CUDA",
        "restart the kernel",
    ),
    (
        "unknown error",
        "driver-stuck",
        "The driver is stuck, as after a computer's sleep",
        "restart the kernel, or else the computer",
    ),
)


def explain(words: str) -> Finding:
    """The finding that torch's words stand for; "unknown" where they are none of the known ones."""
    for phrase, kind, sentence, mend in _SAID:
        if phrase in words.lower():
            return Finding(kind, f"{sentence}{quoted(words)}.", mend)
    sentence = f"Build, driver and GPU look right, and still torch can't use the GPU{quoted(words)}."
    return Finding(
        "unknown", sentence, "restart the kernel, then look through python -m torch.utils.collect_env"
    )
