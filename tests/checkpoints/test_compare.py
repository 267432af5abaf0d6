"""compare: what differs, the likely cause, and a rename only where it is sure."""

import re
from collections import OrderedDict
from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import nn

from torchcourse.checkpoints import CheckpointError, compare

DISTINCT = [(4, 3), (3, 2), (2, 5)]
EQUAL = [(4, 4)] * 3


def net(names, sizes=DISTINCT):
    return nn.Sequential(OrderedDict((n, nn.Linear(*s)) for n, s in zip(names, sizes, strict=True)))


class Tied(nn.Module):
    def __init__(self, tie=True):
        super().__init__()
        self.read = nn.Embedding(5, 3)
        self.write = nn.Linear(3, 5, bias=False)
        if tie:
            self.write.weight = self.read.weight


def prefixed(prefix, state_dict):
    return {prefix + name: value for name, value in state_dict.items()}


FILE = net("abc").state_dict()
PARTLY_COMPILED = {name.replace("b.", "b._orig_mod."): value for name, value in FILE.items()}

MENDED = {
    "DataParallel": (net("abc"), prefixed("module.", FILE), r"prefix `module\.` \(DataParallel"),
    "compiled": (net("abc"), prefixed("_orig_mod.", FILE), r"prefix `_orig_mod\.` \(torch\.compile\)"),
    "both": (net("abc"), prefixed("module._orig_mod.", FILE), r"`module\.` .* and `_orig_mod\.`"),
    "both, the other way": (net("abc"), prefixed("_orig_mod.module.", FILE), "_orig_mod"),
    "a part compiled": (net("abc"), PARTLY_COMPILED, "_orig_mod"),
    "into DataParallel": (nn.DataParallel(net("abc")), FILE, "The model has the prefix"),
    "one compiled, one parallel": (
        nn.DataParallel(net("abc")),
        torch.compile(net("abc")).state_dict(),
        "_orig_mod",
    ),
    "averaged": (net("abc"), torch.optim.swa_utils.AveragedModel(net("abc")).state_dict(), "AveragedModel"),
    "one level deeper": (net("abc"), prefixed("model.", FILE), "in the file have `model.` before"),
    "two levels deeper": (net("abc"), prefixed("net.body.", FILE), "in the file have `net.body.` before"),
    "deeper and compiled": (net("abc"), prefixed("model._orig_mod.", FILE), "`model.` before"),
    "one level shallower": (nn.ModuleDict({"body": net("abc")}), FILE, "in the model have `body.` before"),
    "one layer renamed": (net("abz"), FILE, "Renamed.*`c → z`"),
    "one of three equal layers": (net("azc", EQUAL), net("abc", EQUAL).state_dict(), "Renamed.*`b → z`"),
    "all renamed": (net("xyz"), FILE, "Renamed"),
    "a container renamed": (
        nn.ModuleDict({"blocks": net("012", EQUAL)}),
        prefixed("layers.", net("012", EQUAL).state_dict()),
        "Renamed.*`layers → blocks`",
    ),
    "Dropout inserted": (
        nn.Sequential(nn.Linear(4, 3), nn.Dropout(), nn.Linear(3, 2), nn.Dropout(), nn.Linear(2, 5)),
        nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(2, 5)).state_dict(),
        "Renamed.*`1 → 2`, `2 → 4`",
    ),
    "tied in the model": (Tied(), {"read.weight": torch.ones(5, 3)}, "The model ties weights"),
    "tied in the file": (
        nn.ModuleDict({"read": nn.Embedding(5, 3)}),
        Tied().state_dict(),
        "The file ties weights",
    ),
    "a whole checkpoint": (net("abc"), {"model": FILE, "epoch": 3}, "one level down, under the key `model`"),
    "a whole checkpoint, prefixed": (
        net("abc"),
        {"state_dict": prefixed("module.", FILE), "epoch": 3},
        "under the key `state_dict`.*module",
    ),
    "two levels down, beside numbers": (
        net("abc"),
        {"run": {"net": FILE}, "loss": torch.tensor(1.0), "opt": {"state": {}, "param_groups": []}},
        "2 levels down, under the key `run.net`",
    ),
    "one for each part": (
        nn.ModuleDict({"body": net("abc"), "head": nn.Linear(2, 2)}),
        {"body": FILE, "head": nn.Linear(2, 2).state_dict()},
        "one state_dict for each part",
    ),
    "gamma and beta": (nn.LayerNorm(3), {"gamma": torch.ones(3), "beta": torch.ones(3)}, "`gamma → weight`"),
    "numbers as names": (nn.ParameterList([torch.ones(2)]), {0: torch.ones(2)}, "no strings"),
    "half and prefixed": (
        net("abc"),
        prefixed("module.", {name: value.half() for name, value in FILE.items()}),
        "module.*dtype changed: `a.weight` is float16 in the file and float32 in the model",
    ),
}


