"""The table of `torch.cuda.memory_summary()`, from the numbers of `memory_stats()`."""

from __future__ import annotations

_BYTES = (
    ("allocated_bytes", "Allocated memory"), ("active_bytes", "Active memory"),
    ("requested_bytes", "Requested memory"), ("reserved_bytes", "GPU reserved memory"),
    ("inactive_split_bytes", "Non-releasable memory"),
)  # fmt: skip
_COUNTS = (
    ("allocation", "Allocations"), ("active", "Active allocs"), ("segment", "GPU reserved segments"),
    ("inactive_split", "Non-releasable allocs"),
)  # fmt: skip
_OVERSIZE = (("oversize_allocations", "Oversize allocations"), ("oversize_segments", "Oversize GPU segments"))
_PARTS = ("current", "peak", "allocated", "freed")
_WIDTH = 75


def memory_summary(stats: dict[str, int], abbreviated: bool = False) -> str:
    """PyTorch's own table, character for character (device 0). `abbreviated` leaves out the two pools."""
    lines = ["=" * _WIDTH, f" {'':16} PyTorch CUDA memory summary, device ID {0:<17d} ", "-" * _WIDTH]
    ooms, retries = stats["num_ooms"], stats["num_alloc_retries"]
    lines += [f"  {'':9} CUDA OOMs: {ooms:<12d} | {'':6} cudaMalloc retries: {retries:<8d}  ", "=" * _WIDTH]
    lines += ["        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  "]
    for metrics, is_bytes in ((_BYTES, True), (_COUNTS, False)):
        for key, name in metrics:
            lines += ["-" * _WIDTH, *_rows(stats, key, name, is_bytes, abbreviated)]
    for key, name in _OVERSIZE:
        values = [stats[f"{key}.{part}"] for part in _PARTS]
        lines += ["-" * _WIDTH, _row(name, values, values, is_bytes=False)]
    return "|" + "|\n|".join([*lines, "=" * _WIDTH]) + "|\n"


def _rows(stats: dict[str, int], key: str, name: str, is_bytes: bool, abbreviated: bool) -> list[str]:
    pools = [("all", name)]
    if not abbreviated:
        pools += [("large_pool", "      from large pool"), ("small_pool", "      from small pool")]
    scale = [stats[f"{key}.all.{part}"] for part in _PARTS]
    return [
        _row(title, [stats[f"{key}.{pool}.{part}"] for part in _PARTS], scale, is_bytes)
        for pool, title in pools
    ]


def _row(name: str, values: list[int], scale: list[int], is_bytes: bool) -> str:
    cell = _bytes if is_bytes else _count
    return f" {name:<21} | " + " | ".join(map(cell, values, scale)) + " "


def _bytes(value: int, scale: float) -> str:
    """A size in the unit that suits the first row of its group."""
    units = ["B  ", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while scale >= 768 * 1024 and len(units) > 1:
        units.pop(0)
        value, scale = value // 1024, scale / 1024
    return f"{value:6d} {units[0]}"


def _count(value: int, scale: float) -> str:
    units = [" ", "K", "M"]
    while scale >= 750 * 1000 and len(units) > 1:
        units.pop(0)
        value, scale = value // 1000, scale / 1000
    return f"{value:7d} {units[0]} "
