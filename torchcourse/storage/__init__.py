"""Storage and strides: what a tensor is made of, and which memory it shares.

A tensor is a storage (one flat run of bytes) and the metadata that reads it: size, stride,
storage_offset, dtype. `facts` reads the metadata, `address` applies it to an index, `relation` says
whether two tensors share memory, and `why_no_view` why `view` must refuse.
"""

from .facts import TOUCHED_LIMIT, Facts, address, facts
from .sharing import Relation, relation
from .views import NoView, why_no_view

__all__ = [
    "TOUCHED_LIMIT",
    "Facts",
    "NoView",
    "Relation",
    "address",
    "facts",
    "relation",
    "why_no_view",
]
