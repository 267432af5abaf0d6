"""The state of every random generator: PyTorch's own (CPU and each accelerator), NumPy's legacy one, Python's.

All as tensors and plain values, because NumPy's own state tuple would need a pickle that runs code.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

State = dict[str, Any]


def random_states() -> State:
    """The states now. An accelerator that this process has not used yet has drawn nothing, and is not woken."""
    states = {"torch": torch.get_rng_state(), "numpy": _numpy_state(), "python": _python_state()}
    for name, module in _accelerators().items():
        states[name] = module.get_rng_state_all()
    return states


def restore_random_states(states: State) -> None:
    """Put the states back. Warns where the file has an accelerator's state and this machine lacks the device."""
    torch.set_rng_state(states["torch"])
    _set_numpy_state(states["numpy"])
    _set_python_state(states["python"])
    for name in ("cuda", "xpu"):
        if name in states:
            _restore_accelerator(name, states[name])


def _restore_accelerator(name: str, states: list[torch.Tensor]) -> None:
    module = getattr(torch, name)
    there = module.device_count() if module.is_available() else 0
    if there != len(states):
        warnings.warn(
            f"The checkpoint holds the states of {len(states)} {name.upper()} generators, and this machine has "
            f"{there} such devices: random numbers drawn there won't go on as in the saved run.",
            stacklevel=2,
        )
    for device, state in enumerate(states[:there]):
        module.set_rng_state(state, device)


def _accelerators() -> dict[str, Any]:
    modules = {name: getattr(torch, name) for name in ("cuda", "xpu") if hasattr(torch, name)}
    return {name: module for name, module in modules.items() if module.is_initialized()}


def _python_state() -> State:
    version, (*keys, position), gauss = random.getstate()
    # As one tensor: pickle asks torch.save about every single number of a tuple, and there are 624.
    return {"version": version, "keys": torch.tensor(keys), "position": position, "gauss": gauss}


def _set_python_state(state: State) -> None:
    random.setstate((state["version"], (*state["keys"].tolist(), state["position"]), state["gauss"]))


def _numpy_state() -> State:
    name, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    return {
        "name": str(name),
        "keys": torch.from_numpy(np.asarray(keys).copy()),
        "position": int(position),
        "has_gauss": int(has_gauss),
        "gauss": float(gauss),
    }


def _set_numpy_state(state: State) -> None:
    place = (state["position"], state["has_gauss"], state["gauss"])
    np.random.set_state((state["name"], state["keys"].numpy(), *place))


# --- generators that a caller hands over as parts -----------------------------------------------------------


def generator_access(part: object) -> tuple[Callable[[], Any], Callable[[Any], Any]] | None:
    """How to read and to write the state of a generator object; None for anything else."""
    if isinstance(part, torch.Generator):
        return part.get_state, part.set_state
    if isinstance(part, random.Random):
        return part.getstate, part.setstate
    if isinstance(part, np.random.Generator):
        bits = part.bit_generator
        return lambda: _tensors(bits.state), lambda state: setattr(bits, "state", _arrays(state))
    return None


def _tensors(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: _tensors(value) for key, value in state.items()}
    return torch.from_numpy(state.copy()) if isinstance(state, np.ndarray) else state


def _arrays(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: _arrays(value) for key, value in state.items()}
    return state.numpy() if isinstance(state, torch.Tensor) else state
