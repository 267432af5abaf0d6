"""The training loop under observation: a learning-rate scan, and observers that change nothing.

`learning_rate_range` and `overfit_one_batch` train for real, and put everything back. The observers
(`GradientNorms`, `ActivationStats`, `UpdateRatios`, `StepTimes`) are context managers around the reader's
own loop: they read, and leave nothing behind. `Log` writes the run as CSV.
"""

from .activations import Activations, ActivationStats, Layer
from .log import Log
from .overfit import Overfit, overfit_one_batch
from .rates import LearningRates, Suggestion, learning_rate_range
from .samples import Items, Stream
from .series import Series
from .threads import one_thread
from .times import StepTimes, TimeSplit
from .updates import GradientNorms, UpdateRatios

__all__ = [
    "ActivationStats",
    "Activations",
    "GradientNorms",
    "Items",
    "Layer",
    "LearningRates",
    "Log",
    "Overfit",
    "Series",
    "StepTimes",
    "Stream",
    "Suggestion",
    "TimeSplit",
    "UpdateRatios",
    "learning_rate_range",
    "one_thread",
    "overfit_one_batch",
]
