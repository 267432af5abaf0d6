"""The card, and the switch that puts one under each traceback in IPython."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from torchcourse.errors import explain
from torchcourse.widgets import explanation
from torchcourse.widgets.explanation import ExplanationCard, explain_errors, view

FAILS = "import torch; left, right = torch.zeros(2, 3), torch.zeros(2, 3)\nleft @ right"


@pytest.fixture
def shell(monkeypatch):
    shown = []
    shell = InteractiveShell()
    monkeypatch.setattr(explanation, "running_shell", lambda: shell)
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    shell.shown = shown
    yield shell
    shell.history_manager.end_session()


def test_a_card_under_each_traceback(shell, capsys):
    explain_errors()
    explain_errors()
    shell.run_cell("1 + 1")
    assert shell.shown == []
    shell.run_cell(FAILS)
    assert "RuntimeError" in capsys.readouterr().out  # the traceback is there
    (bundle,) = shell.shown
    assert "left is float32 [2, 3] on cpu" in bundle["text/plain"]
    assert bundle["text/html"].startswith("<details") and " open" not in bundle["text/html"][:400]
    explain_errors(False)
    explain_errors(on=False)
    shell.run_cell(FAILS)
    assert len(shell.shown) == 1


def test_nothing_is_hidden_and_nothing_raised(shell, monkeypatch, capsys):
    explain_errors()
    monkeypatch.setattr(explanation, "explain", lambda error: 1 / 0)
    result = shell.run_cell(FAILS)
    assert isinstance(result.error_in_exec, RuntimeError) and shell.shown == []
    assert "ZeroDivisionError" not in capsys.readouterr().out
    shell.run_cell("raise KeyboardInterrupt")
    assert shell.shown == []


def test_outside_ipython_it_does_nothing(monkeypatch):
    monkeypatch.setattr(explanation, "running_shell", lambda: None)
    assert explain_errors() is None


def test_the_card_is_escaped():
    card = view(
        explain("RuntimeError: CUDA out of memory <script>alert(1)</script><img src=x onerror=y> &lt;b&gt;")
    )
    html = card._repr_mimebundle_()["text/html"]
    assert "<script" not in html and "<img" not in html and "<b>" in html
    assert str(card) == card._repr_mimebundle_()["text/plain"] == repr(card)


def test_an_unknown_error_has_a_card_that_says_so():
    html = ExplanationCard(explain(KeyError("price"))).html()
    assert "Not known" in html and "<details" in html
