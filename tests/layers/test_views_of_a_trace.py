"""Rows, folding, text and comparison: plain data about plain data."""

import pytest
import torch

from torchcourse.layers import compare, fold, rows, xray
from torchcourse.layers.text import tree_text

from .snippets import mlp


def test_rows_add_up_to_the_trace() -> None:
    model, batch = mlp()
    with xray() as seen:
        loss = model(batch).square().mean()
        loss.backward()
        loss.item()
    table = rows(seen.trace)
    assert sum(row.operators for row in table) == len(seen.operators)
    assert sum(row.nodes for row in table) == len(seen.nodes)
    assert sum(row.saved_bytes for row in table) == sum(n.saved_bytes for n in seen.nodes)
    assert sum(row.new_bytes for row in table) == seen.new_bytes
    assert [row.source for row in table] == [
        "loss = model(batch).square().mean()", "loss.backward()", "loss.item()",
    ]  # fmt: skip
    assert [row.waits for row in table] == [(), (), (".item()",)]


def test_the_slow_loop_is_told_by_its_counts() -> None:
    y = torch.zeros(50, 3)
    with xray() as seen:
        for i in range(50):
            y[i] += 1
    (row,) = [row for row in rows(seen.trace) if row.operators]
    assert row.in_place >= 50 and row.views >= 100
    blocks = fold(seen)
    assert [block.times for block in blocks] == [50]
    assert sum(block.count for block in blocks) == len(seen.operators)
    assert "50 × " in tree_text(seen.trace)


@pytest.mark.parametrize("steps", [1, 3, 20])
def test_fold_counts_every_operator(steps: int) -> None:
    model, batch = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with xray() as seen:
        for _ in range(steps):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
    blocks = fold(seen)
    assert sum(block.count for block in blocks) == len(seen.operators)
    if steps == 20:
        assert max(block.times for block in blocks) >= 19
        assert len(blocks) < 40


def test_fold_of_nothing() -> None:
    with xray() as seen:
        pass
    assert fold(seen) == ()


def test_text_of_a_small_block() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    with xray() as seen:
        y = x.t().reshape(12)
    text = str(seen)
    assert "y = x.t().reshape(12)" in text
    assert (
        "9 operators, 48 new bytes (at most 48 alive at one time), 0 nodes recorded, 0 ran, 0 waits." in text
    )
    assert "Autograd recorded nothing: no input requires grad." in text
    assert repr(seen) == text and y.shape


def test_the_text_is_the_same_every_time() -> None:
    x = torch.arange(12.0).reshape(3, 4)

    def once() -> str:
        with xray() as seen:
            (x.t() @ x).sum().item()
        return str(seen) + tree_text(seen.trace)

    assert once() == once()


def test_compare_shows_a_copy_more() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    result = xray.compare(lambda: x.t().reshape(12), lambda: x.reshape(12), names=("copy", "view"))
    differs = {d.what: (d.a, d.b) for d in result.differs}
    assert differs["new bytes"] == (48, 0)
    assert not result.same and "aten::clone" in {d.what for d in result.operators}
    assert "copy" in str(result).splitlines()[0]


def test_compare_of_the_same() -> None:
    x = torch.ones(3)
    result = compare(lambda: x + 1, lambda: x + 1)
    assert result.same and str(result) == "No difference: the same operators, bytes, nodes and waits."


def test_compare_takes_two_xrays_and_refuses_others() -> None:
    x = torch.ones(3)
    with xray() as a:
        x + 1
    with xray() as b:
        x.clone().add_(1)
    assert {d.what for d in compare(a, b).differs} >= {"in place"}
    with pytest.raises(TypeError, match="b is a str"):
        compare(a, "x + 1")


def test_in_place_against_a_new_tensor() -> None:
    x = torch.ones(3)
    result = compare(lambda: x + 1, lambda: x.add_(1))
    assert {d.what: (d.a, d.b) for d in result.differs}["new bytes"] == (12, 0)
