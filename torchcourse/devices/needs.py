"""What a build needs from the driver and from the GPU: two published rules.

- Driver: NVIDIA's CUDA Toolkit release notes, table "minimum required driver version for CUDA minor version
  compatibility". Since CUDA 11 a driver runs every build of its major version, and of every older one.
- GPU: the CUDA programming guide on binary compatibility, as torch.cuda._check_capability applies it.
"""

from __future__ import annotations

import re

from .facts import Driver

# CUDA's major version -> (Linux, Windows). NVIDIA names no Windows driver for CUDA 13, since the toolkit no
# longer ships one: 580.88 is the first one of branch 580 there.
MINIMUM_DRIVER = {
    11: ("450.80.02", "452.39"),
    12: ("525.60.13", "528.33"),
    13: ("580.65.06", "580.88"),
}

# GPUs of small computers (Jetson): code for their neighbours does not run on them.
_ALONE = {(5, 3), (6, 2), (7, 2), (8, 7), (10, 1)}

_ARCH = re.compile(r"(sm|compute)_(\d+)(\d)([a-z]?)")


def numbers(version: str) -> tuple[int, ...]:
    """ "580.65.06" -> (580, 65, 6): versions compare as numbers, not as text."""
    return tuple(int(number) for number in re.findall(r"\d{1,9}", version))


def major(version: str) -> int:
    """The first number of a version; 0 where there is none."""
    return (numbers(version) or (0,))[0]


def minimum_driver(cuda: str, windows: bool = False) -> str | None:
    """The oldest driver that runs a build made with this CUDA; None for a major version that isn't listed."""
    pair = MINIMUM_DRIVER.get(major(cuda))
    return pair[windows] if pair else None


def new_enough(driver: Driver, cuda: str, windows: bool = False) -> bool | None:
    """Does this driver run a build made with this CUDA? None where the driver told too little to say.

    The CUDA that the driver itself names counts too: a compatibility package (cuda-compat) lifts it above
    what the driver's own version stands for.
    """
    least = minimum_driver(cuda, windows)
    if least and driver.version and numbers(driver.version) >= numbers(least):
        return True
    # A driver of CUDA 11.0 may be older than 450.80.02, so below 12 the version alone decides.
    if driver.cuda and (major(driver.cuda) > 11 or not least):
        return major(driver.cuda) >= major(cuda)
    return False if least and driver.version else None


def runs_on(arch: str, capability: tuple[int, int]) -> bool:
    """Does code of this architecture ("sm_86", "compute_90") run on a GPU of this compute capability?

    `sm_` is machine code: it runs on the same major version, same or higher minor version. `compute_` is
    an intermediate form (PTX) that the driver compiles for any GPU that is not older.
    """
    found = _ARCH.fullmatch(arch)
    if not found:
        return False
    kind, code, exact = found[1], (int(found[2]), int(found[3])), found[4]
    if exact or capability in _ALONE or code in _ALONE:
        return code == capability
    return code <= capability and (kind == "compute" or code[0] == capability[0])


def covered(arch_list: tuple[str, ...], capability: tuple[int, int]) -> bool:
    """Does a build with this list hold code for a GPU of this compute capability?"""
    return any(runs_on(arch, capability) for arch in arch_list)
