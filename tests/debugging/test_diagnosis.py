"""`diagnose`: the kind follows from the rows, whatever they were read from."""

import gzip
import json
import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, Dataset

from torchcourse import _slugs
from torchcourse.debugging import Row, diagnose


def cpu(name, us, count=1, total=None):
    return {"name": name, "count": count, "self_cpu_us": us, "cpu_us": us if total is None else total}


def kernel(name, us, count=1, kind="kernel"):
    return {"name": name, "count": count, "self_cpu_us": 0, "self_device_us": us, "kind": kind}


COPY = "Memcpy HtoD (Pageable -> Device)"
TABLES = {
    "cpu-only": [cpu("aten::mm", 900, 3), cpu("aten::relu", 100)],
    "loader-bound": [
        cpu("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 800),
        cpu("aten::mm", 200),
    ],
    "launch-bound": [cpu("cudaLaunchKernel", 700, 100), cpu("aten::add", 300, 100), kernel("add", 200, 100)],
    "sync-bound": [cpu("cudaStreamSynchronize", 500, 50), cpu("aten::item", 500, 50), kernel("sum", 200, 50)],
    "copy-bound": [cpu("cudaMemcpyAsync", 900, 9), kernel(COPY, 600, 9, "copy"), kernel("mm", 200, 9)],
    "compute-bound": [
        cpu("cudaLaunchKernel", 90, 9),
        cpu("cudaDeviceSynchronize", 910),
        kernel("gemm", 950, 9),
    ],
}


@pytest.mark.parametrize("kind", TABLES)
def test_the_kind_of_a_table(kind):
    found = diagnose(TABLES[kind])
    assert found.kind == kind and kind in _slugs.SLUGS and found.mend, str(found)
    assert len(found.table) == len(TABLES[kind]) and found.sentence in str(found)


def test_the_sentences_are_computed():
    assert (
        "90% of 1 ms of CPU time is in aten::mm (3 calls, 300 µs each)."
        in diagnose(TABLES["cpu-only"]).sentence
    )
    assert "No device in this profile: nothing can be said" in diagnose(TABLES["cpu-only"]).sentence
    assert "waits for its next batch 80% of 1 ms" in diagnose(TABLES["loader-bound"]).sentence
    assert "works 20% of 1 ms: 100 launches of 2 µs each" in diagnose(TABLES["launch-bound"]).sentence
    assert "Python waits for it 50 times, 500 µs in all" in diagnose(TABLES["sync-bound"]).sentence
    assert "Copies take 600 µs, 75% of the device's 800 µs." in diagnose(TABLES["copy-bound"]).sentence
    assert (
        "works 95% of 1 ms; most of it, 100%, in gemm (9 calls" in diagnose(TABLES["compute-bound"]).sentence
    )


def test_the_longest_stands_first():
    assert [row.name for row in diagnose(TABLES["copy-bound"]).table] == [COPY, "mm", "cudaMemcpyAsync"]
    assert [row.name for row in diagnose(TABLES["cpu-only"]).table] == ["aten::mm", "aten::relu"]


@pytest.fixture(scope="module")
def recorded():
    model, x = nn.Sequential(nn.Linear(64, 64), nn.ReLU()), torch.randn(8, 64)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        model(x).sum().backward()
    return found


def test_a_real_profile_its_averages_and_its_trace_agree(recorded, tmp_path):
    path = tmp_path / "trace.json"
    recorded.export_chrome_trace(str(path))
    packed = tmp_path / "trace.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    found = [
        diagnose(one) for one in (recorded, recorded.key_averages(), recorded.events(), path, str(packed))
    ]
    assert [one.kind for one in found] == ["cpu-only"] * 5
    counts = [{row.name: row.count for row in one.table if row.name.startswith("aten::")} for one in found]
    assert all(one == counts[0] for one in counts) and counts[0]["aten::addmm"] == 1
    own = [next(row.self_cpu_us for row in one.table if row.name == "aten::addmm") for one in found]
    assert own == pytest.approx([own[0]] * 5, rel=0.05)


