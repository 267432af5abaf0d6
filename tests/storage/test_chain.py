"""A chain gives what PyTorch gives, and nothing that is no chain gets further than a sentence."""

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.storage import chain as chains
from torchcourse.storage.chain import ChainError, apply_chain


def base() -> torch.Tensor:
    return torch.arange(24).reshape(2, 3, 4)


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    facts = [(t.shape, t.stride(), t.storage_offset(), t.dtype) for t in (a, b)]
    return facts[0] == facts[1] and torch.equal(a, b)


EXAMPLES = {
    ".transpose(0, 2)": lambda x: x.transpose(0, 2),
    ".permute(2, 0, 1)": lambda x: x.permute(2, 0, 1),
    "[:, ::2]": lambda x: x[:, ::2],
    "[..., None, -1]": lambda x: x[..., None, -1],
    "[1][[0, 2]]": lambda x: x[1][[0, 2]],
    ".mT": lambda x: x.mT,
    "[0].T": lambda x: x[0].T,
    "[0].t().reshape(2, 6)": lambda x: x[0].t().reshape(2, 6),
    ".view(torch.int32)": lambda x: x.view(torch.int32),
    ".view(-1, 4)": lambda x: x.view(-1, 4),
    ".unsqueeze(0).expand(3, -1, -1, -1)": lambda x: x.unsqueeze(0).expand(3, -1, -1, -1),
    ".unfold(2, 3, 1)": lambda x: x.unfold(2, 3, 1),
    ".narrow(dim=2, start=1, length=2)": lambda x: x.narrow(2, 1, 2),
    ".select(-1, -1)": lambda x: x.select(-1, -1),
    ".diagonal(0, 1, 2)": lambda x: x.diagonal(0, 1, 2),
    ".squeeze()": lambda x: x.squeeze(),
    ".flatten(1)": lambda x: x.flatten(1),
    ".movedim(0, -1).contiguous()": lambda x: x.movedim(0, -1).contiguous(),
    ".flip((0, 1))": lambda x: x.flip((0, 1)),
    ".as_strided((2, 2), (1, 3), 5)": lambda x: x.as_strided((2, 2), (1, 3), 5),
    ".clone()": lambda x: x.clone(),
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_chain_is_what_torch_gives(text):
    x = base()
    result, expected = apply_chain(x, text), EXAMPLES[text](x)
    assert same(result, expected)
    assert (result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()) == (
        expected.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    )


def test_spaces_do_not_matter():
    x = base()[0]
    assert same(apply_chain(x, " .t () [ 0 ] "), x.t()[0])


@st.composite
def steps(draw):
    """(text, function) of a random step on three dimensions, sometimes one that PyTorch refuses."""
    i, j, k = (draw(st.integers(-4, 4)) for _ in range(3))
    return draw(
        st.sampled_from(
            [
                (f".transpose({i}, {j})", lambda x: x.transpose(i, j)),
                (f"[{i}]", lambda x: x[i]),
                (f"[{i}:{j}]", lambda x: x[i:j]),
                (f"[..., {i}:]", lambda x: x[..., i:]),
                (f".unsqueeze({i})", lambda x: x.unsqueeze(i)),
                (f".flatten({i}, {j})", lambda x: x.flatten(i, j)),
                (f".narrow({i}, {j}, {k})", lambda x: x.narrow(i, j, k)),
                (f".unfold({i}, {j}, {k})", lambda x: x.unfold(i, j, k)),
                (f".flip({i})", lambda x: x.flip(i)),
                (".reshape(-1)", lambda x: x.reshape(-1)),
                (".view(-1)", lambda x: x.view(-1)),
            ]
        )
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(steps(), min_size=1, max_size=4))
def test_random_chains_agree_with_torch(chosen):
    x = base()
    text = "".join(t for t, _ in chosen)
    expected, error = x, None
    for _, step in chosen:
        try:
            expected = step(expected)
        except (RuntimeError, IndexError, ValueError) as caught:
            error = caught
            break
    if error is None:
        assert same(apply_chain(x, text), expected)
        return
    with pytest.raises(ChainError) as refused:
        apply_chain(x, text)
    assert "\n" not in str(refused.value)
    assert torch.equal(x, base())


REFUSED = {
    "": "Write a chain",
    "x.t()": "begins with",
    "__import__('os').system('true')": "begins with",
    ".__class__": "none of the view operations",
    ".__class__.__mro__[1]": "none of the view operations",
    ".t": "is a method",
    ".apply_(1)": "none of the view operations",
    ".numpy()": "none of the view operations",
    ".fill_(0)": "none of the view operations",
    ".permut(0, 1)": "Did you mean .permute?",
    "[__import__('os')]": "can't stand in a chain",
    "[lambda: 0]": "can't stand in a chain",
    "[x > 3]": "can't stand in a chain",
    "[(y := 1)]": "can't stand in a chain",
    ".view(torch.load)": "can't stand in a chain",
    ".view(torch._C)": "can't stand in a chain",
    ".to('cuda')": "can't stand in a chain",
    ".reshape(10 ** 9)": "can't stand in a chain",
    ".view(2.5)": "can't stand in a chain",
    ".view(*[2, 12])": "can't stand in a chain",
    ".view(**{})": "plain arguments",
    ".t() + 1": "follow each other",
    ".t() if 1 else 0": "follow each other",
    ".t(": "no complete chain",
    "[0": "no complete chain",
    ".t();.t()": "no complete chain",
    ".t()\n.t()": "no complete chain",
    "[" * 150: "no complete chain",
    ".t()\0": "no complete chain",
    "[99999999999999999999]": "at most 1,000,000,000,000",
    "[0]" * 100: "at most 200 characters",
    "[None]" * 21: "at most 20 steps",
    "[9]": "PyTorch refuses [9]",
    "[[True, False]]": "Write the numbers",
    ".transpose(0, 1).view(24)": "view size is not compatible",
    ".as_strided((9, 9), (9, 9))": "PyTorch refuses",
}


@pytest.mark.parametrize("text", REFUSED)
def test_anything_else_is_one_clear_sentence(text):
    x = base()
    with pytest.raises(ChainError, match=r"\w") as refused:
        apply_chain(x, text)
    assert REFUSED[text] in str(refused.value)
    assert len(str(refused.value)) < 450 and "\n" not in str(refused.value)
    assert torch.equal(x, base())


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=".[](),:-0123456789 tTview_x*'\"\\\n{}=", max_size=30))
def test_any_text_gives_a_tensor_or_a_sentence(text):
    try:
        assert isinstance(apply_chain(base(), text), torch.Tensor)
    except ChainError as error:
        assert str(error)


