"""A model of PyTorch's CUDA caching allocator that runs without a GPU."""

from torchcourse.allocator.config import AllocConf, parse_conf
from torchcourse.allocator.messages import OutOfMemoryError, OutOfMemoryNumbers, read_oom_message
from torchcourse.allocator.model import Allocator
from torchcourse.allocator.replaying import replay
from torchcourse.allocator.rerunning import rerun
from torchcourse.allocator.results import Difference, Event, Replay
from torchcourse.allocator.snapshot import load_snapshot, save_snapshot
from torchcourse.allocator.unpickle import SnapshotError

__all__ = [
    "AllocConf", "Allocator", "Difference", "Event", "OutOfMemoryError", "OutOfMemoryNumbers", "Replay",
    "SnapshotError", "load_snapshot", "parse_conf", "read_oom_message", "replay", "rerun", "save_snapshot",
]  # fmt: skip
