"""run.py: the two commands, and each way in which a set-up goes wrong. Commands are recorded, not run;
the slow test at the end runs a real pip against a network that does not answer."""

import ast
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[1]
RUN = ROOT / "run.py"
WINDOWS = os.name == "nt"


# As many processes as there are cores, four at most; tests that share a kernel or a page stay together.
IN_PROCESSES = ("-n", "logical", "--maxprocesses", "4", "--no-loadscope-reorder")


class Machine:
    """A checkout whose run.py starts nothing: every command is written down and answered from a list."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.commands, self.pip_answers, self.log = folder, [], [], ""
        spec = importlib.util.spec_from_file_location("run_under_test", folder / "run.py")
        self.run = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.run)
        monkeypatch.setattr(self.run, "call", self.call)
        monkeypatch.setattr(self.run, "become", self.call)
        monkeypatch.setattr(self.run, "wants_cpu_wheels", lambda: False)
        monkeypatch.setattr(sys, "argv", ["run.py", "lab"])

    def call(self, *command):
        words = [str(word) for word in command]
        self.commands.append(words[1:])
        if words[1:3] == ["-m", "venv"]:
            self.python.parent.mkdir(parents=True)
            self.python.write_text("")
        if words[1:3] == ["-m", "pip"]:
            return self.answer(words)
        return 0

    def answer(self, words):
        if "--log" in words:
            Path(words[words.index("--log") + 1]).write_text(self.log)
        answer = self.pip_answers.pop(0) if self.pip_answers else 0
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def home(self):
        return self.folder / ".venv"

    @property
    def python(self):
        return self.home / ("Scripts/python.exe" if WINDOWS else "bin/python")

    def ran(self, *start):
        return [words for words in self.commands if words[: len(start)] == list(start)]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    folder = tmp_path / "Mein Kurs für März"
    (folder / "torchcourse").mkdir(parents=True)
    for name in ("run.py", "pyproject.toml", "torchcourse/_setup.py"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("CONDA_PREFIX", "CONDA_DEFAULT_ENV", "TORCHCOURSE_TORCH", "PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, "")  # so that what run.py sets is taken back, too
        monkeypatch.delenv(name)
    return Machine(folder, monkeypatch)


def sentence(machine, *words):
    with pytest.raises(SystemExit) as stopped:
        machine.run.main(*words)
    return str(stopped.value.code)


def test_is_one_short_file_that_an_old_python_can_read():
    text = RUN.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    tree = ast.parse(text, feature_version=(3, 6))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported and {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


def test_holds_no_second_list_of_packages():
    text = RUN.read_text(encoding="utf-8")
    for name in ("numpy", "ipykernel", "anywidget", "hypothesis", "nbclient", "playwright", "jupyterlab>"):
        assert name not in text


@pytest.mark.parametrize("version", ["3.6", "3.10", "3.14"])
def test_another_python_gets_one_sentence(machine, monkeypatch, version):
    monkeypatch.setattr(machine.run, "PYTHON", version)
    told = sentence(machine, "lab")
    assert version in told and "3.11, 3.12, 3.13" in told and "\n" not in told
    assert machine.commands == []


def test_real_other_pythons_get_it_too():
    """Those that are found on the PATH, or that pyenv keeps."""
    found = {shutil.which(f"python3.{minor}") for minor in (6, 7, 8, 9, 10, 14)} - {None}
    found |= {str(path) for path in Path.home().glob(".pyenv/versions/3.*/bin/python")}
    asked = 0
    for python in sorted(found):
        version = subprocess.run([python, "--version"], capture_output=True, text=True).stdout
        if version.startswith("Python 3.") and not version.startswith(
            ("Python 3.11", "Python 3.12", "Python 3.13")
        ):
            done = subprocess.run([python, str(RUN), "lab"], capture_output=True, text=True)
            assert done.returncode == 1 and "torchcourse runs on Python" in done.stderr
            assert len(done.stderr.splitlines()) == 1
            asked += 1
    if not asked:
        pytest.skip("no other Python than the supported ones on this machine")


def test_help_and_an_unknown_command():
    helped = subprocess.run([sys.executable, str(RUN)], capture_output=True, text=True)
    assert helped.returncode == 0 and "--reset" in helped.stdout
    wrong = subprocess.run([sys.executable, str(RUN), "lap"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "'lap'" in wrong.stderr and "test-cuda" in wrong.stderr


def test_the_first_lab_sets_up_and_the_second_only_opens(machine):
    assert machine.run.main("lab", "--no-browser") == 0
    assert len(machine.ran("-m", "venv")) == 1
    (installed,) = machine.ran("-m", "pip", "install")
    assert installed[-3:] == ["torch==2.13.*", "-e", ".[lab]"]
    assert machine.commands[-1] == ["-m", "torchcourse._lab", "--no-browser"]
    machine.commands.clear()
    machine.run.main("lab")
    assert machine.commands == [["-m", "torchcourse._lab"]]


def test_lab_serves_after_test_but_not_test_after_lab(machine):
    machine.run.main("lab")
    machine.run.main("test")
    machine.run.main("bench")
    assert [words[-1] for words in machine.ran("-m", "pip")] == [".[lab]", ".[test]", ".[bench]"]
    machine.run.main("lab")
    machine.run.main("test")
    assert len(machine.ran("-m", "pip")) == 3


def test_a_folder_of_wheels_stands_for_the_network(machine, monkeypatch):
    monkeypatch.setattr(machine.run, "wants_cpu_wheels", lambda: pytest.fail("the network was asked"))
    assert machine.run.main("lab", "--wheels", "die Räder", "--teach", "01") == 0
    checked, folder = machine.commands[0], machine.folder / "die Räder"
    assert checked == ["-m", "torchcourse._wheels", "--torch", "torch==2.13.*", "--check", str(folder)]
    assert os.environ["PIP_NO_INDEX"] == "1" and os.environ["PIP_FIND_LINKS"] == folder.as_uri()
    assert " " not in os.environ["PIP_FIND_LINKS"], "pip splits at blanks"
    assert machine.commands[-1] == ["-m", "torchcourse._lab", "--teach", "01"]


def test_a_folder_of_wheels_that_does_not_fit_sets_nothing_up(machine, monkeypatch):
    monkeypatch.setattr(machine.run, "call", lambda *words: machine.call(*words) or int("--check" in words))
    assert machine.run.main("lab", "--wheels", "old") == 1
    assert len(machine.commands) == 1 and not machine.home.exists() and "PIP_NO_INDEX" not in os.environ


@pytest.mark.parametrize("cpu", [True, False])
def test_download_makes_no_environment(machine, monkeypatch, cpu):
    monkeypatch.setattr(machine.run, "wants_cpu_wheels", lambda: cpu)
    assert machine.run.main("download", "wheels", "--python", "3.12") == 0
    index = ["--index", machine.run.CPU_WHEELS] if cpu else []
    start = ["-m", "torchcourse._wheels", "--torch", "torch==2.13.*"]
    assert machine.commands == [[*start, *index, "wheels", "--python", "3.12"]]


@pytest.mark.parametrize(
    ("words", "started"),
    [
        (["test", "-x"], ["-m", "pytest", *IN_PROCESSES, "-x"]),
        (["test", "-x", "--slow"], ["-m", "pytest", *IN_PROCESSES, "-x", "--slow"]),
        (["test-cuda"], ["-m", "pytest", "tests/notebooks", "--cuda", "-k", "nbval"]),
        (["bench"], ["-m", "pytest", "tests/benchmarks", "-s"]),
        (["write", "index"], ["-m", "tests.notebooks.write", "index"]),
        (["site"], ["-m", "web"]),
        (["class", "--learners", "3"], ["-m", "classroom", "--learners", "3"]),
        (["versions", "newest"], ["-m", "tests.versions", "newest"]),
    ],
)
def test_the_other_commands(machine, words, started):
    assert machine.run.main(*words) == 0
    assert machine.commands[-1] == started


def test_a_lane_without_tests_says_so_and_fails(machine, monkeypatch, capsys):
    monkeypatch.setattr(machine.run, "call", lambda *words: 5 if "pytest" in words else machine.call(*words))
    assert machine.run.main("bench") == 5
    assert "Not one test" in capsys.readouterr().err


def test_an_interrupted_set_up_is_made_anew(machine):
    machine.pip_answers = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        machine.run.main("lab")
    (machine.home / "half-a-package").mkdir()
    machine.run.main("lab")
    assert not (machine.home / "half-a-package").exists()
    assert len(machine.ran("-m", "venv")) == 2
    machine.run.main("lab")
    assert len(machine.ran("-m", "pip")) == 2


def test_a_failed_update_keeps_what_there_was_and_is_tried_again(machine):
    machine.run.main("lab")
    with (machine.folder / "pyproject.toml").open("a") as file:
        file.write("\n# another list of packages\n")
    machine.pip_answers = [1]
    machine.log = "Failed to establish a new connection: [Errno 101] Network is unreachable"
    told = sentence(machine, "lab")
    assert "network" in told and str(machine.home) in told and "run.py lab" in told
    machine.run.main("lab")
    assert len(machine.ran("-m", "venv")) == 1 and len(machine.ran("-m", "pip")) == 3


def test_a_failed_change_of_python_does_not_pass_for_the_old_environment(machine, monkeypatch):
    machine.run.main("lab")
    with monkeypatch.context() as other:
        other.setattr(machine.run, "PYTHON", "3.12" if machine.run.PYTHON != "3.12" else "3.13")
        machine.pip_answers = [1]
        sentence(machine, "lab")
    machine.run.main("lab")
    assert len(machine.ran("-m", "venv")) == 3 and len(machine.ran("-m", "pip")) == 3


def test_a_failure_of_pip_gets_its_reason(machine):
    machine.pip_answers, machine.log = [1], "OSError: [Errno 28] No space left on device"
    told = sentence(machine, "lab")
    assert "disk is full" in told and "\n" not in told and str(machine.home) in told


@pytest.mark.parametrize("words", [("class", "--help"), ("lab", "-h")])
def test_help_sets_nothing_up(machine, capsys, words):
    machine.run.main(*words)
    assert machine.commands == [] and not machine.home.exists() and "--teach" in capsys.readouterr().out


def test_two_set_ups_at_once_do_not_ruin_each_other(machine, monkeypatch):
    other = Machine(machine.folder, monkeypatch)

    def meanwhile(*command):
        if "pip" in command:
            assert "Another run.py is setting up here" in sentence(other, "class")
        return machine.call(*command)

    monkeypatch.setattr(machine.run, "call", meanwhile)
    assert machine.run.main("lab") == 0 and other.commands == []
    assert other.run.main("class") == 0  # the lock went with the set-up


def test_another_python_or_torch_or_folder_is_noticed(machine, monkeypatch):
    machine.run.main("lab")
    monkeypatch.setattr(machine.run, "PYTHON", "3.12" if machine.run.PYTHON != "3.12" else "3.13")
    machine.run.main("lab")
    assert len(machine.ran("-m", "venv")) == 2
    monkeypatch.setattr(machine.run, "TORCH", "torch==2.9.*")
    machine.run.main("lab")
    assert len(machine.ran("-m", "venv")) == 2 and "torch==2.9.*" in machine.ran("-m", "pip")[-1]


def test_somebody_elses_environment_is_not_emptied(machine):
    (machine.home / "theirs").mkdir(parents=True)
    assert "rename it" in sentence(machine, "lab")
    assert (machine.home / "theirs").exists() and machine.commands == []


def test_no_ensurepip_names_the_debian_package(machine, monkeypatch):
    monkeypatch.setattr(machine.run.importlib.util, "find_spec", lambda name: None)
    assert f"apt install python{machine.run.PYTHON}-venv" in sentence(machine, "lab")


def test_a_full_disk_is_told_before_anything_is_made(machine, monkeypatch):
    usage = type("Usage", (), {"free": 10**6})
    monkeypatch.setattr(machine.run.shutil, "disk_usage", lambda path: usage)
    assert "disk is full" in sentence(machine, "lab") and not machine.home.exists()


def test_an_intel_mac_is_told_where_to_go(machine, monkeypatch):
    monkeypatch.setattr(machine.run.sys, "platform", "darwin")
    monkeypatch.setattr(machine.run.platform, "machine", lambda: "x86_64")
    assert "Intel Macs" in sentence(machine, "lab") and machine.commands == []


def test_windows_paths_and_the_py_launcher(machine, monkeypatch):
    monkeypatch.setattr(machine.run, "WINDOWS", True)
    monkeypatch.setattr(machine.run, "LOCKS", SimpleNamespace(LK_NBLCK=2, locking=lambda *how: None))
    monkeypatch.setattr(machine.run.shutil, "which", lambda name: f"C:\\{name}.exe")
    assert machine.run.typed("lab") == "py run.py lab"
    machine.pip_answers = [1]
    assert "`py run.py lab`" in sentence(machine, "lab")


@pytest.mark.parametrize("has_torch", [True, False])
def test_an_active_conda_environment_is_used_and_its_torch_is_kept(machine, monkeypatch, has_torch):
    prefix = machine.folder / "conda"
    python = prefix / ("python.exe" if WINDOWS else "bin/python")
    python.parent.mkdir(parents=True)
    python.write_text("")
    monkeypatch.setenv("CONDA_PREFIX", str(prefix))
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "torchcourse")
    asks = lambda *words: int(not has_torch) if words[1] == "-c" else machine.call(*words)  # noqa: E731
    monkeypatch.setattr(machine.run, "call", asks)
    machine.run.main("lab")
    (installed,) = machine.ran("-m", "pip", "install")
    assert ("torch==2.13.*" in installed) is not has_torch
    assert not machine.home.exists() and not machine.ran("-m", "venv")
    machine.run.main("lab")
    assert len(machine.ran("-m", "pip")) == 1


def test_conda_base_is_left_alone(machine, monkeypatch):
    monkeypatch.setenv("CONDA_PREFIX", str(machine.folder / "conda"))
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "base")
    machine.run.main("lab")
    assert machine.python.exists()


def test_cpu_wheels_are_taken_alone_and_a_failure_goes_on_at_once(machine, monkeypatch):
    monkeypatch.setattr(machine.run, "wants_cpu_wheels", lambda: True)
    machine.pip_answers = [1, 0]
    assert machine.run.main("lab") == 0
    alone, rest = machine.ran("-m", "pip")
    assert "--no-deps" in alone and alone[-2:] == [machine.run.CPU_WHEELS, "torch==2.13.*"]
    assert "--index-url" not in rest and rest[-1] == ".[lab]"


@pytest.mark.skipif(WINDOWS, reason="Windows has no SIGTERM to pass on")
def test_ending_run_py_ends_what_it_started(tmp_path):
    starts = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import run; "
    child = "import time; print('up', flush=True); time.sleep(60)"
    code = starts + f"sys.exit(run.call(sys.executable, '-c', {child!r}))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "up\n"
    process.terminate()
    assert process.wait(timeout=30) == 256 - signal.SIGTERM


def test_continuous_integration_runs_both_test_commands_and_hides_no_error():
    script = ROOT / ".ci" / "run"
    text = script.read_text(encoding="utf-8")
    assert "set -euo pipefail" in text and "export CI=true" in text and "|| true" not in text
    assert "\npython3 run.py test\n" in text and "\npython3 run.py test --slow || slow=$?\n" in text
    assert WINDOWS or subprocess.run(["bash", "-n", str(script)]).returncode == 0


@pytest.mark.slow
def test_a_real_pip_without_network_ends_in_a_sentence_and_the_next_call_starts_anew(tmp_path):
    folder = tmp_path / "Mein Kurs für März"
    folder.mkdir()
    for name in ("run.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    nowhere = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "0",
    }
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "CONDA_"))}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "run.py", "lab"],
            cwd=folder,
            env={**kept, **nowhere},
            capture_output=True,
            text=True,
            timeout=300,
        )
        last = done.stderr.strip().splitlines()[-1]
        assert done.returncode == 1 and "the network failed" in last and "run.py lab` again" in last
        assert "Traceback" not in done.stderr
