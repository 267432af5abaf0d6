"""What a model missed: things that look like its own and that `to()`, the optimizer or `state_dict()` never see.

What is a fault and what is not, where PyTorch can't tell:
- A tensor that nobody registered is always reported, a constant as well: `to()` leaves it behind, and the
  mend (a buffer, `persistent=False` where it need not be saved) costs nothing. Python numbers and NumPy
  arrays are not: they have no device.
- Except a cache: a tensor that only `forward` or a hook writes, told by the class's bytecode.
- A module in a list is reported though it may be hidden on purpose, unless it is registered elsewhere in
  the model, or holds the model itself (a reference back to a parent).
- `weight_norm`, `spectral_norm` and `prune` compute an attribute from registered parts: no fault.
- A parameter without a gradient is reported only when another one has one, so when a backward ran;
  with 0 elements (a marker of the device) never.
"""

from collections.abc import Iterable
from typing import Any

from torch import nn

from . import owners, steps, unregistered
from .data import Finding, Missed
from .hidden import Hidden, Search
from .look import Place, initialised, join, refuse_others, tensors, walk


def missed(model: nn.Module, optimizer: Any = None) -> Missed:
    """Tensors, parameters and modules that the model uses and does not own; parameters that nobody trains.

    optimizer: the one that trains the model, or a list of several. Runs nothing, changes nothing, reads
    `.grad` as it stands (after a step that you ran). A finding's `.where` is an attribute path or a
    parameter's name. TypeError: model is no module, or optimizer holds no `param_groups`.
    """
    refuse_others(model, "missed")
    groups = steps.groups(optimizer)
    places = walk(model)
    hidden = list(Search(places).all())
    found = [
        *_broken(places),
        *unregistered.findings(places, hidden),
        *owners.findings(places),
        *steps.findings(places, groups, _learnable(hidden)),
    ]
    order = {place.path: at for at, place in enumerate(places)}
    return Missed(tuple(one for _, one in sorted(found, key=lambda pair: order[pair[0]])))


def _broken(places: tuple[Place, ...]) -> Iterable[tuple[str, Finding]]:
    """Modules on which PyTorch's own walks stop or never end."""
    for place in places:
        kind, where = type(place.module).__name__, place.path or type(place.module).__name__
        if place.cycle:
            again = places[place.again or 0].path or "the model"
            yield (
                place.path,
                Finding(
                    "module-cycle",
                    where,
                    f"{where} is {again} itself, registered inside itself: to() never ends (RecursionError).",
                    f"Keep the reference back out of the tree: self.__dict__[{place.name!r}] = parent, or a weakref.",
                ),
            )
        elif place.again is None and not initialised(place.module):
            yield (
                place.path,
                Finding(
                    "super-init-missing",
                    where,
                    f"{kind} has no _parameters, _buffers and _modules: Module.__init__ never ran.",
                    f"Call super().__init__() first in {kind}.__init__.",
                ),
            )


def _learnable(hidden: Iterable[Hidden]) -> dict[int, str]:
    """id -> path of parameters that lie hidden in the model: the optimizer may hold them all the same."""
    found: dict[int, str] = {}
    for one in hidden:
        if one.what == "module":
            for place in walk(one.thing):
                for name, _, tensor in tensors(place.module):
                    found[id(tensor)] = f"{one.path}.{join(place.path, name)}"
        else:
            found[id(one.thing)] = one.path
    return found
