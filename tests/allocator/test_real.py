"""Traces recorded on real GPUs (PyTorch up to 2.11): the model makes every choice that they record."""

from torchcourse.allocator import replay

from .conftest import read, real_snapshot


def test_every_event_agrees(real_folder, capsys):
    rows = []
    for path in sorted(real_folder.glob("*.json.gz")):
        recorded = read(path)
        replayed = replay(real_snapshot(recorded), device=recorded["device"])
        exact = sum(event.agrees for event in replayed.events)
        rows.append((path.name.removesuffix(".json.gz"), len(replayed.events), exact, replayed))
    with capsys.disabled():
        print(f"\n{'trace':8} {'events':>7} {'exact':>7}  first difference")
        for name, events, exact, replayed in rows:
            print(f"{name:8} {events:7} {exact:7}  {replayed.first_difference or 'none'}")
    assert all(replayed.first_difference is None and replayed.layout_agrees for *_, replayed in rows)


def test_the_other_tie_rule_does_not_agree(real_folder):
    """These traces tell the two rules apart: lowest address, or oldest segment."""
    parted = 0
    for path in sorted(real_folder.glob("*.json.gz")):
        recorded = read(path)
        parted += (
            replay(real_snapshot(recorded), recorded["device"], tie="segment").first_difference is not None
        )
    assert parted > 5