class Slow(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        time.sleep(0.02)
        return torch.zeros(4)


def test_a_slow_loader_is_seen(tmp_path):
    with profile(activities=[ProfilerActivity.CPU]) as found:
        for _ in DataLoader(Slow(), batch_size=2):
            pass
    found.export_chrome_trace(str(tmp_path / "trace.json"))
    assert [diagnose(one).kind for one in (found, tmp_path / "trace.json")] == ["loader-bound"] * 2
    assert diagnose(found).table[0].kind == "data"


def traced(tmp_path, events):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def event(name, cat, ts, dur, tid=1):
    return {"ph": "X", "name": name, "cat": cat, "ts": ts, "dur": dur, "pid": 0, "tid": tid}


def test_self_time_in_a_trace(tmp_path):
    events = [event("aten::linear", "cpu_op", 0, 100), event("aten::addmm", "cpu_op", 10, 60),
              event("aten::mm", "cpu_op", 20, 10), event("cudaLaunchKernel", "cuda_runtime", 40, 5),
              event("gemm", "kernel", 50, 950, 7), event(COPY, "gpu_memcpy", 1000, 10, 7)]  # fmt: skip
    found = diagnose(traced(tmp_path, events))
    own = {row.name: row.self_cpu_us or row.self_device_us for row in found.table}
    assert own == {
        "aten::linear": 40,
        "aten::addmm": 45,
        "aten::mm": 10,
        "cudaLaunchKernel": 5,
        "gemm": 950,
        COPY: 10,
    }
    assert (found.kind, found.facts.wall_us, found.facts.copy_us) == ("compute-bound", 1010, 10)


BAD_FILES = {
    "no JSON": b"hello",
    "no events": b"{}",
    "nothing in it": b'{"traceEvents": []}',
    "other things in it": b'{"traceEvents": [1, null, {"ph": "X"}, {"ph": "X", "name": 3, "cat": "cpu_op"}]}',
    "deep": b"[" * 100_000,
    "a number": b"3",
    "not UTF-8": b"\xff\xfe\xfa",
    "a long number": b'{"traceEvents": [{"ph": "X", "name": "a", "cat": "cpu_op", "ts": 1e400, "dur": NaN}]}',
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_gets_a_sentence(name, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(BAD_FILES[name])
    with pytest.raises(ValueError, match=r"bad\.json"):
        diagnose(path)
    with pytest.raises(ValueError, match="can't be read"):
        diagnose(tmp_path / "none.json")
    (tmp_path / "bad.json.gz").write_bytes(BAD_FILES[name])
    with pytest.raises(ValueError, match="can't be read"):
        diagnose(tmp_path / "bad.json.gz")


BAD = {
    "nothing": (None, TypeError, "got a NoneType"),
    "a number": (3, TypeError, "got a int"),
    "a dict": ({}, TypeError, "got a dict"),
    "no rows": ([], ValueError, "is empty"),
    "a row without a time": ([{"name": "a", "count": 1}], ValueError, "can't be read"),
    "a row of text": (["aten::mm 3"], ValueError, "can't be read"),
    "a negative time": ([cpu("a", -1)], ValueError, "0 or more"),
    "not a number": ([cpu("a", float("nan"))], ValueError, "0 or more"),
    "an unknown kind": ([cpu("a", 1) | {"kind": "x"}], ValueError, "one of operator"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_a_sentence(name):
    value, error, message = BAD[name]
    with pytest.raises(error, match=message):
        diagnose(value)


def test_an_unfinished_profile():
    running = profile(activities=[ProfilerActivity.CPU])
    with running, pytest.raises(ValueError, match="`with` block has not been left yet"):
        diagnose(running)
    with pytest.raises(ValueError, match="no events"):
        diagnose(profile(activities=[ProfilerActivity.CPU]))


times = st.floats(0, 1e9)
rows = st.builds(Row, st.text(max_size=60), st.integers(0, 10**6), times, times, times, times,
                 st.sampled_from(["operator", "kernel", "copy", "runtime", "data", "annotation"]))  # fmt: skip


@given(st.lists(rows, min_size=1, max_size=8))
def test_any_table_gets_a_kind_and_a_sentence(table):
    found = diagnose(table)
    assert found.kind in _slugs.SLUGS and found.sentence.endswith(".") and str(found)
    assert 0 <= found.facts.busy <= 1
