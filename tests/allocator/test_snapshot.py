"""Snapshots in and out, and files that mean harm."""

import io
import os
import pickle
import pickletools
import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.allocator import Allocator, SnapshotError, load_snapshot, replay, save_snapshot
from torchcourse.allocator.sizes import MIB
from torchcourse.allocator.unpickle import read_plain


@pytest.fixture
def model():
    model = Allocator(1 << 30)
    kept = [model.malloc(size) for size in (1000, 3 * MIB, 30 * MIB, 5)]
    model.free(kept[1])
    return model


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_what_python_wrote_is_read(tmp_path, model, protocol):
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(model.snapshot(), protocol=protocol))
    assert load_snapshot(path) == load_snapshot(str(path)) == model.snapshot()


def test_what_is_written_opens_in_the_viewers(tmp_path, model):
    """The public viewer reads protocols up to 4, and none of the newer opcodes."""
    path = tmp_path / "snapshot.pickle"
    save_snapshot(model.snapshot(), path)
    data = path.read_bytes()
    assert data[:2] == b"\x80\x04"
    names = {opcode.name for opcode, _, _ in pickletools.genops(data)}
    assert not names & {"EMPTY_SET", "FROZENSET", "BYTEARRAY8", "NEXT_BUFFER", "BINUNICODE8", "GLOBAL"}
    assert load_snapshot(path) == model.snapshot()


def test_pytorch_reads_what_is_written(model):
    """PyTorch's own summary of segments: its asserts hold the blocks against the segments."""
    from torch.cuda import _memory_viz

    snapshot = model.snapshot()
    assert "segments" in _memory_viz.segsum(snapshot) or _memory_viz.segsum(snapshot)
    assert "alloc" in _memory_viz.trace(snapshot)


