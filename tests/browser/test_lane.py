"""The lane is tested: each small notebook here has one fault, and the lane has to turn red for it."""

import inspect
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser

from . import checks, chromium, lab
from .lab import Lab
from .page import Limits
from .visit import visit

QUICK = Limits(show=5)
Visit = Callable[..., set[str]]


def widget(render: str) -> str:
    """A cell that shows a widget with this front end."""
    module = f"export default {{ render({{ el }}) {{ {render} }} }}"
    return f"import anywidget\nclass Small(anywidget.AnyWidget):\n    _esm = {module!r}\nSmall()"


SOUND = """
el.innerHTML = "<section class='tc-card' aria-label='Numbers'><button>one</button></section>";
"""


@pytest.fixture
def seen(browser: Browser, jupyter: Lab, request: pytest.FixtureRequest) -> Visit:
    """Writes a notebook of the cells given, visits it, and says which kinds of fault were found."""

    def visit_cells(*sources: str, limits: Limits = QUICK) -> set[str]:
        name = f"{request.node.name}.ipynb"
        kernel = {"name": "torchcourse-cpu", "display_name": "torchcourse (CPU)", "language": "python"}
        cells = [nbformat.v4.new_code_cell(inspect.cleandoc(source)) for source in sources]
        nbformat.write(
            nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), jupyter.root / name
        )
        findings = visit(browser, jupyter, name, limits=limits)
        print(*findings, sep="\n")
        return {finding.kind for finding in findings}

    return visit_cells


def test_sound(seen: Visit) -> None:
    assert seen("1 + 1", widget(SOUND)) == set()


def test_cell_raises(seen: Visit) -> None:
    assert seen("1 / 0") == {"error"}


def test_cell_writes_to_stderr(seen: Visit) -> None:
    assert seen("import warnings; warnings.warn('old')") == {"stderr"}


def test_widget_throws(seen: Visit) -> None:
    assert "console" in seen(widget("throw new Error('broken')"))


def test_widget_does_not_show(seen: Visit) -> None:
    assert seen(widget("el.innerHTML = '<p style=\"display: none\">here</p>'")) == {"view"}


def test_request_leaves(seen: Visit) -> None:
    image = 'from IPython.display import HTML\nHTML(\'<img alt="x" src="http://192.0.2.1/x.png">\')'
    assert "network" in seen(image)


def test_view_with_a_barrier(seen: Visit) -> None:
    assert seen(widget("el.innerHTML = '<input>'")) == {"axe"}


def test_view_too_wide(seen: Visit) -> None:
    assert seen(widget("el.innerHTML = '<button style=\"width: 900px\">wide</button>'")) == {"narrow"}


def test_kernel_dies(seen: Visit) -> None:
    assert "kernel" in seen("import os; os._exit(1)")


def test_cell_hangs(seen: Visit) -> None:
    assert "late" in seen("import time; time.sleep(600)", limits=Limits(run=4))


# --- without a browser -------------------------------------------------------------------------------


def test_no_chromium_is_a_skip_and_on_ci_a_failure(tmp_path: Path) -> None:
    assert chromium.find({"PATH": str(tmp_path)}) is None
    with pytest.raises(chromium.ChromiumError, match="CI=true"):
        chromium.find({"PATH": str(tmp_path), "CI": "true"})


def test_named_chromium_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(chromium.ChromiumError, match="TORCHCOURSE_CHROMIUM"):
        chromium.find({"TORCHCOURSE_CHROMIUM": str(tmp_path / "none")})


@pytest.mark.parametrize(
    "address",
    [
        "https://cdn.jsdelivr.net/x.js",
        "http://192.0.2.1/",
        "wss://example.org/",
        "http://127.0.0.1.example.org/",
    ],
)
def test_foreign_address(address: str) -> None:
    assert [finding.kind for finding in checks.left_machine([address])] == ["network"]


def test_own_addresses() -> None:
    own = [
        "http://127.0.0.1:8888/lab",
        "ws://127.0.0.1:8888/api",
        "data:image/png;base64,",
        "blob:http://127.0.0.1:1/2",
    ]
    assert checks.left_machine(own) == []


def test_lab_that_does_not_start(tmp_path: Path) -> None:
    with (
        pytest.raises(lab.LabError, match="ended at once"),
        lab.running(tmp_path / "missing", tmp_path / "state"),
    ):
        pass
