"""From what was noted to the trace: the profiler's list of operators, filled from the modes' notes."""

import gc
import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch.overrides import resolve_name

from .events import Call, Node, Operator, Output, Trace
from .nodes import Nodes
from .profile import Flat, FlatOperator, flatten
from .record import RawCall, RawOperator, Record, Watch
from .spelling import respell
from .waits import copies_of, masks_of, waits_of

NO_PROFILER = (
    "Only operators that reach a TorchDispatchMode are listed: {why}, so what composite operators and "
    "kernels call, and the order in which nodes ran, are missing."
)
COMPILED = "A torch.compile'd function was called: under xray it ran uncompiled, operator by operator."
THREADS = "Another thread started or ran modules meanwhile: an xray lists its own thread only."
FULL = "{count:,} operators in, xray stopped recording; {skipped:,} more ran unrecorded."


def build(watch: Watch, roots: list[Any] | None, why: str, kernels: tuple[str, ...], file: str) -> Trace:
    """roots: the profiler's events, or None; then `why` says why not (half a sentence)."""
    with _collector_paused():
        names = [raw.name for raw in watch.record.operators]
        flat = _without_profiler(watch.record) if roots is None else flatten(roots, watch.id, names)
        flat.operators = respell(flat.operators, watch.record)
        trace = _trace(watch, flat, file)
    return replace(trace, kernels=kernels, notes=_notes(watch, "" if roots is not None else why))


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A trace is many small objects and no cycle: searching them for cycles again and again would
    take longer than making them."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _trace(watch: Watch, flat: Flat, file: str) -> Trace:
    record, storages, operators = watch.record, watch.storages, flat.operators
    used = sorted({operator.call for operator in operators if operator.call is not None})
    calls = tuple(_call(record.calls[i]) for i in used)  # without those that ran no operator (`size`, …)
    place = {old: new for new, old in enumerate(used)}
    sources = _sources(operators)
    built = tuple(_operator(o, s, record, place) for o, s in zip(operators, sources, strict=True))
    return Trace(
        operators=built,
        calls=calls,
        nodes=_nodes(watch.nodes, operators, built),
        ran=tuple(flat.ran),
        waits=waits_of(record, operators, masks_of(operators)),
        copies=copies_of(record),
        new_bytes=storages.new_bytes,
        peak_bytes=storages.peak_bytes,
        freed_bytes=storages.freed_bytes,
        file=file,
        source=_source(file, built, calls),
    )


def _notes(watch: Watch, why: str) -> tuple[str, ...]:
    notes = [NO_PROFILER.format(why=why)] if why else []
    if watch.lines.compiled:
        notes.append(COMPILED)
    if watch.modules.other_threads:
        notes.append(THREADS)
    if watch.record.skipped:
        notes.append(FULL.format(count=len(watch.record.operators), skipped=watch.record.skipped))
    return tuple(notes)


def _without_profiler(record: Record) -> Flat:
    """The operators that a mode sees, side by side; a `detach` nobody asked for is autograd's."""
    operators = [
        FlatOperator(raw.name, 0, None, raw.call, -1, i)
        for i, raw in enumerate(record.operators)
        if raw.name != "aten::detach" or _asked_for(record, raw)
    ]
    return Flat(operators)


def _asked_for(record: Record, raw: RawOperator) -> bool:
    called = record.calls[raw.call].func if raw.call is not None else None
    return getattr(called, "__name__", "") in ("detach", "detach_", "__get__")


def _sources(flat: list[FlatOperator]) -> list[int | None]:
    """Which note tells line and module: its own, the one it runs under, or the first below it."""
    sources: list[int | None] = []
    for operator in flat:
        above = None if operator.parent is None else sources[operator.parent]
        sources.append(operator.record if operator.record is not None else above)
    for i in reversed(range(len(flat))):
        parent = flat[i].parent
        if (
            parent is not None
            and flat[parent].record is None
            and sources[i] is not None
            and not flat[i].inner
        ):
            sources[parent] = sources[i]  # the last one written is the first below
    return sources


def _operator(flat: FlatOperator, source: int | None, record: Record, calls: dict[int, int]) -> Operator:
    place: RawOperator | RawCall | None = None
    if source is not None:
        place = record.operators[source]
    elif flat.call is not None and flat.call < len(record.calls):
        place = record.calls[flat.call]
    noted = record.operators[flat.record] if flat.record is not None else None
    return Operator(
        name=flat.name,
        depth=flat.depth,
        line=place.line if place else None,
        module=place.module if place else None,
        outputs=_outputs(flat, noted) if noted else (),
        inputs=noted.inputs if noted else (),
        dispatched=noted is not None,
        call=None if flat.call is None else calls[flat.call],
    )


def _outputs(flat: FlatOperator, noted: RawOperator) -> tuple[Output, ...]:
    if not flat.written:
        return noted.outputs
    return tuple(replace(output, kind="in-place", nbytes=0) for output in noted.outputs)


def _nodes(nodes: Nodes, flat: list[FlatOperator], built: tuple[Operator, ...]) -> tuple[Node, ...]:
    """In order of creation; the last operator that started with a node's number made it."""
    numbered = [(o.number, i) for i, o in enumerate(flat) if o.number >= nodes.first and not o.inner]
    made, at = [], -1
    for number in sorted(nodes.found):
        while at + 1 < len(numbered) and numbered[at + 1][0] <= number:
            at += 1
        maker = numbered[at][1] if at >= 0 else None
        name, saved = nodes.found[number]
        line = built[maker].line if maker is not None else None
        made.append(Node(name, saved, line, built[maker].module if maker is not None else None, maker))
    return tuple(made)


_names: dict[Any, str] = {}


def _call(raw: RawCall) -> Call:
    return Call(_public_name(raw.func), raw.line, raw.module, raw.why_no_node)


def _public_name(func: Callable[..., Any]) -> str:
    """As its documentation calls it; a function of the reader's own by its qualified name."""
    name = _names.get(func)
    if name is None:
        with torch._C.DisableTorchFunction():
            name = resolve_name(func) or getattr(func, "__qualname__", None) or str(func)
        if resolve_name(func):
            _names[func] = name
    return name


def _source(
    file: str, operators: tuple[Operator, ...], calls: tuple[Call, ...]
) -> tuple[tuple[int, str], ...]:
    lines = {o.line for o in operators if o.line} | {c.line for c in calls if c.line}
    return tuple((line, linecache.getline(file, line).strip()) for line in sorted(lines))
