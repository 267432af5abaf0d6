"""Recorded runs of PyTorch's allocator, and a way to run the same requests through the model."""

import gzip
import json
import os
from pathlib import Path

import pytest

from torchcourse.allocator import Allocator, OutOfMemoryError

GOLDEN = sorted((Path(__file__).parent.parent / "data" / "alloc" / "golden").glob("*.json.gz"))
BESIDE = Path(__file__).parents[3] / "shared" / "alloc" / "real"
STATES = {"active_a": "active_allocated", "active_p": "active_pending_free", "inactive": "inactive"}


def read(path):
    with gzip.open(path, "rt") as file:
        return json.load(file)


@pytest.fixture(params=GOLDEN, ids=lambda path: path.name.removesuffix(".json.gz"))
def golden(request):
    """One recorded run of PyTorch's own allocator code."""
    return read(request.param)


def run_golden(golden, conf=None, **settings):
    """The model after the recorded requests, and its answer to each."""
    settings = {"addresses": golden["addresses"], **settings}
    model = Allocator(golden["total"], golden["conf"] if conf is None else conf, **settings)
    if golden["fraction"] is not None:
        model.set_per_process_memory_fraction(golden["fraction"])
    live = {}
    return model, [_request(model, live, golden["stream_handles"], *op) for op in golden["ops"]]


def _request(model, live, handles, name, *arguments):
    if name == "malloc":
        key, nbytes, stream = arguments
        try:
            live[key] = model.malloc(nbytes, handles[stream])
        except OutOfMemoryError as error:
            return str(error).partition(" If reserved")[0]
        return live[key]
    if name == "free" and arguments[0] in live:
        model.free(live.pop(arguments[0]))
    elif name == "record_stream" and arguments[0] in live:
        model.record_stream(live[arguments[0]], handles[arguments[1]])
    elif name == "empty_cache":
        model.empty_cache()
    elif name == "gpu_busy":
        model.gpu_busy = arguments[0]
    return None


@pytest.fixture(scope="session")
def real_folder(request):
    """The traces of real GPUs, which are not part of the project; TORCHCOURSE_ALLOC_REAL names their folder."""
    named = request.config.getoption("--alloc-real", default=None) or os.environ.get("TORCHCOURSE_ALLOC_REAL")
    folder = Path(named) if named else BESIDE
    if not list(folder.glob("*.json.gz")):
        assert not named, f"no *.json.gz in {folder}"
        pytest.skip(
            "the traces recorded on real GPUs are not here; TORCHCOURSE_ALLOC_REAL names their folder"
        )
    return folder


def real_snapshot(rows):
    """The rows of a real trace in the form of a snapshot."""
    entries = [
        {
            "action": rows["actions"][kind],
            "device_free" if rows["actions"][kind] == "oom" else "addr": address,
            "size": size,
            "stream": stream,
        }
        for kind, address, size, stream in rows["trace"]
    ]
    segments = [
        {
            "device": rows["device"],
            "address": address,
            "total_size": total,
            "stream": stream,
            "segment_type": kind,
            "blocks": [
                {"size": size, "requested_size": requested, "state": STATES[state]}
                for size, requested, state in blocks
            ],
        }
        for address, total, kind, stream, blocks in rows["segments"]
    ]
    return {"segments": segments, "device_traces": [[]] * rows["device"] + [entries]}
