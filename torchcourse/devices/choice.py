"""Which device the kernel teaches on: the one rule behind `tc.device()`."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from .build import this_build
from .diagnosis import Diagnosis, diagnose
from .findings import CPU_KERNEL
from .machine import read_machine

if TYPE_CHECKING:
    import torch

VARIABLE = "TORCHCOURSE_DEVICE"  # set by the two kernelspecs


class NoGPU(RuntimeError):
    """A GPU was asked for and none can be used.

    The message is one sentence: what hinders it, and what to do. `.diagnosis` holds the way to it.
    """

    def __init__(self, diagnosis: Diagnosis) -> None:
        way_out = "" if CPU_KERNEL in diagnosis.mend else f", or choose the kernel {CPU_KERNEL}"
        super().__init__(f"{diagnosis.advice.removesuffix('.')}{way_out}.")
        self.diagnosis = diagnosis

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of the frames: they would only hide the sentence."""
        return [f"NoGPU: {self}"]


def device() -> torch.device:
    """The device that this kernel teaches on.

    The kernels of the course say it in TORCHCOURSE_DEVICE; under any other kernel it is CUDA where a small
    tensor really computes there, else the CPU. Raises NoGPU where CUDA is demanded and can't be used, and
    ValueError where the variable says something else.
    """
    import torch

    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", "cpu", "cuda"):
        raise ValueError(f"{VARIABLE} is {wanted!r}; it must be 'cpu', 'cuda' or not set at all.")
    if wanted == "cpu" or (not wanted and not gpu_works()):
        return torch.device("cpu")
    if not gpu_works():
        raise NoGPU(diagnose(read_machine(build=this_build())))
    return torch.device("cuda")


@cache
def gpu_works() -> bool:
    """Does a small tensor compute on the GPU?

    Asked once: what CUDA finds when it starts stays so until the process ends.
    """
    return bool(this_build().computes)
