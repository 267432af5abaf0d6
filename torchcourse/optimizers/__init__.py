"""What an optimizer does with a gradient: each term of each update, in the optimizer's own arithmetic."""

from .data import Record, Update
from .record import record
from .rules import RULES, Terms, adagrad, adam, adamw, rmsprop, sgd

__all__ = ["RULES", "Record", "Terms", "Update", "adagrad", "adam", "adamw", "record", "rmsprop", "sgd"]
