"""Each of the cases that graph viewers stumble over gives right data, a text, and a picture."""

import pytest
import torch

from tests.autograd.cases import CASES
from torchcourse.autograd import graph
from torchcourse.graphs import fold, svg


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_case(name: str) -> None:
    make, expected, count = CASES[name]
    torch.manual_seed(0)
    found = graph(make())
    names = {node.name for node in found.nodes}
    assert count is None or len(found.nodes) == count, str(found)
    if expected is None:
        assert "no nodes" in str(found)
    else:
        assert expected in names
    assert fold(found).count == len(found.nodes)
    drawn = len(found.nodes) if len(found.nodes) <= 500 else len(fold(found).boxes)
    assert svg(found).count('class="node') == drawn
    assert len(str(found).splitlines()) >= len(found.nodes)


def test_states() -> None:
    stale = graph(CASES["in-place damage"][0]()).stale
    assert [node.name for node in stale] == ["ExpBackward0"]
    assert (stale[0].saved[0].version, stale[0].saved[0].expected) == (1, 0)
    freed = graph(CASES["freed by backward"][0]()).freed
    assert [node.name for node in freed] == ["PowBackward0"]
    checkpointed = graph(CASES["checkpoint"][0]())
    assert {one.state for node in checkpointed for one in node.saved if node.name == "ExpBackward0"} == {
        "packed"
    }
