"""Names that PyTorch or a well-known library once gave to the same tensors: one word for another."""

from __future__ import annotations

import re

from torchcourse.checkpoints.errors import some
from torchcourse.checkpoints.held import Names, Shapes

# (what ends the file's name, what ends the model's, where the words come from)
RULES = (
    (r"(^|\.)(\w+)_g$", r"\1parametrizations.\2.original0", "nn.utils.weight_norm of old"),
    (r"(^|\.)(\w+)_v$", r"\1parametrizations.\2.original1", "nn.utils.weight_norm of old"),
    (r"parametrizations\.(\w+)\.original0$", r"\1_g", "nn.utils.parametrizations.weight_norm"),
    (r"parametrizations\.(\w+)\.original1$", r"\1_v", "nn.utils.parametrizations.weight_norm"),
    (r"(^|\.)gamma$", r"\1weight", "the norm layers of TensorFlow"),
    (r"(^|\.)beta$", r"\1bias", "the norm layers of TensorFlow"),
)


def words(ours: Shapes, theirs: Shapes, names: Names) -> Names:
    """Names whose last words are those of another library or time, where the model has the name of today."""
    renamed, sources = {}, []
    for name in names.raw:
        for old, new, whose in RULES:
            today = re.sub(old, new, name)
            if name not in ours and today != name and today in ours:
                renamed[name] = today
                sources.append(whose)
    if not renamed:
        return names
    pairs = some([f"{old} → {new}" for old, new in renamed.items()])
    return names.moved(renamed, f"The file has the names of {sources[0]} ({pairs}).")
