"""Views that one can touch, one for each mechanism. They show what the ground floor found out."""

from .explore import StorageExplorer, explore
from .step_backward import BackwardStepper, step_backward

__all__ = ["BackwardStepper", "StorageExplorer", "explore", "step_backward"]
