"""What counts as the same text: the tolerance for floats, and the sanitise file's patterns."""

import re

import pytest
from nbval.plugin import get_sanitize_patterns

from .compare import Tolerant
from .nbval_lane import SANITIZE

PATTERNS = get_sanitize_patterns(SANITIZE.read_text(encoding="utf-8"))


def sanitised(text: str) -> str:
    for pattern, replacement in PATTERNS:
        text = re.sub(pattern, replacement, text)
    return text


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("loss 0.5000", "loss 0.5003"),
        ("tensor([1., 2.0001])", "tensor([1., 2.0009])"),
        ("1.0000e-05", "-2.0000e-06"),
        ("[ 0.0000,  1.5000]", "[-0.0000,  1.5001]"),
        ("0.5.", "0.50001."),
        ("nan inf 1.5", "nan inf 1.5"),
    ],
)
def test_close_floats_are_the_same(left, right):
    assert Tolerant(left) == Tolerant(right)
    assert not (Tolerant(left) != Tolerant(right))  # noqa: SIM202 - nbval asks with !=


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("loss 0.5", "loss 0.6"),
        ("3 elements", "4 elements"),
        ("1000000", "1000001"),
        ("torch 2.13.0", "torch 2.13.1"),
        ("x1.5", "x1.5001"),
        ("0.500 ms", "0.500 s"),
        ("1.0", "1"),
        ("1.5 1.5", "1.5"),
        ("nan", "1.5"),
        ("[1, 2]", "[1,  2, 3]"),
    ],
)
def test_everything_else_is_compared_exactly(left, right):
    assert Tolerant(left) != Tolerant(right)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "42",
            "3.1416",
            "tensor([1., 2.])",
            "48 bytes",
            "float32",
            "torch.float32",
            "True",
            "0x10",
            "(2, 3)",
        ),
        *("tensor([1, 2], dtype=torch.int32)", "tensor(1., grad_fn=<AddBackward0>)", "aten::add", "1.25 ms"),
        *("runs on the CPU", "cpu 1", "a cuda graph", "Linear(in_features=3, out_features=4, bias=True)"),
        *("tensor([[1., 2.],\n        [3., 4.]])", "at 3 places", "address 0x7f0000000000"),
    ],
)
def test_no_pattern_changes_an_ordinary_result(text):
    assert sanitised(text) == text


@pytest.mark.parametrize(
    ("cuda", "cpu"),
    [
        ("tensor([1., 2.], device='cuda:0')", "tensor([1., 2.])"),
        ("tensor([1, 2],\n       device='cuda:0', dtype=torch.int32)", "tensor([1, 2], dtype=torch.int32)"),
        ("tensor(1., device='cuda:0', grad_fn=<A>)", "tensor(1., grad_fn=<A>)"),
        ("tensor([1, 2],\n       device=&#x27;cuda:0&#x27;)", "tensor([1, 2])"),
        ("device(type='cuda', index=0)", "device(type='cpu')"),
        ("cuda\n1", "cpu\n1"),
        ("a\ncuda:0", "a\ncpu"),
        ("<object object at 0x7f5d0c0>", "<object object at 0x55aa>"),
        ("/a/b/ipykernel_12/345.py:1: hm", "C:\\a\\ipykernel_6\\78.py:1: hm"),
    ],
)
def test_one_stored_output_serves_both_devices(cuda, cpu):
    assert sanitised(cuda) == sanitised(cpu)


def test_every_pattern_is_read():
    """nbval leaves out a pair that it can't read, without a word."""
    text = SANITIZE.read_text(encoding="utf-8")
    assert len(PATTERNS) == text.count("\nregex: ") == text.count("\n[") > 0
