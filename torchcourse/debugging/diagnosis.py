"""`diagnose(profile)`: what a profile says about where the time goes, in one sentence computed from its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._rows import Row, Rows, read

THIRD = 1 / 3
BUSY = 0.7  # share of the time from which a device counts as busy
WAITS = 0.1  # share of the time in waits from which they count
SHOWN = 12  # rows in the text
_SYNC = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "hipStreamSynchronize",
         "hipDeviceSynchronize")  # fmt: skip
_LAUNCH = ("LaunchKernel", "GraphLaunch")
NO_DEVICE = (
    "No device in this profile: nothing can be said about launches, copies to a device, or waits for one."
)


@dataclass(frozen=True, slots=True)
class Facts:
    """The sums behind the sentence, in microseconds."""

    wall_us: float  # first event to last; of averages: all self CPU time, or the device's where that is more
    cpu_us: float  # self CPU time
    device_us: float  # kernels and copies
    data_us: float  # the loop waited for its next batch
    sync_us: float  # the CPU waited for the device
    copy_us: float  # copies to, from or within the device
    syncs: int
    launches: int
    kernels: int

    @property
    def busy(self) -> float:
        """The device's share of the time, 0 to 1."""
        return min(1.0, self.device_us / self.wall_us) if self.wall_us else 0.0

    @property
    def kernel_us(self) -> float:
        """The mean length of a kernel."""
        return (self.device_us - self.copy_us) / self.kernels if self.kernels else 0.0


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What a profile says. `str()` is the text twin, with the table."""

    kind: str  # "loader-bound" | "copy-bound" | "sync-bound" | "launch-bound" | "compute-bound" | "cpu-only"
    sentence: str
    table: tuple[
        Row, ...
    ]  # by self time, the longest first: of the device where there is one, else of the CPU
    facts: Facts
    mend: str

    @property
    def has_device(self) -> bool:
        return self.facts.device_us > 0

    def __str__(self) -> str:
        rows = self.table[:SHOWN]
        width = max([len(_short(row.name)) for row in rows], default=4)
        lines = [self.sentence, f"{'name':{width}}  {'calls':>7}  {'self CPU':>10}  {'self device':>11}"]
        for row in rows:
            times = f"{_time(row.self_cpu_us):>10}  {_time(row.self_device_us):>11}"
            lines.append(f"{_short(row.name):{width}}  {row.count:>7,}  {times}")
        more = len(self.table) - SHOWN
        return "\n".join(lines + ([f"… and {more} more rows"] if more > 0 else []))

    def __repr__(self) -> str:
        return self.sentence


def diagnose(profile: Any) -> Diagnosis:
    """What bounds the profiled code: `.kind` (a slug), `.sentence`, `.table`.

    profile: a finished `torch.profiler.profile`, its `key_averages()`, the path of a trace that
    `export_chrome_trace` wrote (.json or .json.gz, up to 256 MiB; nothing in it runs), or a list of mappings with
    name, count, self_cpu_us, and cpu_us, self_device_us, device_us, kind where known. The kinds: the loop waits
    for its batches more than a third of the time ("loader-bound"); the device is busy ("compute-bound", or
    "copy-bound" where a third of that are copies); it idles while Python waits for it ("sync-bound") or
    is slow to feed it ("launch-bound"); no device took part ("cpu-only").
    Raises TypeError for anything else, ValueError for what can't be read.
    """
    rows = read(profile)
    if not rows.rows:
        raise ValueError(
            "This profile is empty: nothing ran in it, or its `with` block has not been left yet."
        )
    facts = _facts(rows)
    kind = _kind(facts)
    table = _ranked(rows, facts)
    return Diagnosis(kind, _SENTENCES[kind](facts, table), table, facts, MENDS[kind])


def _facts(read_rows: Rows) -> Facts:
    rows = read_rows.rows
    cpu = sum(row.self_cpu_us for row in rows)
    device = sum(row.self_device_us for row in rows if row.on_device)
    if not any(row.on_device for row in rows):  # a table of operators alone: their own kernels' time
        device = sum(row.self_device_us for row in rows if row.kind != "annotation")
    kernels = sum(row.count for row in rows if row.kind == "kernel")
    syncs = [row for row in rows if row.name in _SYNC]
    launches = sum(
        row.count for row in rows if row.kind == "runtime" and any(part in row.name for part in _LAUNCH)
    )
    return Facts(
        wall_us=read_rows.wall_us or max(cpu, device),
        cpu_us=cpu,
        device_us=device,
        data_us=sum(row.cpu_us for row in rows if row.kind == "data"),
        sync_us=sum(row.self_cpu_us for row in syncs),
        copy_us=sum(row.self_device_us for row in rows if row.kind == "copy"),
        syncs=sum(row.count for row in syncs),
        launches=launches or kernels,
        kernels=kernels,
    )


def _kind(facts: Facts) -> str:
    if facts.data_us > THIRD * facts.wall_us:
        return "loader-bound"
    if not facts.device_us:
        return "cpu-only"
    if (
        facts.copy_us > THIRD * max(facts.device_us, facts.busy * facts.wall_us)
        and facts.copy_us > WAITS * facts.wall_us
    ):
        return "copy-bound"
    if facts.busy >= BUSY:
        return "compute-bound"
    return "sync-bound" if facts.sync_us > WAITS * facts.wall_us else "launch-bound"


def _ranked(rows: Rows, facts: Facts) -> tuple[Row, ...]:
    shown = [row for row in rows.rows if row.kind != "annotation"]
    if facts.device_us:
        return tuple(
            sorted(
                shown,
                key=lambda r: (-r.self_device_us * r.on_device, -r.self_device_us, -r.self_cpu_us, r.name),
            )
        )
    return tuple(sorted(shown, key=lambda r: (-(r.cpu_us if r.kind == "data" else r.self_cpu_us), r.name)))


# --- the sentences ---------------------------------------------------------------------------------------

MENDS = {
    "loader-bound": "Give the DataLoader workers (`num_workers`), or do less per sample; a faster GPU changes nothing.",
    "copy-bound": "Copy less and earlier: `pin_memory=True`, `non_blocking=True`, and tensors made on the device.",
    "sync-bound": "Ask for numbers less often: no `.item()`, `print` or `.cpu()` in each step; sum on the device.",
    "launch-bound": "Fewer, larger kernels: a larger batch, `torch.compile`, CUDA graphs, a fused optimizer.",
    "compute-bound": "The device works: lower precision (`torch.autocast`), better kernels, or less work.",
    "cpu-only": "Look at the operator with the largest self time: many short calls are overhead, few long ones work.",
}


def _loader(facts: Facts, table: tuple[Row, ...]) -> str:
    rest = f"the device works {facts.busy:.0%} of it" if facts.device_us else NO_DEVICE
    share = f"The loop waits for its next batch {facts.data_us / facts.wall_us:.0%} of {_time(facts.wall_us)}"
    return f"{share}; {rest}." if facts.device_us else f"{share}. {rest}"


def _copies(facts: Facts, table: tuple[Row, ...]) -> str:
    share = facts.copy_us / facts.device_us
    return f"Copies take {_time(facts.copy_us)}, {share:.0%} of the device's {_time(facts.device_us)}."


def _syncs(facts: Facts, table: tuple[Row, ...]) -> str:
    return (
        f"The device works {facts.busy:.0%} of {_time(facts.wall_us)}, and Python waits for it {facts.syncs:,} times, "
        f"{_time(facts.sync_us)} in all: each wait lets the queue run empty."
    )


def _launches(facts: Facts, table: tuple[Row, ...]) -> str:
    length = f" of {_time(facts.kernel_us)} each" if facts.kernels else ""
    return (
        f"The device works {facts.busy:.0%} of {_time(facts.wall_us)}: {facts.launches:,} launches{length} "
        "are over before Python has queued the next."
    )


def _computes(facts: Facts, table: tuple[Row, ...]) -> str:
    top = table[0]
    share = top.self_device_us / facts.device_us
    most = f"most of it, {share:.0%}, in {_calls(top, top.self_device_us)}"
    return f"The device works {facts.busy:.0%} of {_time(facts.wall_us)}; {most}."


def _cpu(facts: Facts, table: tuple[Row, ...]) -> str:
    if not table or not facts.cpu_us:
        return NO_DEVICE
    top = table[0]
    share = f"{top.self_cpu_us / facts.cpu_us:.0%} of {_time(facts.cpu_us)} of CPU time"
    return f"{share} is in {_calls(top, top.self_cpu_us)}. {NO_DEVICE}"


def _calls(row: Row, us: float) -> str:
    times = "1 call" if row.count == 1 else f"{row.count:,} calls"
    return f"{_short(row.name)} ({times}, {_time(us / max(1, row.count))} each)"


_SENTENCES = {
    "loader-bound": _loader,
    "copy-bound": _copies,
    "sync-bound": _syncs,
    "launch-bound": _launches,
    "compute-bound": _computes,
    "cpu-only": _cpu,
}


def _time(us: float) -> str:
    if us >= 1e6:
        return f"{us / 1e6:.3g} s"
    return f"{us / 1e3:.3g} ms" if us >= 1e3 else f"{us:.3g} µs"


def _short(name: str) -> str:
    return name if len(name) <= 48 else f"{name[:47]}…"
