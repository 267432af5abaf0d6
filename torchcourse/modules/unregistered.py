"""Findings about what lies in ordinary attributes: one for each attribute and kind."""

from collections.abc import Iterable, Iterator
from typing import Any

from .data import Finding
from .hidden import Hidden
from .look import Place, is_lazy, join, table, tensors, walk
from .text import count
from .writes import Runs, Writes, runs_of, writes

Found = tuple[str, Finding]  # path of the module, finding
COLLECTION = {
    ("parameter", "dict"): "ParameterDict",
    ("module", "dict"): "ModuleDict",
    ("parameter", ""): "ParameterList",
    ("module", ""): "ModuleList",
}
PARTS = (("_orig",), ("_g", "_v"), ("_bar", "_u", "_v"))  # what prune, weight_norm, spectral_norm register


def findings(places: tuple[Place, ...], hidden: Iterable[Hidden]) -> Iterator[Found]:
    groups: dict[tuple[int, str, str], list[Hidden]] = {}
    for one in hidden:
        groups.setdefault((one.place, one.attribute, one.what), []).append(one)
    known: dict[type, Writes] = {}
    runs = runs_of(places) if any(what == "tensor" for _, _, what in groups) else Runs()
    for (at, name, what), found in groups.items():
        place, kind = places[at], type(places[at].module)
        if what != "module" and _computed(place, name):
            continue
        if what == "tensor":
            if kind not in known:
                known[kind] = writes(kind, runs)
            found = [one for one in found if not _is_cache(one, known[kind])]
        if found:
            yield place.path, _finding(places, place, name, what, found, known.get(kind))


def _computed(place: Place, name: str) -> bool:
    """Whether weight_norm, spectral_norm or prune computes this attribute from what they registered."""
    own = {held for held, _, _ in tensors(place.module)}
    return any(all(name + part in own for part in parts) for parts in PARTS)


def _is_cache(one: Hidden, written: Writes) -> bool:
    if one.through == "attribute":
        return written.cached(one.attribute, one.thing.is_leaf)
    needs_grad = one.thing.is_leaf and one.thing.requires_grad
    return not needs_grad and (one.attribute in written.grown or written.cached(one.attribute, True))


def _finding(
    places: tuple[Place, ...], place: Place, name: str, what: str, found: list[Hidden], written: Writes | None
) -> Finding:
    where, through = join(place.path, name), found[0].through
    if what == "module":
        return Finding("module-in-container", where, _modules_evidence(found), _mend(name, what, through))
    if through in ("attribute", "class"):
        return _attribute(places, place, name, where, found[0].thing, written)
    kind = "parameter-in-container" if what == "parameter" else "tensor-in-container"
    things = f"{_held(found)} {count(len(found), what)}, the first {_tensor(found[0].thing)}"
    return Finding(
        kind, where, f"{things}: {_unseen(found[0].thing)}{_left(places, found)}.", _mend(name, what, through)
    )


def _held(found: list[Hidden]) -> str:
    """'a list with', 'a closure over'."""
    through = found[0].through
    if through in ("attribute", "class"):
        return "an ordinary attribute with" if through == "attribute" else "the class itself holds"
    words = {"closure": "a function that keeps", "object": "a helper object with", "record": "a record with"}
    return words.get(through, f"a plain {through} with")


def _modules_evidence(found: list[Hidden]) -> str:
    names = ", ".join(dict.fromkeys(type(one.thing).__name__ for one in found))
    held = {
        id(p): p
        for one in found
        for place in walk(one.thing)
        for _, _, p in tensors(place.module)
        if p is not None
    }
    numbers = sum(p.numel() for p in held.values() if not is_lazy(p))
    return (
        f"{_held(found)} {count(len(found), 'module')} ({names}), {count(len(held), 'tensor')}, "
        f"{numbers:,} numbers: to(), train(), parameters() and state_dict() don't reach them."
    )