class Call:
    """Pickles as a call of `function`."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def dangerous(tmp_path):
    marker = tmp_path / "ran"
    touch = f"touch {marker}"
    return marker, [
        (Call(os.system, touch), r"(posix|nt)\.system"),
        (Call(eval, f"open({str(marker)!r}, 'w')"), r"builtin(s|__)\.eval"),
        (Call(exec, f"open({str(marker)!r}, 'w')"), r"builtin(s|__)\.exec"),
        (Call(open, str(marker), "w"), r"io\.open"),
        (Call(getattr, Call(__import__, "os"), "system"), r"builtin(s|__)\.(getattr|__import__)"),
        ({"segments": [Call(os.system, touch)], "device_traces": []}, r"system"),
        ([Call(list, (Call(os.system, touch),))], r"builtin(s|__)\.list|system"),
    ]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_nothing_in_a_file_runs_and_what_it_wanted_is_named(tmp_path, protocol):
    marker, wanted = dangerous(tmp_path)
    for number, (value, name) in enumerate(wanted):
        path = tmp_path / f"{number}.pickle"
        path.write_bytes(pickle.dumps(value, protocol=protocol))
        with pytest.raises(ValueError, match=name):
            load_snapshot(path)
    assert not marker.exists()


P4 = b"\x80\x04"
HOSTILE = {
    "empty": (b"", "no snapshot"),
    "text": (b"hello world", "protocol 2, 3, 4 or 5"),
    "protocol 0": (pickle.dumps({}, protocol=0), "protocol 2, 3, 4 or 5"),
    "protocol 6": (b"\x80\x06N.", "protocol 2, 3, 4 or 5"),
    "only a header": (P4, "cut short"),
    "nothing on the stack": (P4 + b".", "damaged"),
    "a number": (P4 + b"K\x01.", "holds a int"),
    "a global by name": (b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR.", r"os\.system"),
    "an instance": (b"\x80\x02(ios\nsystem\n.", r"os\.system"),
    "a global from the memo": (P4 + b"\x8c\x02os\x94\x8c\x06system\x94h\x00h\x01\x93.", r"os\.system"),
    "a global of other types": (P4 + b"K\x01K\x02\x93.", "import 'a name'"),
    "a global without names": (P4 + b"\x93.", "damaged"),
    "a global without an end": (b"\x80\x02cos", "damaged"),
    "a global with a long name": (b"\x80\x02c" + b"a" * 10_000 + b"\nb\n.", "a{50}"),
    "an extension": (P4 + b"\x82\x01.", "EXT1"),
    "a persistent id": (P4 + b"N" + b"Q.", "BINPERSID"),
    "a build": (P4 + b"}}b.", "BUILD"),
    "a reduce": (P4 + b")R.", "REDUCE"),
    "an out-of-band buffer": (b"\x80\x05\x97.", "NEXT_BUFFER"),
    "a set": (P4 + b"\x8f.", "EMPTY_SET"),
    "an unknown opcode": (P4 + b"\xff.", "0xff"),
    "a huge frame": (P4 + b"\x95" + struct.pack("<Q", 1 << 62) + b"N.", "frame"),
    "a huge string": (P4 + b"\x8d" + struct.pack("<Q", 1 << 40) + b"a.", "announces 1099511627776 bytes"),
    "a huge string of 4 bytes": (P4 + b"X\xff\xff\xff\xff.", "announces 4294967295 bytes"),
    "huge bytes": (P4 + b"\x8e" + struct.pack("<Q", 1 << 62) + b"a.", "announces"),
    "a huge bytearray": (b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"a.", "BYTEARRAY8"),
    "a negative length": (P4 + b"\x8b\xff\xff\xff\xff.", "cut short"),
    "a huge integer": (P4 + b"\x8b\x00\x00\x00\x10.", "whole number of 268435456 bytes"),
    "a memo far away": (P4 + b"Nr\xff\xff\xff\x7f0j\xff\xff\xff\x7f.", "holds a NoneType"),
    "a memo that is not there": (P4 + b"j\x05\x00\x00\x00.", "damaged"),
    "no mark": (P4 + b"]e.", "damaged"),
    "an append to a number": (P4 + b"K\x01Na.", "damaged"),
    "a key without a value": (P4 + b"}(\x8c\x01au.", "damaged"),
    "a list as a key": (P4 + b"}]Ns.", "key of type list"),
    "a nested tuple as a key": (P4 + b"})" + b"\x85" * 200_000 + b"Ns.", "key of type tuple"),
    "no text": (P4 + b"\x8c\x01\xff.", "damaged"),
    "a list": (P4 + b"].", "holds a list"),
    "another dictionary": (P4 + b"}.", "has no list 'segments'"),
}


@pytest.mark.parametrize(("data", "why"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_gets_a_sentence(tmp_path, data, why):
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=why) as caught:
        load_snapshot(path)
    assert isinstance(caught.value, SnapshotError) and len(str(caught.value)) < 600


BOMBS = {
    "dictionaries": b"}" * 100_000,
    "lists": b"]" * 100_000,
    "marks": b"(" * 100_000,
    "tuples in tuples": b")" + b"\x85" * 100_000,
    "lists in lists": b"]" * 50_000 + b"a" * 49_999,
    "memo": b"N" + b"\x94" * 100_000,
    "memo out of order": b"N" + b"".join(b"r" + struct.pack("<I", n * 77 + 5) for n in range(20_000)),
    "dictionaries in the memo": b"}\x94" * 50_000,
    "wide letters": b"".join(b"\x8c\x04\xf0\x9f\x98\x80" for _ in range(20_000)),
    "doubling": b"]\x94" + b"".join(b"](h\x00h\x00eq\x000" for _ in range(100)) + b"N",
    "small dictionaries": b"".join(b"}\x8c\x01aNs" for _ in range(20_000)),
}


@pytest.mark.parametrize("opcodes", BOMBS.values(), ids=BOMBS)
def test_memory_stays_within_200_times_the_file(opcodes):
    data = P4 + opcodes + b"."
    tracemalloc.start()
    try:
        try:
            value = read_plain(data)
        except ValueError:
            value = None
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del value
    assert peak < 200 * len(data)


def test_every_cut_of_a_file_gets_a_sentence(model):
    data = pickle.dumps(model.snapshot(), protocol=4)
    for length in range(len(data)):
        with pytest.raises(SnapshotError):
            read_plain(data[:length])


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60), st.sampled_from([2, 3, 4, 5]))
def test_any_bytes_give_a_value_or_a_sentence(tail, protocol):
    try:
        read_plain(bytes([0x80, protocol]) + tail)
    except SnapshotError as error:
        assert str(error).endswith(".")


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_changed_file_gives_a_snapshot_or_a_sentence(data):
    model = Allocator(1 << 30)
    model.free(model.malloc(30 * MIB))
    content = bytearray(pickle.dumps(model.snapshot(), protocol=data.draw(st.sampled_from([2, 4]))))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        replay(read_plain(bytes(content)))
    except ValueError as error:
        assert str(error)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 64), 1 << 64)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.lists(inner).map(tuple),
)


@settings(max_examples=200, deadline=None)
@given(PLAIN, st.sampled_from([3, 4, 5]))
def test_plain_values_come_back_as_they_were(value, protocol):
    assert read_plain(pickle.dumps(value, protocol=protocol)) == value


def test_an_unoptimised_pickler_is_read_too(model):
    """The pure-Python pickler and the optimiser write other opcodes for the same values."""
    buffer = io.BytesIO()
    pickle._Pickler(buffer, protocol=4).dump(model.snapshot())
    assert read_plain(buffer.getvalue()) == model.snapshot()
    assert read_plain(pickletools.optimize(buffer.getvalue())) == model.snapshot()


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SnapshotError, match="No such file"):
        load_snapshot(tmp_path / "nowhere")
    with pytest.raises(SnapshotError):
        load_snapshot(tmp_path)
    big = tmp_path / "big"
    big.write_bytes(b"\x80\x04" + b"N" * 100)
    with pytest.raises(SnapshotError, match="larger than 50 bytes"):
        load_snapshot(big, limit=50)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SnapshotError, match="no ordinary file"):
        load_snapshot(tmp_path / "pipe")


def test_what_cannot_be_written_is_refused(tmp_path):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value in ({"segments": deep}, {"segments": lambda: None}):
        with pytest.raises(SnapshotError, match="no snapshot that can be written"):
            save_snapshot(value, tmp_path / "snapshot.pickle")
    assert not (tmp_path / "snapshot.pickle").exists()
