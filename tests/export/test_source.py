"""`coverage`: which lines ran, which left operators, which left no trace, and what was baked in."""

import ast
import inspect
import re
import sys
from functools import cache

import pytest
import torch
from torch import nn

from torchcourse.export import Coverage, coverage
from torchcourse.export._statements import Values, literals, statements

from . import sourced

EXAMPLE = torch.ones(3, 4)
LINES = inspect.getsource(sourced).splitlines()


@cache
def found(name: str, way: str) -> Coverage:
    return coverage(getattr(sourced, name)(), (EXAMPLE,), way)


def line(text: str) -> int:
    """The number of the line of `sourced` that holds this text."""
    numbers = [k for k, one in enumerate(LINES, 1) if text in one]
    assert len(numbers) == 1, text
    return numbers[0]


def kind(seen: Coverage, text: str) -> str:
    number = line(text)
    return next(one.kind for s in seen.sources for one in s.lines if one.number == number)


def row(seen: Coverage, text: str):
    number = line(text)
    return next(one for s in seen.sources for one in s.lines if one.number == number)


@pytest.mark.parametrize("way", ["trace", "export"])
def test_what_became_of_each_line(way):
    seen = found("Net", way)
    kinds = {
        'print("batch of", len(x))': "no trace",
        "assert x.ndim == 2": "no trace",
        "# a comment": "plain",
        '"""Not a line that runs."""': "plain",
        "if x.shape[0] > 1:": "no trace",
        "y = self.head(x)": "traced",
        "return y\n": "",
        "for i in range(x.shape[0]):": "traced",
        "y = y + i": "traced",
        "n = len(x) * 4": "no trace",
        "y = y.reshape(n)": "traced",
        "* 5": "traced",
        "return y.reshape(-1, 4) + self.table": "traced",
        "h = self.lin(x)": "traced",
        "return h.relu()": "traced",
    }
    assert {text: kind(seen, text) for text in kinds if kinds[text]} == {t: k for t, k in kinds.items() if k}
    start = line("y = self.head(x)")
    assert [seen.line(start + k).kind for k in (1, 2, 3)] == ["not taken"] * 3  # else, its two lines
    assert seen.refused == "" and seen.operators == sum(n.kind == "operator" for n in seen.nodes)


@pytest.mark.parametrize("way", ["trace", "export"])
def test_notes_say_what_a_line_did_once(way):
    seen = found("Net", way)
    assert row(seen, 'print("batch').note == "printed once"
    assert row(seen, "assert x.ndim").note == "checked once"
    assert row(seen, "if x.shape[0] > 1:").note == "decided for this example"
    assert row(seen, "for i in range(x.shape[0])").note == "the example decides how often"


@pytest.mark.parametrize("way", ["trace", "export"])
def test_loops_are_counted(way):
    seen = found("Net", way)
    loop = row(seen, "for i in range(x.shape[0])")
    assert loop.rounds == (3,) and loop.unrolled and len(loop.nodes) == 3
    nested = found("Nested", way)
    assert row(nested, "for i in range(2)").rounds == (2,)
    assert row(nested, "for _ in range(3)").rounds == (3, 3)
    assert row(nested, "for _ in range(4)").rounds == (4,)
    assert len(row(nested, "for _ in range(4)").nodes) == 4
    still = row(nested, "while k < 5")
    assert still.rounds == (5,) and not still.unrolled and still.kind == "no trace"


@pytest.mark.parametrize("way", ["trace", "export"])
def test_what_was_baked_in(way):
    baked = found("Net", way).baked
    assert [(b.value, b.kind, b.at[1]) for b in baked] == [
        ("0", "loop", line("y = y + i")),
        ("1", "loop", line("y = y + i")),
        ("2", "loop", line("y = y + i")),
        ("12", "example", line("y = y.reshape(n)")),
        ("[0, 1, 2, 3]", "tensor", line("return y.reshape(-1, 4) + self.table")),
    ]
    assert "`n`" in baked[3].how and "`table`, which is no buffer" in baked[4].how


