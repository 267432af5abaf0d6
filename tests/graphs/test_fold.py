"""`fold`: few boxes that add up to the graph's nodes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs.drawings import chain, made_up, transformer
from torchcourse.autograd import Graph
from torchcourse.graphs import fold
from torchcourse.graphs._repeats import repeats
from torchcourse.graphs.fold import Folded


def adds_up(folded: Folded) -> bool:
    nodes = sorted(i for box in folded.boxes for i in box.nodes)
    counts = sum(box.count for box in folded.boxes)
    return nodes == list(range(len(folded.graph.nodes))) and counts == len(folded.graph.nodes)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 80), st.integers(0, 120), st.integers(1, 40), st.integers(0, 1000))
def test_boxes_add_up(nodes: int, more: int, at_most: int, seed: int) -> None:
    found = made_up(nodes, nodes - 1 + (more if nodes > 1 else 0), seed)
    folded = fold(found, at_most)
    assert adds_up(folded) and len(folded.boxes) <= max(at_most, 1)
    between = {(box.id) for box in folded.boxes}
    assert all(edge.source in between and edge.target in between for edge in folded.edges)
    assert all(adds_up(folded.open(box.id)) for box in folded.boxes)


def test_twelve_layers_fold_to_a_few_boxes() -> None:
    found = transformer(12)
    folded = fold(found)
    assert len(found.nodes) > 700 and len(folded.boxes) <= 30 and adds_up(folded)
    repeat = max(folded.boxes, key=lambda box: box.count)
    assert repeat.times == 11 and repeat.name == "layers.1 … layers.11"
    assert len(fold(transformer(12, watched=False)).boxes) <= 30


def test_a_box_opens() -> None:
    folded = fold(transformer(12))
    repeat = max(folded.boxes, key=lambda box: box.count)
    opened = folded.open(repeat.id)
    assert adds_up(opened) and len(opened.boxes) == len(folded.boxes) + 10
    layer = next(box for box in opened.boxes if box.name == "layers.5")
    assert layer.class_name == "TransformerEncoderLayer"
    names = {box.name for box in opened.open(layer.id).boxes}
    assert {"layers.5.self_attn", "layers.5.norm1"} <= names


def test_a_small_graph_is_not_folded() -> None:
    folded = fold(made_up(30, 40))
    assert [box.count for box in folded.boxes] == [1] * 30


def test_a_long_chain_is_one_repeat() -> None:
    folded = fold(chain(2000))
    assert [box.times for box in folded.boxes] == [2000, 1]
    assert "× 2,000: 4,000 nodes" in str(folded)


@pytest.mark.parametrize("at_most", [0, -1, 2.5, True, "3"])
def test_bad_limits_are_one_sentence(at_most: Any) -> None:
    with pytest.raises(ValueError, match="at_most is the number of boxes"):
        fold(made_up(3, 2), at_most)


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(TypeError, match="fold takes what"):
        fold(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="There is no box 9"):
        fold(made_up(3, 2)).open(9)


def test_an_empty_graph() -> None:
    assert fold(Graph((), (), ())).boxes == ()


@given(st.lists(st.integers(0, 2), max_size=60))
def test_repeats_cover_the_sequence(keys: list[int]) -> None:
    at = 0
    for start, length, times in repeats(keys):
        assert start == at
        block = keys[start : start + length]
        assert keys[start : start + length * times] == block * times
        at += length * times
    assert at == len(keys)
