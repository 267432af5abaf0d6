"""Profiles read into lanes: traces in the form that the profiler writes for a GPU, and one real one of the CPU."""

import gzip
import json
import xml.etree.ElementTree as ET

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.profiler import profile

from torchcourse.devices.queue import read_profile
from torchcourse.graphs.queue import svg
from torchcourse.graphs.queue_story import tell


def event(category, name, start, us, tid=1, **args):
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 9,
        "tid": tid,
        "ts": start,
        "dur": us,
        "args": args,
    }


# Two operators and .item(), as a GPU's trace has them: calls of the runtime and work are joined by `correlation`.
TRACE = {
    "schemaVersion": 1,
    "traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 9, "tid": 0, "ts": 0, "args": {"name": "python"}},
        event("cpu_op", "aten::matmul", 1000.0, 30.0),
        event("cpu_op", "aten::mm", 1002.0, 26.0),
        event("cuda_runtime", "cudaLaunchKernel", 1010.0, 6.0, correlation=11),
        event("cpu_op", "aten::relu", 1032.0, 12.0),
        event("cuda_runtime", "cudaLaunchKernel", 1036.0, 5.0, correlation=12),
        event("cpu_op", "aten::item", 1046.0, 80.0),
        event("cuda_runtime", "cudaMemcpyAsync", 1050.0, 8.0, correlation=13),
        event("cuda_runtime", "cudaStreamSynchronize", 1060.0, 64.0, correlation=14),
        event("kernel", "void cutlass::Kernel2<gemm_128x64>(Params)", 1016.5, 70.0, tid=7, stream=7, correlation=11),
        event("kernel", "void at::native::relu_kernel<4, F>(int)", 1086.5, 20.0, tid=7, stream=7, correlation=12),
        event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 1118.0, 2.0, tid=7, stream=7, correlation=13),
        {"ph": "s", "id": 11, "pid": 9, "tid": 1, "ts": 1010.0, "cat": "ac2g", "name": "ac2g"},
    ],
}  # fmt: skip


def test_operators_are_lines_and_calls_are_joined_to_their_work():
    lanes = read_profile(TRACE)
    assert lanes.lines == ("aten::matmul", "aten::relu", "aten::item")
    assert lanes.hosts == ("host",) and lanes.streams == ("stream 7",)
    work = [
        (i.label, i.kind, i.start, i.end, i.step, i.queued) for i in lanes.intervals if i.lane == "stream 7"
    ]
    assert work == [
        ("Kernel2", "kernel", 16.5, 86.5, 0, 16.0),
        ("relu_kernel", "kernel", 86.5, 106.5, 1, 41.0),
        ("Memcpy DtoH", "copy", 118.0, 120.0, 2, 58.0),
    ]
    assert [(i.start, i.end) for i in lanes.intervals if i.kind == "wait"] == [(60.0, 124.0)]
    assert (lanes.busy("stream 7"), lanes.waited) == (92.0, 64.0)


def test_a_wait_outside_of_all_operators_is_kept():
    trace = {
        "traceEvents": [*TRACE["traceEvents"], event("cuda_runtime", "cudaDeviceSynchronize", 1130.0, 9.0)]
    }
    lanes = read_profile(trace)
    assert [(i.start, i.end, i.step) for i in lanes.intervals if i.kind == "wait"][-1] == (130.0, 139.0, -1)
    assert read_profile(trace, at_most=2).waited == 0, "it belongs to what was left out"


def test_a_file_and_a_packed_file_are_read_as_the_dict(tmp_path):
    plain, packed = tmp_path / "trace.json", tmp_path / "trace.json.gz"
    plain.write_text(json.dumps(TRACE))
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_profile(plain) == read_profile(str(packed)) == read_profile(TRACE)


def test_backward_has_a_lane_of_its_own():
    trace = {
        "traceEvents": [event("cpu_op", "aten::mul", 0, 5), event("cpu_op", "MulBackward0", 9, 5, tid=2)]
    }
    assert read_profile(trace).hosts == ("host", "host 2")


def test_a_real_profile_of_the_cpu_has_no_stream():
    with profile() as seen:
        torch.ones(4) @ torch.ones(4)
    lanes = read_profile(seen)
    assert [line for line in lanes.lines if "matmul" in line] and lanes.streams == ()


def test_a_long_profile_is_cut_and_says_so():
    trace = {"traceEvents": [event("cpu_op", f"aten::op{k}", 10 * k, 5) for k in range(30)]}
    lanes = read_profile(trace, at_most=10)
    assert len(lanes.lines) == 10 and lanes.cut == "The first 10 of 30 operators are shown."


def test_nonsense_in_a_trace_is_passed_over():
    odd = [
        None,
        3,
        {"ph": "X"},
        event("kernel", "k", "soon", 1),
        event("cpu_op", "aten::add", float("inf"), 1),
    ]
    odd += [{"ph": "X", "cat": "kernel", "ts": 1, "args": "none"}, event("cpu_op", "aten::mul", 5, -1)]
    lanes = read_profile({"traceEvents": [*odd, event("cpu_op", "aten::add", 1, 2)]})
    assert lanes.lines == ("aten::add",)
    assert "no operator and no kernel" in str(read_profile({"traceEvents": odd}))


values = st.none() | st.booleans() | st.integers(-10, 10**9) | st.floats() | st.text(max_size=4)
odd_events = st.fixed_dictionaries(
    {"ph": st.just("X"), "cat": st.sampled_from(["cpu_op", "cuda_runtime", "kernel", "gpu_memcpy", "other"])},
    optional={
        "name": st.sampled_from(["aten::add", "cudaLaunchKernel", "cudaDeviceSynchronize", "<b>", "\x00\x1b"])
        | values,
        "ts": values | st.integers(0, 50),
        "dur": values | st.integers(0, 50),
        "tid": values,
        "args": values | st.fixed_dictionaries({}, optional={"correlation": values, "stream": values}),
    },
)


@settings(deadline=None, max_examples=150)
@given(st.lists(odd_events, max_size=12))
def test_any_trace_can_be_read_and_drawn(entries):
    story = tell(read_profile({"traceEvents": entries}))
    ET.fromstring(svg(story))
    assert str(story).startswith("A profile (profile)")


@pytest.mark.parametrize("content", [b"", b"{", b"\x1f\x8bnot packed", b"[" * 200_000, b"\xff\xfe"])
def test_a_file_that_is_no_trace_gets_one_sentence(tmp_path, content):
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"trace.json can't be read as a trace"):
        read_profile(path)


def test_what_is_no_profile_gets_one_sentence(tmp_path):
    with pytest.raises(TypeError, match="takes a finished"):
        read_profile(3)
    with pytest.raises(ValueError, match="no list called 'traceEvents'"):
        read_profile({"events": []})
    with pytest.raises(ValueError, match="can't be read"):
        read_profile(tmp_path / "missing.json")
    with profile() as unfinished, pytest.raises(ValueError, match="leave its `with` block first"):
        read_profile(unfinished)
