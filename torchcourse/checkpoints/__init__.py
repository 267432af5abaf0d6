"""Checkpoints: save and resume everything a run needs, compare a file with a model, look into a file.

What PyTorch's own files are is written down in `torch/serialization.py`; what may stand in one that is loaded
safely, in `torch/_weights_only_unpickler.py`.
"""

from torchcourse.checkpoints.compare import Change, Comparison, compare
from torchcourse.checkpoints.contents import Contents, Entry, StoredTensor, contents
from torchcourse.checkpoints.errors import CheckpointError, CheckpointFileError
from torchcourse.checkpoints.restore import load
from torchcourse.checkpoints.write import save

__all__ = [
    "Change",
    "CheckpointError",
    "CheckpointFileError",
    "Comparison",
    "Contents",
    "Entry",
    "StoredTensor",
    "compare",
    "contents",
    "load",
    "save",
]
