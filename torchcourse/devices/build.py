"""The torch that is installed: which build, and does a tiny tensor really compute on its GPU?

`main` prints the answer as JSON. The doctor calls it in a process of its own, so that a torch that crashes or
hangs on import does not take the doctor along.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .facts import GPU, Build
from .running import Run, telling_line

SECONDS = 120.0  # `import torch` reads a gigabyte from a cold disk
_ASK = "from torchcourse.devices.build import main; main()"


def read_build(run: Run) -> Build:
    """Ask a fresh Python about its torch; a crash, a hang and nonsense become `Build.error`."""
    installed = _installed_version()
    try:
        answer = run([sys.executable, "-c", _ASK], SECONDS)
        # torch may print before us; ours is the last line of stdout that is an object.
        lines = [line for line in answer.text.splitlines() if line.startswith("{")]
        return build_from_json(lines[-1])
    except TimeoutError:
        return Build(installed, error="`import torch` did not end in time")
    except (OSError, ValueError, TypeError, KeyError) as error:
        return Build(
            installed, error=f"Python could not say anything about its torch: {telling_line(str(error))}"
        )
    except IndexError:
        return Build(installed, error=_crash(answer.status, answer.text))


def _crash(status: int, text: str) -> str:
    if status == -4 or status == 132:
        return "`import torch` crashed with an illegal instruction: this processor is too old for the build"
    return f"`import torch` ended Python (exit status {status}): {telling_line(text) or 'no word'}"


def build_from_json(text: str) -> Build:
    """The inverse of this module's output. Raises ValueError, TypeError or KeyError on anything else."""
    facts: dict[str, Any] = json.loads(text)
    texts = [facts.get(name) for name in ("version", "cuda", "hip", "said", "error")]
    if not all(isinstance(text, str | None) for text in texts):
        raise TypeError("a version or a message is no text")
    facts["gpus"] = tuple(_gpu_from_json(gpu) for gpu in facts.get("gpus", ()))
    facts["arch_list"] = tuple(map(str, facts.get("arch_list", ())))
    return Build(**facts)


def _gpu_from_json(gpu: dict[str, Any]) -> GPU:
    capability = gpu.get("capability")
    major_minor = (int(capability[0]), int(capability[1])) if capability else None
    return GPU(str(gpu["name"]), gpu.get("memory_bytes"), major_minor)


def _installed_version() -> str | None:
    try:
        return version("torch")
    except PackageNotFoundError:
        return None


def this_build() -> Build:
    """The facts about the torch of this very process. Imports torch; touches the GPU where there is one."""
    installed = _installed_version()
    try:
        import torch
    except Exception as error:  # a broken DLL, a missing file, another NumPy: it is the finding
        return Build(installed, error=telling_line(f"{type(error).__name__}: {error}"))
    if not hasattr(torch, "__version__") or not hasattr(torch, "version"):
        return Build(installed, error="a file or folder called torch stands before the real torch; rename it")
    available, said = _available(torch)
    computes, complaint = _computes(torch) if available else (None, "")
    return Build(
        version=str(torch.__version__),
        cuda=torch.version.cuda,
        hip=torch.version.hip,
        arch_list=_arch_list(torch),
        available=available,
        gpus=_gpus(torch) if computes is not None else (),
        computes=computes,
        said=complaint or said,
        mps=torch.backends.mps.is_available(),
    )


def _available(torch: Any) -> tuple[bool, str]:
    """torch.cuda.is_available() never raises: what hinders it comes as a warning, or not at all."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        available = bool(torch.cuda.is_available())
    return available, telling_line(str(caught[-1].message)) if caught else ""


def _computes(torch: Any) -> tuple[bool, str]:
    """is_available() may be True where no kernel runs ("no kernel image"): only computing tells."""
    try:
        fresh = not torch.cuda.is_initialized()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            total = torch.ones(2, device="cuda").add(1).sum().item()
        if fresh:  # the first to use the GPU leaves no block behind: chapter 04 counts them
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
    except Exception as error:  # RuntimeError, AcceleratorError, AssertionError, OutOfMemoryError
        return False, telling_line(str(error).strip().split("\n")[0])
    return total == 4.0, "" if total == 4.0 else f"1 + 1 + 1 + 1 gave {total} on the GPU"


def _arch_list(torch: Any) -> tuple[str, ...]:
    # torch.cuda.get_arch_list() may be empty where no GPU is usable, just where we want to know it; the
    # private function behind it answers without a GPU.
    flags = getattr(torch._C, "_cuda_getArchFlags", lambda: None)()
    return tuple(flags.split()) if flags else tuple(torch.cuda.get_arch_list())


def _gpus(torch: Any) -> tuple[GPU, ...]:
    try:
        found = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    except Exception:  # an unusable GPU; the driver's own list remains
        return ()
    return tuple(GPU(telling_line(p.name), p.total_memory, (p.major, p.minor)) for p in found)


def main() -> None:
    """Print `this_build()` as one line of JSON."""
    print(json.dumps(asdict(this_build())))
