"""What is known about a machine: plain data.

Nothing is asked here, so that a test or a lesson can write any machine down.

Sizes are bytes; versions are the text that the part itself gives.
"""

from __future__ import annotations

from dataclasses import dataclass

# What `nvidia-smi` may turn out to say; `Driver.state` is one of these.
DRIVER_STATES = (
    "answers",  # a header with a driver version was read
    "absent",  # there is no nvidia-smi
    "not loaded",  # nvidia-smi is there, the kernel module is not
    "mismatch",  # the kernel module and the library are of two versions
    "no devices",  # the driver runs and has no GPU
    "refused",  # the system forbids to ask
    "lost",  # the driver runs, a GPU has fallen off the bus
    "silent",  # no answer in time
    "unreadable",  # an answer in no known form
)


def gib(nbytes: int | None) -> str:
    """Bytes as GiB with one decimal, or "unknown"."""
    return "unknown" if nbytes is None else f"{nbytes / 2**30:.1f} GiB"


@dataclass(frozen=True)
class GPU:
    """One NVIDIA or AMD GPU, as its driver or torch names it. `memory_bytes` is the card's whole memory."""

    name: str
    memory_bytes: int | None = None
    capability: tuple[int, int] | None = None
    uuid: str = ""

    def __str__(self) -> str:
        parts = [self.name, *([gib(self.memory_bytes)] if self.memory_bytes else [])]
        if self.capability:
            parts.append(f"compute capability {self.capability[0]}.{self.capability[1]}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Build:
    """The torch that is installed, and what it sees. `said` is the telling line of its warning or error."""

    version: str | None = None
    cuda: str | None = None  # torch.version.cuda: the CUDA that this build was made with
    hip: str | None = None  # torch.version.hip: set in a ROCm build
    arch_list: tuple[str, ...] = ()  # "sm_90", "compute_90": the GPUs that the build holds code for
    available: bool = False  # torch.cuda.is_available()
    gpus: tuple[GPU, ...] = ()  # the devices that torch lists
    computes: bool | None = None  # a tiny tensor really was computed on the GPU; None: not tried
    said: str = ""
    mps: bool = False  # torch.backends.mps.is_available(): Apple's GPU
    error: str = ""  # why `import torch` failed

    @property
    def name(self) -> str:
        """ "missing", "cpu", "cuda 13.0", "rocm 6.4" or "xpu"."""
        if self.version is None:
            return "missing"
        if self.hip:
            return f"rocm {self.hip}"
        if self.cuda:
            return f"cuda {self.cuda}"
        return "xpu" if "+xpu" in self.version else "cpu"


@dataclass(frozen=True)
class Driver:
    """NVIDIA's driver, as `nvidia-smi` describes it. `cuda` is the newest CUDA that it supports."""

    state: str = "absent"
    version: str | None = None
    cuda: str | None = None
    gpus: tuple[GPU, ...] = ()
    library: bool | None = None  # the driver's library (libcuda) loads; None: not tried
    mig_empty: bool = False  # MIG mode is on and no instance was made: then CUDA sees no device
    said: str = ""

    def __post_init__(self) -> None:
        if self.state not in DRIVER_STATES:
            raise ValueError(f"Driver.state is {self.state!r}; expected one of {', '.join(DRIVER_STATES)}.")


@dataclass(frozen=True)
class Part:
    """An installed package, or one that is missing (`version` is None). `error`: it is there but broken."""

    name: str
    version: str | None = None
    error: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version or 'missing'}" + (f" ({self.error})" if self.error else "")


@dataclass(frozen=True)
class Machine:
    """The whole picture that `torchcourse doctor` prints."""

    build: Build = Build()
    driver: Driver = Driver()
    system: str = "Linux"
    python: str = ""
    wsl: bool = False
    container: bool = False
    visible: str | None = None  # CUDA_VISIBLE_DEVICES, None when it isn't set
    wanted: str | None = None  # TORCHCOURSE_DEVICE, set by the course's two kernels
    parts: tuple[Part, ...] = ()
    kernelspecs: tuple[str, ...] = ()
    browser: str | None = None
    memory_bytes: int | None = None
    memory_free_bytes: int | None = None
    disk_free_bytes: int | None = None

    @property
    def windows_driver(self) -> bool:
        """Windows and WSL share Windows' driver, whose version numbers differ from Linux's."""
        return self.wsl or self.system.startswith("Windows")

    def part(self, name: str) -> Part:
        """The package of that name; one without a version when it isn't installed."""
        return next((part for part in self.parts if part.name == name), Part(name))
