"""The same random requests to the model and to the live allocator: same places, same numbers."""

import json
import subprocess
import sys

import pytest
import torch

from torchcourse.allocator import Allocator

# Runs in a process of its own, whose allocator is untouched, and prints what the live allocator did.
LIVE = """
import json, random, torch
torch.cuda.init()
torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")
chance, live, made = random.Random(0), {}, []
for number in range(2000):
    if live and chance.random() < 0.47:
        key = chance.choice(sorted(live))
        del live[key]
        made.append(["free", key])
    else:
        nbytes = int(2 ** chance.uniform(0, 25))
        live[number] = torch.empty(nbytes, dtype=torch.uint8, device="cuda")
        made.append(["malloc", number, nbytes, live[number].data_ptr()])
snapshot = torch.cuda.memory._snapshot()
trace = [
    [e["action"], e.get("addr", 0), e["size"]]
    for e in snapshot["device_traces"][0] if e["action"] != "snapshot"
]
stats = {k: v for k, v in torch.cuda.memory_stats().items() if not k.startswith("host")}
print(json.dumps({"made": made, "trace": trace, "stats": stats, "total": torch.cuda.mem_get_info()[1]}))
"""


@pytest.fixture(scope="module")
def live():
    if not torch.cuda.is_available():
        pytest.skip("no CUDA GPU here: the live allocator cannot be asked")
    run = subprocess.run([sys.executable, "-c", LIVE], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def model(live):
    """The model after the same requests, over segments where the live driver put them."""
    segments = iter([address for action, address, _ in live["trace"] if action == "segment_alloc"])
    version = tuple(map(int, torch.__version__.split("+")[0].split(".")[:2]))
    model = Allocator(live["total"], tie="segment" if version >= (2, 13) else "address")
    take = model.state.driver.malloc
    model.state.driver.malloc = lambda size: take(size) and next(segments)
    where = {}
    for action, key, *nbytes in live["made"]:
        if action == "free":
            model.free(where.pop(key))
        else:
            where[key] = model.malloc(nbytes[0])
    return model


@pytest.mark.cuda
def test_the_same_trace(live, model):
    assert [[entry.action, entry.addr, entry.size] for entry in model.trace()] == live["trace"]


@pytest.mark.cuda
def test_the_same_statistics(live, model):
    stats = model.memory_stats()
    common = stats.keys() & live["stats"].keys()
    assert len(common) > 100
    assert {key: stats[key] for key in common} == {key: live["stats"][key] for key in common}
