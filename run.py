"""torchcourse in one command: makes an environment beside this file, once, and runs the course in it.

  lab [--source] [--reset NN] [--no-browser] [more for Jupyter]   opens work/, your copy of the course;
      --reset 01 starts chapter 01 anew and keeps your file; --source opens notebooks/, for authors;
      --teach 01 opens lesson and notes side by side; --wheels FOLDER installs without a network
  download FOLDER                    fills that FOLDER, where there is a network
  test [--slow] [more for pytest]    runs every test; with --slow those that take minutes
  test-cuda [more for pytest]        runs every notebook on the CUDA kernel
  bench [more for pytest]            measures the figures of the README
  write [notebook ...]               executes notebooks and stores their outputs
  site [more]                        builds the course as web pages that need no kernel
  class [--learners N]               measures N learners at once on a JupyterHub of this machine
  versions [newest] [nightly]        holds the claims to other versions of PyTorch

TORCHCOURSE_TORCH, when set, is the requirement for torch, for example torch==2.9.*
Inside an active conda environment (other than base) that one is used, and .venv is not made."""

import argparse
import hashlib
import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HERE, WINDOWS = Path(__file__).resolve().parent, os.name == "nt"
PYTHONS = ("3.11", "3.12", "3.13")
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
EXTRAS, TORCH = ("lab", "test", "bench"), os.environ.get("TORCHCOURSE_TORCH") or "torch==2.13.*"
CPU_WHEELS = "https://download.pytorch.org/whl/cpu/"
# Two that run without the environment.
SETUP = (sys.executable, "-m", "torchcourse._setup")
WHEELS = (sys.executable, "-m", "torchcourse._wheels", "--torch", TORCH)
HAS_TORCH = "import importlib.metadata as packages; packages.version('torch')"
LOCKS = importlib.import_module("msvcrt" if WINDOWS else "fcntl")
# On Windows, Python before 3.13 misreads the path that an editable install leaves, unless it is ASCII.
EDITABLE = not WINDOWS or all(ord(letter) < 128 for letter in str(HERE))


def typed(*words):
    """This command as it is typed on this machine, for messages."""
    name = "py" if WINDOWS and shutil.which("py") else os.path.basename(sys.executable)
    return subprocess.list2cmdline([name, sys.argv[0], *words])


def call(*command):
    """Runs a command to its end. Ctrl-C reaches the command itself, and what that means is its business."""
    process = subprocess.Popen([str(word) for word in command], cwd=str(HERE))
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def become(*command):
    """Hands this process over, so that whoever ends it ends Jupyter. Windows can't: there it waits."""
    if WINDOWS:
        return call(*command)
    os.chdir(str(HERE))
    return os.execv(str(command[0]), [str(word) for word in command])


def wants_cpu_wheels():
    """Whether torch is better taken from PyTorch's CPU index."""
    return call(*SETUP, "offered", CPU_WHEELS) == 0