@pytest.mark.parametrize("case", MENDED)
def test_a_known_cause_is_mended(case):
    model, file, cause = MENDED[case]
    seen = compare(model, file)
    assert not seen.loads and seen.renamed is not None
    assert re.search(cause, seen.cause), seen.cause
    model.load_state_dict(seen.renamed)


@pytest.mark.parametrize(
    "case", ["one level deeper", "both", "one layer renamed", "all renamed", "Dropout inserted"]
)
def test_a_rename_puts_each_tensor_in_its_place(case):
    model, file, _ = MENDED[case]
    model.load_state_dict(compare(model, file).renamed)
    for ours, theirs in zip(model.state_dict().values(), file.values(), strict=True):
        assert torch.equal(ours, theirs)


GENERATOR_AND_LOSS = {**prefixed("generator.", FILE), "loss.weight": torch.ones(2)}
NOT_MENDED = {
    "three equal layers renamed": (
        net(["q", "k", "v"], EQUAL),
        net("abc", EQUAL).state_dict(),
        "may have been",
    ),
    "shifted by one": (net("bcd", EQUAL), net("abc", EQUAL).state_dict(), "may have been renamed"),
    "first removed, another added": (
        net("bc", EQUAL[:2]),
        net("ab", EQUAL[:2]).state_dict(),
        "may have been",
    ),
    "Dropout between equal layers": (
        nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.Linear(4, 4), nn.Dropout(), nn.Linear(4, 4)),
        nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)).state_dict(),
        "may have been renamed",
    ),
    "removed here, added there": (net("bcx", EQUAL), net("abc", EQUAL).state_dict(), "may have been renamed"),
    "another head": (
        net("abc", [*DISTINCT[:2], (2, 7)]),
        FILE,
        "The same layers in other sizes: `c.weight` is",
    ),
    "another architecture": (
        nn.Conv2d(3, 3, 3),
        FILE,
        "Another architecture: 0 of the model's 2 names agree",
    ),
    "a layer more": (
        net("abcd", [*DISTINCT, (5, 5)]),
        FILE,
        "Another architecture: 6 of the model's 8 names",
    ),
    "a layer less": (
        net("ab", DISTINCT[:2]),
        FILE,
        r"Another architecture.*2 unexpected \(`c.weight`, `c.bias`\)",
    ),
    "a weight is no bias": (
        nn.ParameterDict({"scale": torch.ones(3), "shift": torch.ones(3)}),
        {"gamma": torch.ones(3), "beta": torch.ones(3)},
        "Another architecture",
    ),
    "one of two nets": (
        net("abc"),
        GENERATOR_AND_LOSS,
        r"under `generator\.`, beside others .*`loss\.weight`",
    ),
    "two candidates": (
        net("abc"),
        {"model": FILE, "ema": FILE, "epoch": 3},
        "whole checkpoint with `model`, `ema`",
    ),
    "an optimizer's state": (
        net("abc"),
        torch.optim.Adam(net("abc").parameters()).state_dict(),
        "the state of an optimizer",
    ),
    "nothing": (net("abc"), {}, "The state_dict is empty"),
}


@pytest.mark.parametrize("case", NOT_MENDED)
def test_what_is_not_sure_is_not_renamed(case):
    model, file, cause = NOT_MENDED[case]
    seen = compare(model, file)
    assert not seen.loads and seen.renamed is None
    assert re.search(cause, seen.cause), seen.cause


def test_names_are_those_of_pytorch():
    model = net("abd", [*DISTINCT[:2], (2, 7)])
    seen = compare(model, FILE)
    result = model.load_state_dict({n: v for n, v in FILE.items() if n not in seen.changed}, strict=False)
    assert (list(seen.missing), list(seen.unexpected)) == (result.missing_keys, result.unexpected_keys)


def test_changed_names_shapes_and_dtypes():
    file = {name: value.double() if name == "a.bias" else value for name, value in FILE.items()}
    seen = compare(net("abc", [*DISTINCT[:2], (2, 7)]), file)
    assert seen.changed == ("a.bias", "c.weight", "c.bias")
    assert [(change.name, change.kind) for change in seen.changes][:2] == [
        ("a.bias", "dtype"),
        ("c.weight", "shape"),
    ]
    assert str(seen.changes[1]) == "c.weight: shape (5, 2) in the file, (7, 2) in the model"


def test_what_fits_needs_no_cause():
    seen = compare(net("abc"), dict(reversed(FILE.items())))
    assert seen.loads and seen.cause is None and seen.renamed is None and seen.changed == ()
    assert str(seen) == "6 names agree"


def test_a_silent_conversion_is_told():
    seen = compare(net("abc").half(), FILE)
    assert seen.loads and seen.renamed is None and len(seen.changed) == 6
    assert "`a.weight` is float32 in the file and float16 in the model, and so are 5 more" in seen.cause


def test_two_values_for_one_tied_tensor_are_told():
    assert "the one that is loaded last wins" in compare(Tied(), Tied(tie=False).state_dict()).cause
    assert compare(Tied(), Tied().state_dict()).cause is None
    assert compare(Tied(), {name: value.clone() for name, value in Tied().state_dict().items()}).cause is None