@pytest.mark.parametrize("way", ["trace", "export"])
def test_nodes_lead_to_lines_and_modules(way):
    seen = found("Net", way)
    linear = next(node for node in seen.nodes if node.op == "aten::linear")
    assert linear.reads == ("head.lin.weight", "head.lin.bias") and linear.size == "[3, 4]"
    assert linear.module == "head.lin" and linear.dtype == "float32"
    assert [number for _, number in linear.at] == [line("y = self.head(x)"), line("h = self.lin(x)")]
    assert seen.sources[1].name == "Head.forward" and seen.sources[1].modules == ("head",)
    assert [node.kind for node in seen.nodes][:1] == ["input"] and seen.nodes[-1].kind == "output"
    assert all(i < node.id for node in seen.nodes for i in node.inputs)


def test_open_sizes_are_not_baked_in():
    dynamic = ({0: torch.export.Dim.DYNAMIC},)

    class Open(nn.Module):
        def forward(self, x):
            return x.reshape(x.shape[0] * 4) * x.shape[0]

    seen = coverage(Open(), (EXAMPLE,), dynamic_shapes=dynamic)
    assert seen.baked == () and isinstance(seen.nodes[0].shape[0], str)
    assert {b.value for b in coverage(Open(), (EXAMPLE,)).baked} == {"12", "3"}


def test_both_branches_of_cond_are_in_the_graph():
    seen = found("Cond", "export")
    assert kind(seen, "return x + 1") == kind(seen, "return x - 1") == "traced"
    parts = {node.op: node.part for node in seen.nodes if node.part}
    assert parts == {"aten::add": "true branch", "aten::sub": "false branch"}
    cond = next(node for node in seen.nodes if node.op == "cond")
    assert {seen.nodes[i].op for i in cond.inputs} >= {"aten::gt", "aten::add", "aten::sub"}


def test_a_block_without_grad_is_its_operators():
    seen = found("Still", "export")
    ops = [(node.op, node.inputs, node.reads, node.part) for node in seen.nodes]
    assert ops == [
        ("x", (), (), ""),
        ("aten::mul", (0,), (), ""),
        ("aten::linear", (1,), ("lin.weight", "lin.bias"), ""),
        ("aten::chunk", (2,), (), ""),
        ("aten::add", (3, 1), (), ""),
        ("output", (4,), (), ""),
    ]
    assert kind(seen, "_a, b = self.lin(y).chunk(2)") == "traced"


def test_a_refusal_names_the_line_and_judges_no_other():
    seen = found("ByValue", "export")
    assert seen.refused.startswith("Data-dependent branch") and seen.nodes == seen.baked == ()
    assert kind(seen, "if y.sum() > 0:") == "stopped"
    assert {one.kind for s in seen.sources for one in s.lines} == {"stopped", "plain"}
    assert "made no graph" in str(seen) and "Graph:" not in str(seen)
    assert found("ByValue", "trace").refused == ""


@pytest.mark.parametrize("way", ["trace", "export"])
def test_a_model_that_fails_is_refused_by_every_way(way):
    seen = found("Late", way)
    assert seen.refused and kind(seen, "return y @ torch.ones(7)") == "stopped"


def test_forwards_without_lines_say_so():
    model = nn.Sequential(sourced.Head(), nn.ReLU(), sourced.Head())
    seen = coverage(model, EXAMPLE, "trace")
    assert seen.sources[0].why == "Sequential.forward is PyTorch's own, so the graph stands alone."
    assert seen.sources[1].modules == ("0", "2") and len(row(seen, "return h.relu()").nodes) == 2
    assert "lambda" in found("Lambda", "trace").sources[0].why
    assert found("Lambda", "trace").operators == 1


def test_source_that_is_gone_says_so():
    scope: dict = {"nn": nn}
    # allowed: the only way to a class whose source is nowhere
    exec("class Gone(nn.Module):\n    def forward(self, x):\n        return x + 1\n", scope)
    seen = coverage(scope["Gone"](), EXAMPLE, "trace")
    assert "is not available" in seen.sources[0].why and seen.operators == 1