def install(python, home, extra, keep_torch):
    """torch alone from PyTorch's CPU index where that helps, then the rest; answers what went wrong, or 0."""
    log = home / "torchcourse-pip.log"
    pip = (python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check")
    if not keep_torch and "PIP_NO_INDEX" not in os.environ and wants_cpu_wheels():
        call(*pip, "--no-deps", "--index-url", CPU_WHEELS, TORCH)  # when it fails, the next pip finds torch
    log.write_bytes(b"")
    wanted = [*([] if keep_torch else [TORCH]), *(["-e"] if EDITABLE else []), f".[{extra}]"]
    code = call(*pip, "--log", log, *wanted)
    if code == 0:
        return 0
    why = subprocess.check_output([*SETUP, "why", str(code), str(log)], cwd=str(HERE), text=True).strip()
    again = f"mend that and run `{typed(*sys.argv[1:])}` again; pip's own words are above and in {log}."
    return f"{home} is not ready, since {why}: {again}"


def stamp_for(extra):
    """What a set-up is made of. Another Python, torch, folder or list of packages: another stamp."""
    copied = ("torchcourse/kernels/*/*", "torchcourse/lab/*") if EDITABLE else ("torchcourse/**/*.*",)
    files = [HERE / "pyproject.toml", *sorted(file for glob in copied for file in HERE.glob(glob))]
    made_of = [str(HERE), TORCH, *(file.read_bytes().hex() for file in files if file.suffix != ".pyc")]
    digest = hashlib.sha256("\n".join(made_of).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{PYTHON} {digest} {extra}".encode()


def make_venv(home, stamp):
    """An empty environment, marked as unfinished (an empty stamp) from its first moment."""
    if importlib.util.find_spec("ensurepip") is None:
        raise SystemExit(f"ensurepip is missing; Debian, Ubuntu: `sudo apt install python{PYTHON}-venv`.")
    if shutil.disk_usage(str(HERE)).free < 2 * 10**9:
        raise SystemExit(f"No room for {home}: the disk is full, and the course needs about 3 GB.")
    home.mkdir(exist_ok=True)
    stamp.write_bytes(b"")
    for entry in set(home.iterdir()) - {stamp}:
        (shutil.rmtree if entry.is_dir() and not entry.is_symlink() else os.unlink)(str(entry))
    if call(sys.executable, "-m", "venv", home):
        raise SystemExit(f"Python could not make the environment {home}; the reason is above.")


def alone():
    """The right to set up here: one run.py has it at a time, and the system takes it back from one that ends."""
    lock = os.open(str(HERE / ".setup.lock"), os.O_CREAT | os.O_RDWR)
    try:
        if WINDOWS:
            LOCKS.locking(lock, LOCKS.LK_NBLCK, 1)
        else:
            LOCKS.flock(lock, LOCKS.LOCK_EX | LOCKS.LOCK_NB)
    except OSError:
        sys.exit(f"Another run.py is setting up here: run `{typed(*sys.argv[1:])}` when it is done.")
    return os.fdopen(lock)


def set_up(extra):
    """The Python that has all that `extra` asks for: found, mended or made."""
    conda = os.environ.get("CONDA_DEFAULT_ENV", "base") != "base" and os.environ.get("CONDA_PREFIX")
    home = Path(conda) if conda else HERE / ".venv"
    python = home / (("python.exe" if conda else "Scripts/python.exe") if WINDOWS else "bin/python")
    stamp, wanted = home / "torchcourse.stamp", stamp_for(extra)
    before = stamp.read_bytes() if stamp.exists() else None
    if python.exists() and before in [stamp_for(each) for each in EXTRAS[EXTRAS.index(extra) :]]:
        return python
    if sys.platform == "darwin" and platform.machine() == "x86_64" and not conda:
        raise SystemExit("PyTorch has no current wheel for Intel Macs: use conda or Binder, see README.md.")
    if before is None and not conda and home.exists() and any(home.iterdir()):
        raise SystemExit(f"{home} was made by something else: rename it, and run.py makes its own there.")
    with alone():
        print(f"Setting up {home} (once: some minutes and 2 GB, with CUDA 6 GB) ...", flush=True)
        if not conda and not (python.exists() and before and before.split()[0] == wanted.split()[0]):
            make_venv(home, stamp)
            before = None
        stamp.write_bytes(b"")  # left so by an interruption; a pip that fails puts back what it found
        keep_torch = (
            bool(conda) and "TORCHCOURSE_TORCH" not in os.environ and call(python, "-c", HAS_TORCH) == 0
        )
        problem = install(python, home, extra, keep_torch)
        stamp.write_bytes((before or b"") if problem else wanted)
        return sys.exit(problem) if problem else python


def lab(words):
    """JupyterLab on the learner's copy; all words but --wheels are read there, inside the environment."""
    parser = argparse.ArgumentParser(prog=typed("lab"), add_help=False, allow_abbrev=False)
    parser.add_argument("--wheels", metavar="FOLDER", type=HERE.joinpath)
    asked, rest = parser.parse_known_args(words)
    if asked.wheels and call(*WHEELS, "--check", asked.wheels):
        return 1  # what is wrong has been said
    if asked.wheels:
        os.environ.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=asked.wheels.as_uri())  # pip splits at blanks
    return become(set_up("lab"), "-m", "torchcourse._lab", *rest)


def pytest(*words, extra="test"):
    code = call(set_up(extra), "-m", "pytest", *words)
    if code == 5:
        print("Not one test was found to run, so nothing is proven: exit code 5.", file=sys.stderr)
    return code


COMMANDS = {
    "lab": lab,
    "download": lambda words: call(*WHEELS, *(["--index", CPU_WHEELS] if wants_cpu_wheels() else []), *words),
    "test": lambda words: pytest("-n", "logical", "--maxprocesses", "4", "--no-loadscope-reorder", *words),
    "test-cuda": lambda words: pytest("tests/notebooks", "--cuda", "-k", "nbval", *words),
    "bench": lambda words: pytest("tests/benchmarks", "-s", *words, extra="bench"),
    "write": lambda words: call(set_up("test"), "-m", "tests.notebooks.write", *words),
    "site": lambda words: call(set_up("test"), "-m", "web", *words),
    "class": lambda words: call(set_up("test"), "-m", "classroom", *words),
    "versions": lambda words: call(set_up("test"), "-m", "tests.versions", *words),
}


def main(name="help", *words):
    if PYTHON not in PYTHONS:
        raise SystemExit(f"torchcourse runs on Python {', '.join(PYTHONS)}, not {PYTHON}: start one of them.")
    helped = {"help", "-h", "--help"}
    if name in helped or (helped & set(words) and not (HERE / ".venv").exists()):
        return print(f"Usage: {typed('COMMAND')} ...\n\n{__doc__}")
    if name in COMMANDS:
        return COMMANDS[name](words)
    print(f"No command {name!r}: there are {', '.join(COMMANDS)}.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (KeyboardInterrupt, OSError) as error:
        sys.exit(f"Stopped: {str(error) or 'as you asked'}. `{typed(*sys.argv[1:])}` goes on from here.")
