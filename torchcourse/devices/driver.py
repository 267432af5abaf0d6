"""NVIDIA's driver, read from the text of `nvidia-smi` and from its library."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import sys

from .facts import GPU, Driver
from .running import Run, clean, telling_line

# Until driver 595 the header says "Driver Version" and "CUDA Version", from 610 on "KMD Version" and
# "CUDA UMD Version" (kernel-mode and user-mode driver). Old drivers (before 410) name no CUDA.
_DRIVER = re.compile(r"(?:Driver|KMD) Version: *(\d[\d.]*\d)")
_CUDA = re.compile(r"CUDA (?:UMD )?Version: *(\d+\.\d+)")
_NAME = re.compile(r"^\| +\d+ +(\S.*?) +(?:On|Off|N/A|WDDM|TCC|MCDM) +\|")
_MEMORY = re.compile(r"\d+ ?MiB */ *(\d+) ?MiB")

# Words of a failure -> Driver.state. Order matters: a mismatch is also a failure to communicate.
_FAILURES = (
    ("version mismatch", "mismatch"),
    ("no devices were found", "no devices"),
    ("no devices found", "no devices"),
    ("gpu is lost", "lost"),
    ("unable to determine the device handle", "lost"),
    ("insufficient permissions", "refused"),
    ("permission denied", "refused"),
    ("gpu access blocked by the operating system", "refused"),
    ("nvml: unknown error", "refused"),  # a container that lost its right to the devices
    ("couldn't communicate with the nvidia driver", "not loaded"),
    ("driver not loaded", "not loaded"),
    ("failed to initialize nvml", "not loaded"),
    ("couldn't find libnvidia-ml", "not loaded"),
)

SECONDS = 30.0  # a driver that isn't kept awake needs some for each of its GPUs
_QUERY = ("--query-gpu=name,memory.total,compute_cap,uuid", "--format=csv,noheader,nounits")

# Where nvidia-smi lies when it isn't on the search path: WSL, and older drivers of Windows.
_PLACES = (
    "/usr/lib/wsl/lib/nvidia-smi",
    r"C:\Windows\System32\nvidia-smi.exe",
    r"C:\Program Files\NVIDIA Corporation\NVSMI\nvidia-smi.exe",
)


def smi_program() -> str:
    """The path of nvidia-smi; its bare name when it is nowhere (running it then raises FileNotFoundError)."""
    return shutil.which("nvidia-smi") or next((p for p in _PLACES if os.path.exists(p)), "nvidia-smi")


def read_driver(run: Run, library: bool | None = None) -> Driver:
    """Ask nvidia-smi twice: for its table (driver, CUDA), and for each GPU's full name and capability."""
    program = smi_program()
    try:
        table = run([program], SECONDS)
        driver = parse_smi(table.text, table.status, library)
        # Only newer drivers know compute_cap; an older one refuses the whole question, and the table must do.
        listed = run([program, *_QUERY], SECONDS) if driver.state == "answers" and driver.gpus else None
    except FileNotFoundError:
        return Driver("absent", library=library)
    except PermissionError:
        return Driver("refused", library=library, said="nvidia-smi may not be run (permission denied)")
    except TimeoutError as error:
        return Driver("silent", library=library, said=str(error))
    except OSError as error:
        return Driver("unreadable", library=library, said=telling_line(str(error)))
    gpus = parse_query(listed.text) if listed and listed.status == 0 else ()
    return _with_gpus(driver, gpus)


def _with_gpus(driver: Driver, gpus: tuple[GPU, ...]) -> Driver:
    if len(gpus) < len(driver.gpus):
        return driver
    return Driver(
        driver.state, driver.version, driver.cuda, gpus, driver.library, driver.mig_empty, driver.said
    )


def parse_smi(text: str, status: int = 0, library: bool | None = None) -> Driver:
    """Read the table that a plain `nvidia-smi` prints, or the sentence with which it failed.

    Any text is taken, nonsense too: what can't be read is `state="unreadable"`, and `said` quotes it.
    """
    text = clean(text)
    lower = text.lower()
    version, cuda = _DRIVER.search(text), _CUDA.search(text)
    found = next((state for words, state in _FAILURES if words in lower), "")
    state = found or ("answers" if version else "unreadable")
    if version and state in ("refused", "not loaded"):
        state = "answers"  # a driver that prints its header runs, whatever it grumbles about
    return Driver(
        state=state,
        version=version[1] if version else None,
        cuda=cuda[1] if cuda else None,
        gpus=_table_gpus(text),
        library=library,
        mig_empty="no mig devices found" in lower,
        said="" if state == "answers" else _quote(text, status),
    )


def _quote(text: str, status: int) -> str:
    lines = [line for line in text.splitlines() if any(sign.isalnum() for sign in line)]
    first = telling_line(lines[0], 100) if lines else "nothing"
    return first if status == 0 else f"{first} (exit status {status})"


def _table_gpus(text: str) -> tuple[GPU, ...]:
    """The GPUs of the table: each has a line with its name and, below, one with its memory."""
    gpus: list[GPU] = []
    for line in text.splitlines():
        if line.startswith("| MIG devices") or line.startswith("| Processes"):
            break
        if name := _NAME.match(line):
            gpus.append(GPU(name[1]))
        elif gpus and gpus[-1].memory_bytes is None and (memory := _MEMORY.search(line)):
            gpus[-1] = GPU(gpus[-1].name, int(memory[1]) * 2**20)
    return tuple(gpus)


def parse_query(text: str) -> tuple[GPU, ...]:
    """Read `name, MiB, capability, uuid` lines, as `nvidia-smi --query-gpu` prints them."""
    return tuple(gpu for line in clean(text).splitlines() if (gpu := _query_gpu(line)))


def _query_gpu(line: str) -> GPU | None:
    fields = [field.strip() for field in line.rsplit(",", 3)]
    if len(fields) != 4 or not fields[0]:
        return None
    name, memory, capability, uuid = fields
    nbytes = int(memory) * 2**20 if memory.isdecimal() and len(memory) < 12 else None
    numbers = re.fullmatch(r"(\d{1,3})\.(\d{1,2})", capability)
    if nbytes is None and not numbers:
        return None  # no GPU, but some message with commas
    return GPU(name, nbytes, (int(numbers[1]), int(numbers[2])) if numbers else None, uuid)


def library_loads() -> bool:
    """Can the driver's library be loaded? torch's CUDA runtime looks for the same file."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
