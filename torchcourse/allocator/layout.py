"""The model's state in the format of `torch.cuda.memory._snapshot()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchcourse.allocator import events
from torchcourse.allocator.blocks import ALLOCATED, PENDING, STATE_NAMES, UNMAPPED, Block
from torchcourse.allocator.config import UNLIMITED, AllocConf
from torchcourse.allocator.state import State


def snapshot_of(state: State) -> dict[str, Any]:
    """Segments, trace and settings as plain dictionaries and lists, ready for PyTorch's viewers.

    The model has no clock: `time_us` counts the entries.
    """
    return {
        "segments": [_segment(head) for head in _heads(state)],
        "device_traces": [[_entry(*pair) for pair in enumerate(events.trace(state.log))]],
        "allocator_settings": settings(state.conf),
        "external_annotations": [],
    }


def _heads(state: State) -> list[Block]:
    """The first block of each segment (expandable: of each mapped range), by address."""
    heads = (
        block
        for block in state.blocks.values()
        if block.state != UNMAPPED and (block.prev is None or block.prev.state == UNMAPPED)
    )
    return sorted(heads, key=lambda block: block.address)


def _segment(head: Block) -> dict[str, Any]:
    blocks = list(_run(head))
    active = [block for block in blocks if block.state in (ALLOCATED, PENDING)]
    return {
        "device": 0,
        "address": head.address,
        "total_size": sum(block.size for block in blocks),
        "allocated_size": sum(block.size for block in active if block.state == ALLOCATED),
        "active_size": sum(block.size for block in active),
        "requested_size": sum(block.requested for block in active),
        "stream": head.home.stream,
        "segment_type": "small" if head.home.pool.is_small else "large",
        "segment_pool_id": (0, 0),
        "is_expandable": head.reservation is not None,
        "frames": [],
        "blocks": [_block(block) for block in blocks],
    }


def _run(block: Block | None) -> Iterator[Block]:
    while block is not None and block.state != UNMAPPED:
        yield block
        block = block.next


def _block(block: Block) -> dict[str, Any]:
    return {
        "address": block.address,
        "size": block.size,
        "requested_size": block.requested,
        "state": STATE_NAMES[block.state],
        "frames": [],
    }


def _entry(number: int, entry: events.TraceEntry) -> dict[str, Any]:
    where = "device_free" if entry.action == "oom" else "addr"
    return {
        "action": entry.action,
        where: entry.addr,
        "size": entry.size,
        "stream": entry.stream,
        "time_us": number,
        "compile_context": "N/A",
        "user_metadata": "",
        "pool_id": (0, 0),
        "frames": [],
    }


def settings(conf: AllocConf) -> dict[str, Any]:
    """The settings under the keys of a snapshot's `allocator_settings`."""
    divisions = conf.roundup_power2_divisions or (0,) * 16
    return {
        "PYTORCH_CUDA_ALLOC_CONF": conf.text,
        "max_split_size": -1 if conf.max_split_size == UNLIMITED else conf.max_split_size,
        "garbage_collection_threshold": conf.garbage_collection_threshold,
        "expandable_segments": conf.expandable_segments,
        "pinned_num_register_threads": 1,
        "release_lock_on_cudamalloc": False,
        "pinned_use_cuda_host_register": False,
        "roundup_power2_divisions": {str(1 << power): steps for power, steps in enumerate(divisions)},
    }
