"""What fills the memory in a training step: recorded without a GPU, played through the allocator's model."""

from .cannot_know import Unknown
from .data import OWNERS, PHASES, Event, Recording, Stored
from .fitting import Fit, Point
from .record import record_step
from .remedies import BatchLimit, Comparison, Row, compare, largest_batch

__all__ = [
    "OWNERS", "PHASES", "BatchLimit", "Comparison", "Event", "Fit", "Point", "Recording", "Row", "Stored",
    "Unknown", "compare", "largest_batch", "record_step",
]  # fmt: skip
