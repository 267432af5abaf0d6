"""The language of the table."""

import pytest

from torchcourse.errors.templates import lowered, plain, template


@pytest.mark.parametrize(
    ("source", "text", "values"),
    [
        ("size of tensor {a:w}", "The SIZE of\n tensor b2 here", {"a": "b2"}),
        ("but got {n:d} channels", "but got -12 channels", {"n": "-12"}),
        ("size {size:s}.", "size torch.Size([3, 4]).", {"size": "torch.Size([3, 4])"}),
        ("{name:w} is not here", "well, aten::add is not here", {"name": "aten::add"}),
        ("found {what}", "found <class 'int'>. And more", {"what": "<class 'int'>"}),
        ("a{...}b {c:d}", "a is far from b 7", {"c": "7"}),
        ("`quoted`", "a ‘quoted’ one", {}),
        ("a {x} of {y:d}", "a of b of 3, a c of 4", {"x": "of b", "y": "3"}),
        ("nothing {like:d} it", "nothing new it", None),
    ],
)
def test_templates(source, text, values):
    text = plain(text)
    assert template(source).find(text, lowered(text)) == values


def test_lowered_keeps_positions():
    text = "İß A"
    assert len(lowered(text)) == len(text) and lowered(text).endswith(" a")