def _mend(name: str, what: str, through: str) -> str:
    if through in ("closure", "class"):
        return f"Register what {name} stands for in __init__, self.part = …, and let forward read self.part."
    if through == "object" or (through == "record" and what != "tensor"):
        return f"Make the helper in {name} an nn.Module, or register what it holds on this module, too."
    if what == "tensor":
        return f"Register each: self.register_buffer(f'{name}_{{i}}', tensor), or nn.Parameter where it is learned."
    if through == "attribute":
        return f"Assign it after super().__init__(), as self.{name} = …, and not through __dict__."
    return f"self.{name} = nn.{COLLECTION[what, 'dict' if through == 'dict' else '']}(…)."


def _attribute(
    places: tuple[Place, ...], place: Place, name: str, where: str, tensor: Any, written: Writes | None
) -> Finding:
    """A tensor, or a parameter, right in the module's dictionary."""
    if name in dict(table(place.module, "_parameters")) or (written and name in written.made_parameters):
        return _replaced(name, where, tensor)
    shared = _view_of(places, tensor)
    if shared:
        return _stays(name, where, tensor, f"it lies on the memory of {shared} only until the first to()")
    if name in dict(table(place.module, "_buffers")) or (written and name in written.made_buffers):
        return _stays(name, where, tensor, "a buffer of this name was here")
    evidence = (
        f"a plain {_tensor(tensor)} beside the dictionaries: {_unseen(tensor)}{_left_one(places, tensor)}."
    )
    mend = (
        f"self.{name} = nn.Parameter(tensor)."
        if tensor.requires_grad and tensor.is_leaf
        else f"self.register_buffer({name!r}, tensor), with persistent=False where state_dict() need not have it."
    )
    return Finding("tensor-not-registered", where, evidence, mend)


def _replaced(name: str, where: str, tensor: Any) -> Finding:
    return Finding(
        "parameter-replaced",
        where,
        f"{name} is a plain {_tensor(tensor)} in vars(module), where a parameter of this name was: "
        "forward reads the tensor, and nobody trains, moves or saves it.",
        f"Write into the parameter (with torch.no_grad(): module.{name}.copy_(…)), or assign nn.Parameter(…).",
    )


def _stays(name: str, where: str, tensor: Any, why: str) -> Finding:
    return Finding(
        "buffer-not-moved",
        where,
        f"{name} is a plain {_tensor(tensor)} in vars(module); {why}: {_unseen(tensor)}.",
        f"Make it where it is used, in forward, or register it: self.register_buffer({name!r}, tensor).",
    )


def _tensor(tensor: Any) -> str:
    shape = "lazy" if is_lazy(tensor) else list(tensor.shape)
    grad = " that requires grad" if tensor.requires_grad else ""
    return f"tensor {shape} {str(tensor.dtype).removeprefix('torch.')} on {tensor.device}{grad}"


def _unseen(tensor: Any) -> str:
    trained = " and the optimizer" if tensor.requires_grad else ""
    return f"to(), state_dict(){trained} don't reach it"


def _left(places: tuple[Place, ...], found: list[Hidden]) -> str:
    return next((text for one in found if (text := _left_one(places, one.thing))), "")


def _left_one(places: tuple[Place, ...], tensor: Any) -> str:
    """Evidence where it has been left behind already."""
    devices = {
        str(p.device) for place in places for _, p in table(place.module, "_parameters") if p is not None
    }
    if devices and str(tensor.device) not in devices:
        return f"; the parameters are on {', '.join(sorted(devices))}"
    return ""


def _view_of(places: tuple[Place, ...], tensor: Any) -> str | None:
    """The path of a registered tensor on whose storage this one lies."""
    start = _storage(tensor)
    for place in places:
        for name, _, held in tensors(place.module):
            if start and held is not None and _storage(held) == start:
                return join(place.path, name)
    return None


def _storage(tensor: Any) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError, ValueError):  # lazy, or a subclass without a storage
        return 0
