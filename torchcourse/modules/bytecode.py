"""What a function's bytecode stores, grows, makes and hangs in as a hook. Nothing is run."""

import dis
import re
from collections.abc import Container, Iterable
from functools import cached_property
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

GROWS = {"append", "extend", "insert", "add", "update", "setdefault", "appendleft"}
NEAR = 8  # instructions between `self.cache` and the store into it
HOOKING = re.compile(r"register_\w*hook")
Codes = list[CodeType]


def code_of(value: Any) -> CodeType | None:
    """The code of a function, method or property, below its decorators."""
    for _ in range(20):
        kind = type(value)
        if kind is property:
            value = value.fget
        elif kind is cached_property:
            value = value.func
        elif kind in (staticmethod, classmethod) or hasattr(kind, "__func__"):
            value = value.__func__
        elif kind is FunctionType and "__wrapped__" in vars(value):
            value = vars(value)["__wrapped__"]
        else:
            return value.__code__ if kind is FunctionType else None
    return None


def nested(codes: Iterable[CodeType | None], without: Container[object] = ()) -> Codes:
    """These codes and the functions defined in them, except some: told by their code or their name."""
    found: Codes = []
    waiting = [code for code in codes if code is not None]
    while waiting:
        code = waiting.pop()
        found.append(code)
        inner = (one for one in code.co_consts if isinstance(one, CodeType))
        waiting += [one for one in inner if one not in without and one.co_name not in without]
    return found


def stored(code: CodeType) -> set[str]:
    """Attributes that get more than a placeholder: None, a number, an empty container."""
    steps = list(dis.get_instructions(code))
    found = {
        step.argval
        for i, step in enumerate(steps)
        if step.opname == "STORE_ATTR" and not (_placeholder(steps, i - 2) or _of_placeholders(steps, step))
    }
    if "setattr" in code.co_names or "__setattr__" in code.co_names:
        found |= {word for word in code.co_consts if isinstance(word, str) and word.isidentifier()}
    return found


def _placeholder(steps: list[dis.Instruction], at: int) -> bool:
    """Whether this step puts a constant, or an empty list or dict, on the stack."""
    if at < 0:
        return False
    name = steps[at].opname
    return name in ("LOAD_CONST", "LOAD_SMALL_INT") or (
        name in ("BUILD_LIST", "BUILD_MAP") and steps[at].arg == 0
    )


def _of_placeholders(steps: list[dis.Instruction], store: dis.Instruction) -> bool:
    """Whether the store's line gives several attributes their placeholders: `self.a, self.b = None, []`."""
    line = [at for at, step in enumerate(steps) if step.positions and store.positions
            and step.positions.lineno == store.positions.lineno]  # fmt: skip
    targets = {at - 1 for at in line if steps[at].opname == "STORE_ATTR"}
    return all(
        at in targets
        or steps[at].opname in ("STORE_ATTR", "SWAP", "UNPACK_SEQUENCE")
        or _placeholder(steps, at)
        for at in line
    )


def grown(code: CodeType) -> set[str]:
    """Attributes that something is appended to, or stored into by an index, under a local name too."""
    steps = list(dis.get_instructions(code))
    local = {
        then.argval: step.argval for step, then in pairwise(steps)
        if step.opname == "LOAD_ATTR" and then.opname == "STORE_FAST"
    }  # fmt: skip
    loaded = [_loaded(step, local) for step in steps]
    found: set[str] = set()
    for i, step in enumerate(steps):
        if i and step.argval in GROWS:
            found |= loaded[i - 1]
        if step.opname == "STORE_SUBSCR":
            found = found.union(*loaded[max(0, i - NEAR) : i])
    return found


def _loaded(step: dis.Instruction, local: dict[str, str]) -> set[str]:
    """The attribute that this step loads, from its object or from a local name for it."""
    if step.opname == "LOAD_ATTR":
        return {step.argval}
    if step.opname.startswith("LOAD_FAST"):
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        return {local[name] for name in names if name in local}
    return set()


def made(code: CodeType, word: str) -> set[str]:
    """Attributes that were given a `…Parameter(…)` or `…Buffer(…)`, or registered under a name that is written out."""
    found: set[str] = set()
    since: list[Any] = []
    for step in dis.get_instructions(code):
        since.append(step.argval)
        names = [name for name in since if isinstance(name, str)]
        if step.opname == "STORE_ATTR":
            if any(name.endswith(word) for name in names):
                found.add(step.argval)
            since = []
        elif step.opname == "POP_TOP":
            if f"register_{word.lower()}" in names:
                found |= {step for step in names if step.isidentifier()} - {
                    f"register_{word.lower()}",
                    "self",
                }
            since = []
    return found


def hooked(codes: Codes) -> set[object]:
    """What stands behind a `register_…hook(` in the same statement: names, and the codes of lambdas."""
    found: set[object] = set()
    for code in codes:
        behind = False
        for step in dis.get_instructions(code):
            if isinstance(step.argval, str) and HOOKING.fullmatch(step.argval):
                behind = True
            elif step.opname == "POP_TOP" or step.opname.startswith("STORE_"):
                behind = False
            elif behind:
                found |= set(step.argval) if isinstance(step.argval, tuple) else {step.argval}
    return found


def calls(code: CodeType, parts: Container[str]) -> bool:
    """Whether it uses one of these attributes itself, as in `self.part(x)`, not only something in it."""
    steps = pairwise(dis.get_instructions(code))
    return any(
        step.opname in ("LOAD_ATTR", "LOAD_METHOD") and step.argval in parts
        and (then.opname not in ("LOAD_ATTR", "LOAD_METHOD") or then.argval == "forward")
        for step, then in steps
    )  # fmt: skip
