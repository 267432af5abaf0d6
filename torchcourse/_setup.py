"""What run.py asks before anything is installed: which torch serves this machine better, and why pip failed.

    python -m torchcourse._setup offered URL        ends with 0 where PyTorch's CPU index is there, and better here
    python -m torchcourse._setup why CODE LOG       says in a few words why pip ended with CODE

Needs nothing but the standard library.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import threading
import urllib.request
from collections.abc import Sequence
from pathlib import Path

FULL = "the disk is full, and the course needs about 3 GB"
CAUSES = (  # what pip's log says, and what that means; the first match counts
    (r"No space left|Errno 28|not enough space", FULL),
    (r"cancelled by user", "it was interrupted"),
    # Not `Link requires a different Python`: that is a file that pip passes over.
    (r"Package \S+ requires a different Python", "the course doesn't run on this environment's Python"),
    (r"Permission denied|WinError (5|32)\b", "a file is read-only or in use (close Jupyter first)"),
    (r"for hatchling|new connection|connection broken|timed ?out|ProxyError|SSLError", "the network failed"),
    (r"No matching distribution found for (torch\S*)", r"\1 is not to be had for this machine"),
)
NO_PIP = "its pip is damaged (delete that folder, and the next call makes a new one)"
SECONDS = 3


def offered(index: str) -> bool:
    """Whether to take torch from this index. Linux's ordinary torch brings gigabytes of CUDA along.

    No: with an NVIDIA driver, on another system, or where the index doesn't answer within 3 seconds.
    """
    driver = shutil.which("nvidia-smi") or os.path.exists("/proc/driver/nvidia")
    if driver or sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        return False
    # Ends the process, since looking up a name knows no time limit.
    alarm = threading.Timer(SECONDS, os._exit, [1])
    alarm.start()
    try:
        urllib.request.urlopen(index, timeout=SECONDS).close()
    except OSError:
        return False
    finally:
        alarm.cancel()
    return True


def why(code: int, log: Path) -> str:
    """The reason behind pip's exit code, as far as its log tells; an empty log is a pip that didn't start."""
    if code < 0:
        return f"pip was killed by signal {-code} (9 often means: too little memory)"
    if shutil.disk_usage(log.parent).free < 10**8:
        return FULL
    words = log.read_text(encoding="utf-8", errors="replace")
    if not words:
        return NO_PIP
    if "PIP_NO_INDEX" in os.environ and (
        lacks := re.search(r"No matching distribution found for (\S+)", words)
    ):
        return f"the folder of wheels holds no {lacks[1]} for this Python"
    found = ((re.search(pattern, words, re.I), reason) for pattern, reason in CAUSES)
    return next((match.expand(reason) for match, reason in found if match), f"pip's exit code is {code}")


def main(arguments: Sequence[str]) -> int:
    match list(arguments):
        case ["offered", index]:
            return 0 if offered(index) else 1
        case ["why", code, log]:
            print(why(int(code), Path(log)))
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