@pytest.mark.parametrize(
    "text",
    [
        "[None].expand(10000000000, -1, -1, -1).clone()",
        ".repeat(100000, 100000, 1)",
        ".expand(2, 3, 4).unsqueeze(0).expand(100000000, -1, -1, -1).reshape(-1)",
        ".repeat(100000, 1, 1)" * 5,
    ],
)
def test_too_large_a_copy_is_refused_before_it_is_made(text, monkeypatch):
    made = []
    real = chains._applied
    monkeypatch.setattr(chains, "_applied", lambda step, t: made.append(t.device.type) or real(step, t))
    with pytest.raises(ChainError, match="would copy"):
        apply_chain(base(), text)
    assert set(made) == {"meta"}


def test_a_tensor_without_memory_takes_no_chain():
    emptied = base()
    emptied.untyped_storage().resize_(0)  # a copy of it would crash the process
    quantised = torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.quint8)
    for tensor in (emptied, torch.eye(2).to_sparse(), torch.eye(2).to("meta"), quantised):
        with pytest.raises(ChainError, match="takes no chain"):
            apply_chain(tensor, ".clone()")


def test_an_expanded_view_of_any_size_copies_nothing():
    result = apply_chain(base(), "[None].expand(1000000000, -1, -1, -1)")
    assert result.shape[0] == 10**9 and result.untyped_storage().nbytes() == 24 * 8


def test_the_parser_never_evaluates():
    source = Path(chains.__file__).read_text(encoding="utf-8")
    assert "eval(" not in source.replace("literal_eval(", "") and "exec(" not in source
