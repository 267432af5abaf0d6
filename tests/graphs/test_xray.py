"""The xray's rows and their static picture: right figures, honest names, bounded size, the same bytes."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import torch

from torchcourse.graphs.xray import Item, pairs, scene, svg
from torchcourse.graphs.xray.scene import MOST_ITEMS, MOST_LINES
from torchcourse.layers import Operator, Output, Trace, compare, xray

SCRIPT = """
import torch
from torchcourse.graphs.xray import pairs, scene, svg
from torchcourse.layers import compare, xray
x = torch.arange(12.0).reshape(3, 4)
def work():
    y = x.t().reshape(12)
    y.add_(1).sum().item()
print(svg(scene(xray(work))), svg(pairs(compare(work, lambda: x.t()))))
"""


def chips(item: Item) -> list[str]:
    return [chip.words for chip in item.chips]


def rows_of(items: tuple[Item, ...]) -> list[Item]:
    return [row for item in items for row in (item, *rows_of(item.inside))]


def sketch():
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    with xray() as seen:
        y = x.t()
        z = y.reshape(12)
        z.detach().add_(1)
        z.sum().item()
    return seen


def long_trace(lines: int, operators: int) -> Trace:
    """So many operators on each line, no two alike."""
    output = Output("new", 48, (4, 3), torch.float32, torch.device("cpu"), (3, 1), 0, 0)
    made = [
        Operator(f"aten::op{k}", depth, line, None, (output,), (0,), True)
        for line in range(1, lines + 1)
        for k in range(operators // 2)
        for depth in (0, 1)
    ]
    return Trace(operators=tuple(made), source=tuple((n, f"y = f({n})") for n in range(1, lines + 1)))


def test_one_row_a_line_with_its_sums():
    seen = sketch()
    shown = scene(seen)
    assert [item.name for item in shown.lines] == [
        "y = x.t()", "z = y.reshape(12)", "z.detach().add_(1)", "z.sum().item()",
    ]  # fmt: skip
    assert sum(item.operators for item in shown.lines) == len(seen.operators)
    assert sum(item.new_bytes for item in shown.lines) == seen.new_bytes
    assert [item.node_count for item in shown.lines] == [1, 2, 0, 1]
    assert [item.waits for item in shown.lines] == [(), (), (), (".item()",)]
    n = len(seen.operators)
    assert shown.title == f"xray · 4 lines · {n} operators · 4 nodes · 1 wait"


def test_every_operator_has_a_row_under_its_line():
    seen = sketch()
    for item in scene(seen).lines:
        names = [row.name for row in rows_of(item.inside)]
        assert names == [operator.name for operator in seen.operators if operator.line == item.line]


def test_the_chips_name_what_the_code_names():
    lines = scene(sketch()).lines
    assert chips(lines[0]) == ["view of x"]
    assert chips(lines[2]) == ["in place on z", "1 view"]
    by_name = {row.name: row for row in rows_of(lines[1].inside)}
    assert chips(by_name["aten::clone"]) == ["new storage"]
    assert chips(by_name["aten::_unsafe_view"]) == ["view of the clone"]


def test_no_name_where_the_code_is_not_certain():
    x, w = torch.zeros(3, 3), torch.ones(3, 3)
    with xray() as seen:
        x.add(w.t())  # the first call is w's, not x's
        [each.t() for each in (x, w)]
    assert dict(scene(seen).storages) == {}


def test_a_name_used_twice_names_one_storage():
    x = torch.zeros(3)
    with xray() as seen:
        x = x + 1
        x = x * 2
    assert list(dict(scene(seen).storages).values()) == ["x"]
    assert x.shape == (3,)


def test_the_sentence_tells_the_copy_and_the_wait():
    shown = scene(sketch())
    line = shown.lines[1].line
    assert shown.sentence == (
        f"Line {line} copies `48` bytes: `reshape` could not make a view. "
        f"Line {line + 2} waits: `.item()` needs the value in Python."
    )
    assert [item.opened for item in shown.lines] == [False, True, False, False]


def test_the_sentence_tells_the_loop():
    y = torch.zeros(50, 3)
    with xray() as seen:
        for i in range(50):
            y[i] += 1
    (line,) = scene(seen).lines
    each = len(seen.operators) // 50
    assert line.times == 50 and line.operators == len(seen.operators)
    assert sum(1 for _ in rows_of(line.inside)) <= each
    assert f"the same `{each}` operators `50` times: `{len(seen.operators)}` in all" in scene(seen).sentence


def test_the_sentence_tells_that_nothing_was_copied():
    x = torch.zeros(3, 4)
    assert scene(xray(lambda: x.t()[0])).sentence.startswith(
        "All `2` results are views: no element was copied."
    )
    assert scene(Trace()).sentence == "Nothing ran: no operator, no node, no wait."
    assert scene(Trace()).title == "xray · 0 lines · 0 operators · 0 nodes · 0 waits"


@pytest.mark.parametrize(("lines", "operators"), [(40, 2500), (1, 100_000)])
def test_a_long_trace_is_cut_and_says_so(lines, operators):
    shown = scene(long_trace(lines, operators))
    rows = rows_of(shown.lines)
    kept = sum(row.kind == "operator" for row in rows)
    assert kept <= MOST_ITEMS and shown.left_out == 100_000 - kept
    assert f"{shown.left_out:,} operators have no row" in shown.notes[-1]
    assert sum(line.operators for line in shown.lines) == 100_000
    assert all(line.inside for line in shown.lines)


def test_too_many_lines_are_cut_and_counted():
    shown = scene(long_trace(MOST_LINES + 50, 2))
    assert len(shown.lines) == MOST_LINES + 1 and shown.lines[-1].name.startswith("50 more lines")
    assert shown.left_out == 100


def test_operators_left_out_of_repeats_are_counted_once_for_each_time():
    once = long_trace(1, 4000).operators
    shown = scene(Trace(operators=once * 3, source=((1, "y = f(x)"),)))
    (line,) = shown.lines
    kept = sum(row.kind == "operator" for row in rows_of(shown.lines))
    assert line.times == 3 and shown.left_out == 3 * (4000 - kept)


def test_the_same_bytes_in_every_process():
    first, second = (
        subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in "12"
    )
    assert first == second and len(first) > 1000
    assert not re.search(rb"0x[0-9a-f]{6}", first)


def test_the_picture_is_named_and_its_texts_are_no_markup():
    trace = Trace(
        operators=(Operator("aten::<script>", 0, 1),), source=((1, "x = '<img src=x onerror=alert(1)>' & y"),)
    )
    picture = svg(scene(trace))
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img" and "1 line · 1 operator" in root.get("aria-label")
    assert "<img" not in picture and "<script" not in picture


def test_a_tall_picture_ends_with_a_count():
    assert "… 4 more rows" in svg(scene(long_trace(40, 2)))


@pytest.fixture
def copy_and_view():
    x = torch.arange(12.0).reshape(3, 4)
    return compare(lambda: x.t().reshape(12), lambda: x.reshape(12), names=("turned", "plain"))


def test_pairs_mark_what_differs(copy_and_view):
    sums, operators = pairs(copy_and_view).rows
    figures = {pair.what: (pair.mark, pair.a.text, pair.b.text) for pair in sums.inside}
    assert figures["new bytes"] == ("differs", "48", "0")
    assert [(pair.mark, pair.a and pair.a.text, pair.b and pair.b.text) for pair in operators.inside] == [
        ("a", "aten::t", None), ("differs", "aten::reshape", "aten::reshape"),
    ]  # fmt: skip
    inner = operators.inside[1]
    assert inner.opened and {pair.mark for pair in inner.inside} == {"a", "b"}
    assert "`48` new bytes against `0`" in pairs(copy_and_view).sentence


def test_pairs_of_the_same_mark_nothing():
    x = torch.ones(3)
    shown = pairs(compare(lambda: x + 1, lambda: x + 1))
    assert {pair.mark for pair in shown.rows} == {"same"}
    assert shown.sentence.startswith("No difference")


def test_pairs_hold_every_operator_of_both_sides(copy_and_view):
    def sides(rows, which):
        return [name for pair in rows for name in
                ([getattr(pair, which).text] if getattr(pair, which) else []) + sides(pair.inside, which)]  # fmt: skip

    operators = pairs(copy_and_view).rows[1].inside
    for which in "ab":
        assert sides(operators, which) == [o.name for o in getattr(copy_and_view, which).operators]


def test_long_pairs_are_cut_and_say_so():
    one, other = long_trace(1, 4000), long_trace(1, 3000)
    shown = pairs(compare(one, other))
    assert sum(pair.size for pair in shown.rows) <= 1300
    assert "more are left out" in shown.notes[-1]


def test_a_row_says_what_was_called_and_why_no_node():
    x = torch.zeros(3)
    linear = torch.nn.Sequential(torch.nn.Linear(3, 3))
    with xray() as seen:
        x.add(1)
        linear(x)
    added, applied = scene(seen).lines
    (row,) = [row for row in added.inside if row.name == "aten::add"]
    assert (added.calls, row.call, row.why_no_node) == (1, "torch.Tensor.add", "no input requires grad")
    assert applied.inside[0].module == "0" and applied.inside[0].call.endswith("linear")
