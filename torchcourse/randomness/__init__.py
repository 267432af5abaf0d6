"""Random numbers: which generators there are, which of them moved, and by how many numbers.

    with randomness.watch() as seen:
        model = nn.Linear(4, 3)
        random.shuffle(names)
    seen.moved                     # ("torch", "python")

    with randomness.lines() as seen: ...      # the same, line by line
    randomness.states()                       # the states now, to compare or to look at

Looking changes no state: it draws nothing, and wakes no accelerator. Names of generators: `torch` (the CPU's),
`cuda:0`, `xpu:0`, `mps`, `numpy` (the legacy global one), `python`, and the names under which you hand over your own.
To save states and put them back, `torchcourse.checkpoints.save` and `load` take all of them along.

`Rolls` and its kin are data sets that show what random numbers a DataLoader's workers draw.
"""

from ._lines import Line, Lines, lines
from ._samples import Rolls, RollsByIndex, WorkerSeeds, by_number, new_rng, same_for_all
from ._states import State, Twister, states
from ._watch import Move, Watched, moves, watch

__all__ = [
    "Line", "Lines", "Move", "Rolls", "RollsByIndex", "State", "Twister", "Watched", "WorkerSeeds",
    "by_number", "lines", "moves", "new_rng", "same_for_all", "states", "watch",
]  # fmt: skip
