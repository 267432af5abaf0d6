"""The state of every generator as plain data, read without changing one.

Three of them are the same algorithm, the Mersenne Twister MT19937: torch's on the CPU, NumPy's legacy one and
Python's. Its state is 624 words of 32 bits and a place among them, so two states can also tell how many words
were taken between them (`_distance.py`).

Mirrors `CPUGeneratorImplStateLegacy` in `aten/src/ATen/CPUGeneratorImpl.cpp` and `at::mt19937`.
"""

from __future__ import annotations

import ctypes
import random
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

WORDS = 624
# the_initial_seed, left, seeded, next; then 624 words in 8 bytes each; then normal numbers that are kept
_HEAD, _TORCH_BYTES = struct.Struct("<QiiQ"), 5056
_ACCELERATORS = ("cuda", "xpu")


@dataclass(frozen=True)
class Twister:
    """A Mersenne Twister: its 624 words (as bytes), the place of the next one, and what else is remembered.

    place: 624 means that the words are used up (so it is after seeding). rest: a normal number kept for the next call.
    """

    words: bytes
    place: int
    rest: tuple[Any, ...] = ()


# Any other generator is known by its bytes, or by what it says of itself; None: not used yet in this process.
State = Twister | bytes | str | None


def states(*unnamed: Any, **own: Any) -> dict[str, State]:
    """The state of every generator now: torch's, NumPy's and Python's global ones, then your own by name.

    own: `torch.Generator`, `numpy.random.Generator`, `RandomState` or `BitGenerator`, `random.Random`. Else TypeError.
    ValueError: a name of yours is the name of a global generator.
    """
    check(own, unnamed)
    return read(own)


def read(own: Mapping[str, Any]) -> dict[str, State]:
    """As `states`, for generators that have been checked."""
    # A reader's modes and the profiler must not see that we look.
    with torch._C.DisableTorchFunction():
        found: dict[str, State] = {"torch": _of_torch(torch.default_generator)}
        found |= _accelerators()
        found["numpy"] = _legacy(np.random.get_state(legacy=False))
        found["python"] = _of_python(random.getstate())
        return found | {name: _own(generator) for name, generator in own.items()}


def check(own: Mapping[str, Any], unnamed: tuple[Any, ...] = ()) -> None:
    """Raise where one of these is no generator with a state, has no name, or has the name of a global one."""
    if unnamed:
        raise TypeError(
            "Give each generator of yours a name: `watch(loader=generator)`. The global ones need none."
        )
    known = torch.Generator, np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random
    for name, generator in own.items():
        if not isinstance(generator, known) or isinstance(generator, random.SystemRandom):
            raise TypeError(
                f"{name} is a {type(generator).__name__}, not a generator with a state. Hand over a torch.Generator, a "
                f"NumPy Generator, RandomState or BitGenerator, or a random.Random; the global ones are watched anyway."
            )
        if name in ("torch", "numpy", "python", "mps") or ":" in name:
            raise ValueError(f"{name!r} is the name of a global generator; give yours another name.")


def fresh_accelerator(state: State) -> bool:
    """Whether an accelerator's generator has drawn nothing since it was seeded. CUDA's state: seed, then offset."""
    return isinstance(state, bytes) and len(state) == 16 and not any(state[8:])


def _accelerators() -> dict[str, State]:
    """Generators of accelerators in use; one that this process has not used yet has drawn nothing, and sleeps on."""
    found: dict[str, State] = {}
    for name in _ACCELERATORS:
        module = getattr(torch, name, None)
        if module is not None and module.is_initialized():
            generators = enumerate(module.default_generators)
            found |= {f"{name}:{number}": _bytes(one.get_state()) for number, one in generators}
    if torch.backends.mps.is_available():
        found["mps"] = _bytes(torch.mps.get_rng_state())
    return found


def _bytes(state: torch.Tensor) -> bytes:
    # `.numpy()` would run operators (detach, to, …), and an xray around us would list them.
    return ctypes.string_at(state.data_ptr(), state.numel())


def _of_torch(generator: torch.Generator) -> State:
    raw = _bytes(generator.get_state())
    if generator.device.type != "cpu" or len(raw) != _TORCH_BYTES:
        return raw
    _seed, left, _seeded, place = _HEAD.unpack_from(raw)
    words = np.frombuffer(raw, "<u8", WORDS, _HEAD.size).astype("<u4").tobytes()
    # `left` counts down to the next twist; freshly seeded it is 1 while `next` is 0.
    used_up = left == 1 and place == 0
    return Twister(words, WORDS if used_up else place, (raw[_HEAD.size + 8 * WORDS :],))


def _legacy(state: Mapping[str, Any]) -> State:
    if state["bit_generator"] != "MT19937":
        return _plain(state)
    inner = state["state"]
    rest = (state["has_gauss"], state["gauss"])
    return Twister(np.asarray(inner["key"], "<u4").tobytes(), int(inner["pos"]), rest)


def _of_python(state: tuple[Any, ...]) -> State:
    _version, words, gauss = state
    return Twister(np.array(words[:WORDS], "<u4").tobytes(), int(words[WORDS]), (gauss,))


def _own(generator: Any) -> State:
    if isinstance(generator, torch.Generator):
        return _of_torch(generator)
    if isinstance(generator, random.Random):
        return _of_python(generator.getstate())
    if isinstance(generator, np.random.RandomState):
        return _legacy(generator.get_state(legacy=False))
    bits = getattr(generator, "bit_generator", generator)
    return _plain(bits.state)


def _plain(state: Mapping[str, Any]) -> State:
    if state["bit_generator"] == "MT19937":
        inner = state["state"]
        return Twister(np.asarray(inner["key"], "<u4").tobytes(), int(inner["pos"]))
    return repr({key: _listed(value) for key, value in state.items()})


def _listed(value: Any) -> Any:
    """NumPy's `repr` shortens long arrays; a list says all."""
    if isinstance(value, Mapping):
        return {key: _listed(inner) for key, inner in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value
