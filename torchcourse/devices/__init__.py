"""Which device the kernel teaches on, and why a GPU can or can't be used.

Nothing here imports torch before it is asked about: the doctor must run where torch is broken.
"""

from .choice import NoGPU, device, gpu_works
from .diagnosis import KINDS, Diagnosis, Step, diagnose
from .facts import GPU, Build, Driver, Machine, Part
from .machine import read_machine
from .recorded import recorded_machines

__all__ = [
    "GPU",
    "KINDS",
    "Build",
    "Diagnosis",
    "Driver",
    "Machine",
    "NoGPU",
    "Part",
    "Step",
    "device",
    "diagnose",
    "gpu_works",
    "read_machine",
    "recorded_machines",
]
