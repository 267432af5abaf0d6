"""Views that one can touch, one for each mechanism. They show what the ground floor found out."""

from .explore import StorageExplorer, explore
from .playground import DecayPlayground, playground
from .queue import QueueView, queue
from .step_backward import BackwardStepper, step_backward
from .timeline import AllocatorTimeline, timeline
from .tree import ModuleTree, tree
from .ways import ExportView, ways

__all__ = [
    "AllocatorTimeline",
    "BackwardStepper",
    "DecayPlayground",
    "ExportView",
    "ModuleTree",
    "QueueView",
    "StorageExplorer",
    "explore",
    "playground",
    "queue",
    "step_backward",
    "timeline",
    "tree",
    "ways",
]
