"""What a file contains, as data: held to what torch.load and zipfile say about the same file."""

import io
import json
import pickle
import struct
import zipfile

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from torchcourse.checkpoints import CheckpointError, contents, save
from torchcourse.checkpoints.pickle_tree import read_tree

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16]
DTYPES += [torch.int8, torch.uint8, torch.bool, torch.complex64, torch.complex128, torch.uint16, torch.uint32]
DTYPES += [torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.fixture
def looked_at(tmp_path):
    def look(value):
        torch.save(value, tmp_path / "file.pt")
        return contents(tmp_path / "file.pt")

    return look


def test_a_state_dict(looked_at):
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    seen = looked_at(model.state_dict())
    assert seen.format == "torch zip" and seen.forbidden == () and seen.dragging == () and seen.shared == ()
    assert {t.name: (t.shape, t.dtype) for t in seen.tensors} == {
        name: (tuple(value.shape), str(value.dtype)[6:]) for name, value in model.state_dict().items()
    }
    assert seen.storage_nbytes == sum(value.nbytes for value in model.state_dict().values())


def test_the_records_are_those_of_the_zip(looked_at, tmp_path):
    seen = looked_at({"a": torch.ones(3)})
    with zipfile.ZipFile(tmp_path / "file.pt") as archive:
        assert {e.name: e.nbytes for e in seen.entries} == {
            i.filename: i.file_size for i in archive.infolist()
        }
    kinds = {entry.name.rpartition("/")[2]: entry.what for entry in seen.entries}
    assert kinds["data.pkl"] == "the pickle: structure only" and kinds["0"] == "a storage: raw bytes"
    assert seen.nbytes == (tmp_path / "file.pt").stat().st_size


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(looked_at, dtype):
    value = torch.zeros(2, 3, dtype=dtype).t()
    (seen,) = looked_at({"a": value}).tensors
    assert (seen.dtype, seen.shape, seen.stride) == (str(dtype)[6:], (3, 2), (1, 3))
    assert seen.nbytes == seen.storage_nbytes == value.nbytes


def test_a_slice_drags_its_storage(looked_at):
    big = torch.arange(1000.0)
    seen = looked_at({"piece": big[10:13], "copy": big[10:13].clone()})
    assert seen.dragging == ("piece",)
    assert [(t.offset, t.nbytes, t.storage_nbytes) for t in seen.tensors] == [(10, 12, 4000), (0, 12, 12)]
    assert "drags more than it needs: piece" in str(seen)


def test_views_and_tied_weights_share(looked_at):
    base = torch.arange(6.0)
    seen = looked_at({"base": base, "turned": base.reshape(2, 3).t(), "other": torch.ones(1)})
    assert seen.shared == (("base", "turned"),) and seen.dragging == () and seen.storage_nbytes == 28


def test_one_tensor_under_two_names(looked_at):
    weight = nn.Parameter(torch.ones(4, 4))
    seen = looked_at({"model": {"enc": weight, "dec": weight}})
    assert seen.shared == (("model.enc", "model.dec"),) and seen.storage_nbytes == 64


def test_a_whole_module_is_taken_apart_without_its_class(looked_at):
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    seen = looked_at(model)
    assert {t.name for t in seen.tensors} == set(model.state_dict())
    assert "torch.nn.modules.linear.Linear" in seen.forbidden
    assert "collections.OrderedDict" in seen.names and "collections.OrderedDict" not in seen.forbidden


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_hostile_pickles_are_told_and_do_not_run(looked_at, tmp_path):
    seen = looked_at({"weight": torch.ones(2), "extra": Hostile(str(tmp_path / "made"))})
    assert seen.forbidden in (("io.open",), ("_io.open",), ("builtins.open",))
    assert [t.name for t in seen.tensors] == ["weight"] and "would run on loading" in str(seen)
    assert not (tmp_path / "made").exists()


def test_what_is_forbidden_is_what_torch_refuses(looked_at, tmp_path):
    for value in (nn.Linear(1, 1), torch.optim.SGD([torch.ones(1)]), {"a": slice(1)}, {"a": torch.Size([1])}):
        seen = looked_at(value)
        torch_says = torch.serialization.get_unsafe_globals_in_checkpoint(tmp_path / "file.pt")
        assert set(seen.forbidden) == set(torch_says)


def test_our_own_checkpoint(tmp_path):
    model = nn.Linear(2, 2)
    save(tmp_path / "run.pt", model=model, epoch=1)
    seen = contents(tmp_path / "run.pt")
    assert seen.forbidden == () and seen.dragging == ()
    assert {"model.weight", "model.bias", "torchcourse.random.torch"} <= {t.name for t in seen.tensors}


def test_safetensors(tmp_path):
    from safetensors.torch import save_file

    save_file({"a": torch.ones(2, 3), "b": torch.zeros(4, dtype=torch.int64)}, tmp_path / "file.safetensors")
    seen = contents(tmp_path / "file.safetensors")
    assert seen.format == "safetensors" and seen.names == ()
    assert {t.name: (t.dtype, t.shape, t.stride, t.nbytes) for t in seen.tensors} == {
        "a": ("float32", (2, 3), (3, 1), 24),
        "b": ("int64", (4,), (1,), 32),
    }
    assert sum(entry.nbytes for entry in seen.entries) == seen.nbytes


def test_a_broken_safetensors(tmp_path):
    path = tmp_path / "file.safetensors"
    path.write_bytes(struct.pack("<Q", 20) + json.dumps({"a": 3}).encode().ljust(20))
    with pytest.raises(CheckpointError, match="can't be looked into"):
        contents(path)


@pytest.mark.parametrize("data, said", [(b"", "is empty"), (b"hello " * 30, "is a text file")])
def test_other_files(tmp_path, data, said):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(CheckpointError, match=said):
        contents(tmp_path / "x")


def test_a_small_file_that_unfolds_without_end(tmp_path):
    """Each list holds the one before it twice: fifty levels are more than a thousand million million things."""
    laughs = []
    for _ in range(50):
        laughs = [laughs, laughs]
    with zipfile.ZipFile(tmp_path / "x.pt", "w") as archive:
        archive.writestr("x/data.pkl", pickle.dumps(laughs, protocol=2))
    with pytest.raises(CheckpointError, match="unfolds into more than"):
        contents(tmp_path / "x.pt")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(VALUES, st.integers(2, 5))
def test_plain_pickles_read_as_themselves(value, protocol):
    data = pickle.dumps(value, protocol=protocol)
    tree, names = read_tree(data)
    if not names:  # bytes need a call in protocol 2
        assert tree == value


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60) | VALUES.map(lambda value: pickle.dumps(value)[:-2]))
def test_any_bytes_are_a_tree_or_a_sentence(data):
    try:
        read_tree(data)
    except ValueError as error:
        assert str(error).endswith(".")


def test_the_pickle_module_is_never_asked(looked_at, monkeypatch):
    """Looking works where unpickling is impossible."""
    buffer = io.BytesIO()
    torch.save({"a": torch.ones(1)}, buffer)

    def refuse(*_, **__):
        raise AssertionError("unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    assert looked_at({"a": torch.ones(1)}).tensors[0].name == "a"