NO_NUMBERS = {
    "a list": ([1.0, 2.0], "`scale` holds a list, no tensor"),
    "nothing": (None, "`scale` holds None"),
    "a number": (1.0, "holds a float, no tensor"),
    "a lazy parameter": (nn.UninitializedParameter(), "no numbers yet"),
    "on the meta device": (torch.ones(2, device="meta"), "on the meta device"),
    "sparse": (torch.ones(2).to_sparse(), r"to_dense\(\)"),
    "quantized": (torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), r"dequantize\(\)"),
}


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_what_holds_no_numbers_does_not_load(case):
    value, cause = NO_NUMBERS[case]
    model = nn.ParameterDict({"scale": torch.ones(2)})
    with pytest.raises(RuntimeError):
        model.load_state_dict({"scale": value})
    seen = compare(model, {"scale": value})
    assert not seen.loads and seen.changed == ("scale",) and seen.renamed is None
    assert re.search(cause, seen.cause), seen.cause


def test_what_pytorch_fills_in_is_no_difference():
    file = {name: value for name, value in nn.BatchNorm1d(3).state_dict().items() if "num" not in name}
    nn.BatchNorm1d(3).load_state_dict(file)
    assert compare(nn.BatchNorm1d(3), file).loads
    assert compare(nn.ParameterDict({"scale": torch.tensor(1.0)}), {"scale": torch.ones(1)}).loads


def test_a_state_dict_that_raises_gets_a_sentence():
    class Raises(nn.Module):
        def state_dict(self, *args, **kwargs):
            raise RuntimeError("not now")

    with pytest.raises(CheckpointError, match=r"own state_dict.* can't be read: RuntimeError: not now"):
        compare(Raises(), {})


def test_names_from_a_file_stay_on_one_line():
    cause = compare(nn.Linear(2, 2), {"a\nb" * 9999: torch.ones(2), "c": torch.ones(1)}).cause
    assert "\n" not in cause and len(cause) < 500


def test_a_lazy_layer_takes_any_shape():
    assert compare(nn.LazyLinear(3), nn.Linear(2, 3).state_dict()).loads


def test_versions_follow_the_rename():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    renamed = compare(model, nn.DataParallel(model).state_dict()).renamed
    assert renamed._metadata["1"] == {"version": 2}


def test_nothing_is_changed():
    model, file = net("abc"), prefixed("module.", FILE)
    before = [p.clone() for p in model.parameters()]
    keys = list(file)
    compare(model, file)
    assert (
        all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True)) and list(file) == keys
    )


@pytest.mark.parametrize(
    "model, file, said",
    [
        (nn.Linear(1, 1), "model.pt", "torch.load"),
        (nn.Linear(1, 1), nn.Linear(1, 1), "its state_dict"),
        (nn.Linear(1, 1), [1], "must be a dictionary"),
        (FILE, FILE, "must be a module"),
    ],
)
def test_other_things_are_refused(model, file, said):
    with pytest.raises(TypeError, match=said):
        compare(model, file)


# A wrong rename is worse than none: whatever was done to the names, what is renamed is renamed right.
NAMES = st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=3, unique=True)
SIZES = st.lists(st.sampled_from([2, 3, 4]), min_size=4, max_size=4)


@settings(max_examples=150, deadline=None)
@given(NAMES, NAMES, SIZES, st.sampled_from(["", "module.", "model.", "_orig_mod."]))
def test_a_rename_in_place_is_right_or_not_given(old, new, sizes, prefix):
    """The layers keep their places and get other names: the only right answer is place by place."""
    assume(set(old) != set(new) or old == new)  # the same names in another order: there the names decide
    shapes = list(pairwise(sizes))
    before, after = net(old, shapes), net(new, shapes)
    renamed = compare(after, prefixed(prefix, before.state_dict())).renamed
    if renamed is not None:
        after.load_state_dict(renamed)
        for ours, theirs in zip(after.parameters(), before.parameters(), strict=True):
            assert torch.equal(ours, theirs)


@settings(max_examples=150, deadline=None)
@given(st.permutations("abc"), NAMES)
def test_reordered_equal_layers_are_never_guessed(order, new):
    """Equal layers in another order under other names: nobody can tell, unless one name only is new."""
    before, after = net("abc", EQUAL), net(order, EQUAL)
    fresh = dict(zip("abc", new, strict=True))
    file = {fresh[name[0]] + name[1:]: value for name, value in before.state_dict().items()}
    renamed = compare(after, file).renamed
    if renamed is not None and len(set(new) & set("abc")) < 2:
        pytest.fail(f"{order} {new}")


def test_a_thousand_layers_take_no_time_to_speak_of():
    model = nn.Sequential(*[nn.Linear(2, 2) for _ in range(1000)])
    seen = compare(model, prefixed("module.", model.state_dict()))
    assert len(seen.renamed) == 2000 and len(str(seen)) < 1000
