"""The checks that run no code of ours: format, lint, types, and the direction of imports."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "torchcourse").rglob("*.py"))


def run(*command):
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("command", ["check", "format --check"])
def test_ruff(command):
    code = ("torchcourse", "tests", "web", "classroom", "notebooks", "run.py")
    run(sys.executable, "-m", "ruff", *command.split(), *code)


def test_types():
    run(sys.executable, "-m", "mypy")


def test_imports_run_down_only():
    program = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or "lint-imports"
    assert "1 kept, 0 broken" in run(program)


def test_importing_torchcourse_imports_no_torch():
    run(sys.executable, "-c", "import sys, torchcourse; dir(torchcourse); sys.exit('torch' in sys.modules)")


def test_every_name_of_the_package_is_there():
    import torchcourse

    for name in torchcourse.__all__:
        assert getattr(torchcourse, name) is not None
    with pytest.raises(AttributeError, match=r"torchcourse has no 'explode'\. It has: .*device, "):
        torchcourse.explode


@pytest.mark.parametrize("path", SOURCES, ids=[str(p.relative_to(ROOT)) for p in SOURCES])
def test_dangerous_calls_say_why_they_are_allowed(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if not isinstance(node, ast.Call) or not _dangerous(node):
            continue
        here = lines[max(0, node.lineno - 2) : node.end_lineno]
        assert any("# allowed:" in line for line in here), f"{path.name}:{node.lineno}: {ast.unparse(node)}"


def _dangerous(call):
    """eval and its kind by name; load and loads only of pickle, marshal, shelve and torch; a shell by its flag."""
    if any(
        k.arg == "shell" and not (isinstance(k.value, ast.Constant) and k.value.value is False)
        for k in call.keywords
    ):
        return True
    name = ast.unparse(call.func)
    if name in ("eval", "exec", "compile", "__import__", "os.system", "os.popen"):
        return True
    if name == "torch.load":
        safe = [k for k in call.keywords if k.arg == "weights_only"]
        return not (safe and isinstance(safe[0].value, ast.Constant) and safe[0].value.value is True)
    return bool(re.match(r"(c?[pP]ickle|marshal|shelve)\.(loads?|open|_?Unpickler)$", name))


def test_nothing_names_a_machine():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [
        n for n in tracked.stdout.split("\0") if n.endswith((".py", ".md", ".ipynb", ".toml", ".yml", ".js"))
    ]
    pattern = re.compile(r"(^|[^A-Za-z0-9_.~-])/(tmp|work|root)/[A-Za-z0-9_]")
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        found = [line for line in text.splitlines() if pattern.search(line) and "/tmp/ipykernel_" not in line]
        assert not found, f"{name}: {found[0][:120]}"