def test_a_script_module_says_so():
    seen = coverage(torch.jit.trace(nn.Linear(4, 4), EXAMPLE), EXAMPLE, "export")
    assert seen.refused and seen.sources[0].why


def test_looking_changes_nothing(capfd):
    model, late, net = sourced.Noisy().train(), sourced.Late(), sourced.Net()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state, tracer = torch.get_rng_state(), sys.gettrace()
    for way in ("trace", "export"):
        assert not coverage(model, EXAMPLE, way).refused
        coverage(late, EXAMPLE, way)
    coverage(net, EXAMPLE, "trace")
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state) and sys.gettrace() is tracer
    assert model.training and not model._forward_hooks
    assert capfd.readouterr() == ("", "")


def test_the_twin_is_the_same_every_time_and_names_no_file():
    once, again = (str(coverage(sourced.Net(), EXAMPLE, "trace")) for _ in range(2))
    assert once == again and not re.search(r"0x[0-9a-f]{6}|\.py", once)
    assert "not taken when exported" in once and "unrolled ×3" in once and "baked in: 12" in once


def test_a_long_loop_has_a_short_twin():
    class Long(nn.Module):
        def forward(self, x):
            for i in range(1500):
                x = x + i
            return x

    text = str(coverage(Long(), EXAMPLE, "trace"))
    assert "unrolled ×1,500" in text and "1,500 constants baked in" in text
    assert (
        "baked in: 0, 1, 2, … 1,496 more …, 1499" in text
        and "more nodes" in text
        and "more constants" in text
    )
    assert len(text) < 40_000 and max(map(len, text.splitlines())) < 200


def test_bad_calls_get_a_sentence():
    with pytest.raises(TypeError, match=r"takes a model, an nn\.Module, not a dict"):
        coverage({}, EXAMPLE)
    with pytest.raises(TypeError, match=r"got the class ReLU: make one, ReLU"):
        coverage(nn.ReLU, EXAMPLE)
    with pytest.raises(TypeError, match=r"tuple of the model's arguments, \(x,\), not a list"):
        coverage(nn.ReLU(), [EXAMPLE])
    with pytest.raises(ValueError, match=r"no way 'magic' that knows lines\. There are: trace, "):
        coverage(nn.ReLU(), EXAMPLE, "magic")
    with pytest.raises(ValueError, match="has no line 1"):
        found("Net", "trace").line(1)
    with pytest.raises(ValueError, match="no source 9; the sources are 0 to 1"):
        found("Net", "trace").line(1, 9)


# --- the parts -----------------------------------------------------------------------------------------


def parsed(text: str):
    return ast.parse(text).body[0]


def test_statements_cover_each_line_of_code_once():
    text = (
        "def f(x):\n    if x:\n        a = 1\n    elif x > 1:\n        b = 2\n    else:\n        c = (\n"
        "            3)\n    try:\n        d = 1\n    except ValueError:\n        e = 1\n    finally:\n        g = 1\n"
        "    with x:\n        h = 1\n    match x:\n        case 1:\n            i = 1\n    return x\n"
    )
    steps = statements(parsed(text))
    for number in range(2, 21):
        assert sum(number in step for step in steps) == 1, number
    opener = next(step for step in steps if 6 in step)
    assert opener.node is None and opener.follows == 7


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("y.view(x.shape[0], -1)", "x.shape[0]"),
        ("y + len(x)", "len(x)"),
        ("y * x.sum().item()", "x.sum().item()"),
        ("y + n", "n"),
        ("y + b + t", "b, t"),
        ("y * self.weight.shape[0]", ""),
        ("y + len(self.layers)", ""),
        ("y + 3", ""),
        ("y + z", ""),
    ],
)
def test_what_reads_the_example(text, reads):
    body = "def f(self, x):\n    n = len(x) // 2\n    b, t = x.shape\n    z = x.view(x.shape[0], -1)\n"
    values = Values(parsed(body))
    assert values.reads(parsed(text)) == reads


def test_literals_have_no_sign():
    assert literals(parsed("y.view(-1, 3) * 2.5")) == {1.0, 3.0, 2.5}
