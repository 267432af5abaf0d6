"""How fast the allocator model is, and how its cost grows. Prints figures; asserts only what is exact."""

import json
import pickle
import random
import time
import tracemalloc

import pytest

from torchcourse.allocator import Allocator, load_snapshot, replay
from torchcourse.allocator.sizes import GIB, MIB
from torchcourse.allocator.unpickle import read_plain

from ..allocator.conftest import read, real_folder, real_snapshot

assert real_folder  # the fixture

SIZES = {
    "sizes of a training step": lambda chance: chance.choice(
        (512, 4096, MIB // 2, 3 * MIB, 12 * MIB, 40 * MIB)
    ),
    "any size up to 128 MiB": lambda chance: int(2 ** chance.uniform(6, 27)),
    "any size up to 100 kB": lambda chance: chance.randrange(1, 100_000),
}


def requests(count, live, size, seed=0):
    """Random requests: positive is a malloc of so many bytes, -n frees the n-th block handed out."""
    chance, kept, made, given = random.Random(seed), [], [], 0
    for _ in range(count):
        if kept and (len(kept) > live or chance.random() < 0.45):
            place = chance.randrange(len(kept))
            kept[place], kept[-1] = kept[-1], kept[place]
            made.append(-kept.pop())
        else:
            given += 1
            kept.append(given)
            made.append(size(chance))
    return made


def run(made):
    model = Allocator(640 * GIB)
    addresses, malloc, free = [0], model.malloc, model.free
    began = time.perf_counter()
    for request in made:
        if request > 0:
            addresses.append(malloc(request))
        else:
            free(addresses[-request])
    return time.perf_counter() - began, model


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("live", [300, 10_000])
def test_events_per_second(name, live):
    made = requests(100_000, live, SIZES[name])
    seconds, model = min((run(made) for _ in range(5)), key=lambda result: result[0])
    entries = sum(1 for _ in model.trace())
    print(
        f"\n{name}, {live} live blocks: {len(made) / seconds:,.0f} requests/s, {entries / seconds:,.0f} entries/s"
    )
    assert entries > len(made)


def test_growth():
    """A million requests, more than ten thousand free blocks: the time of each does not grow, memory is linear."""
    size = SIZES["any size up to 100 kB"]
    for count, live in ((10_000, 1000), (100_000, 10_000), (1_000_000, 40_000)):
        made = requests(count, live, size)
        tracemalloc.start()
        seconds, model = run(made[: count // 10])
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        seconds, model = run(made)
        began = time.perf_counter()
        model.memory_stats()
        free = sum(block.state == 0 for block in model.state.blocks.values())
        print(
            f"\n{count:,} requests, {free:,} free blocks at the end: {1e6 * seconds / count:.2f} us each, "
            f"{held / (count // 10):.0f} bytes each, statistics {time.perf_counter() - began:.2f} s"
        )


def test_the_largest_real_snapshot(real_folder, tmp_path):
    path = max(real_folder.glob("*.json.gz"), key=lambda path: len(read(path)["trace"]))
    recorded = read(path)
    snapshot = real_snapshot(recorded)
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps(snapshot, protocol=4))
    began = time.perf_counter()
    loaded = load_snapshot(file)
    read_at = time.perf_counter()
    replayed = replay(loaded, recorded["device"])
    print(
        f"\n{path.name}: {file.stat().st_size:,} bytes read in {read_at - began:.2f} s, {len(replayed.events):,} "
        f"events replayed in {time.perf_counter() - read_at:.2f} s"
    )
    assert loaded == snapshot and replayed.first_difference is None


def test_the_restricted_reader_beside_its_peers():
    """The same file through Python's own readers: one in C, which runs what a file holds, and json."""
    model = Allocator(80 * GIB)
    for request in requests(20_000, 300, SIZES["any size up to 100 kB"]):
        model.malloc(max(request, 1))
    snapshot = model.snapshot()
    data, text = pickle.dumps(snapshot, protocol=4), json.dumps(snapshot)
    for name, reader in (
        ("read_plain", lambda: read_plain(data)),
        ("pickle.loads", lambda: pickle.loads(data)),  # allowed: our own bytes, to compare the time
        ("json.loads", lambda: json.loads(text)),
    ):
        began = time.perf_counter()
        reader()
        print(f"\n{name}: {time.perf_counter() - began:.2f} s for {len(data):,} bytes of pickle")
