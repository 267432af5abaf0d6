"""Runs inside the kernels of the lanes: keeps the network out, and tells what a cell did to global state.

Standard library only, and it imports nothing that the notebook has not imported itself: a lane that
loaded torch for its own sake would hide what a notebook costs.
"""

import json
import os
import random
import re
import sys
import warnings

_refused: list[str] = []
_imported_filters: list[tuple] = []
_HOSTS = {"", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}


# --- the network ------------------------------------------------------------------------------------


def _guard(event: str, arguments: tuple) -> None:
    """Refuses a connection that would leave the machine, and remembers it: a notebook may catch the error."""
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        address = arguments
    else:
        return
    if not isinstance(address, tuple):  # the path of a Unix socket, or a message to a connected one
        return
    host = address[0].decode() if isinstance(address[0], bytes) else address[0]
    if host is None or host in _HOSTS or str(host).startswith("127."):
        return
    _refused.append(str(host))
    raise OSError(f"A notebook must not use the network, and this one asked for {host!r}.")


def refused() -> str:
    """The hosts asked for since the last question, as JSON."""
    return json.dumps(_take_refused())


def _take_refused() -> list[str]:
    hosts, _refused[:] = list(_refused), []
    return hosts


def after_cell() -> str:
    """Everything that the lanes want to know after a cell, as JSON: one question, one answer."""
    return json.dumps({"changes": _changes(), "refused": _take_refused(), "peak": _peak_bytes()})


# --- memory -----------------------------------------------------------------------------------------


def _peak_bytes() -> int:
    """The most memory this process has held."""
    try:
        # Not ru_maxrss: a child of a large process starts with its parent's.
        with open("/proc/self/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]) * 1024
    except (OSError, TypeError):
        return _peak_elsewhere()


def _peak_elsewhere() -> int:
    if sys.platform == "win32":
        import psutil

        return psutil.Process().memory_info().peak_wset
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


# --- global state -----------------------------------------------------------------------------------

# What a fresh process has: a cell that imports a library and changes its state at once is caught too.
_FRESH = {
    "torch: grad mode": True,
    "torch: inference mode": False,
    "torch: default dtype": "torch.float32",
    "torch: default device": "cpu",
    "torch: function modes": 0,
    "torch: dispatch modes": 0,
    "torch: module hooks": 0,
    "torch: deterministic algorithms": [False, False],
    "torch: anomaly mode": [False, True],
    "torch: autocast": [False, False, True],
    "torch: matmul precision": "highest",
    "torch: saved-tensor hooks": False,
}


def _changes() -> list[str]:
    """Sentences on what differs from the last call."""
    now = _state()
    fresh = _fresh()
    before = {key: _last.get(key, fresh.get(key, value)) for key, value in now.items()}
    said = [
        f"{key} went from {_short(before[key])} to {_short(now[key])}"
        for key in now
        if before[key] != now[key]
    ]
    said += _filter_changes()
    _last.update(now)
    return said


def _fresh() -> dict[str, object]:
    """What a library's state is before anybody touches it; needed for the cell that imports it only."""
    matplotlib = sys.modules.get("matplotlib")
    original = getattr(matplotlib, "rcParamsOrig", {})
    return _FRESH | {f"matplotlib: rcParams[{key!r}]": value for key, value in _settings(original)}


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _state() -> dict[str, object]:
    state: dict[str, object] = {
        "working directory": os.getcwd(),
        "trace and profile functions": [sys.gettrace() is None, sys.getprofile() is None],
        "standard streams": [id(sys.stdout), id(sys.stderr)],
        "random: generator": id(random._inst),
    }
    for name, read in (("torch", _torch_unwatched), ("numpy", _numpy), ("matplotlib", _matplotlib)):
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            state |= {f"{name}: {key}": value for key, value in read(module).items()}
    return state


def _torch_unwatched(torch) -> dict[str, object]:
    # A mode that a cell left behind would see these questions, and might refuse them.
    device = _default_device(torch)
    with torch._C.DisableTorchFunction():
        return _torch(torch) | {"default device": device}


def _default_device(torch) -> str:
    try:
        return str(torch.get_default_device())  # set_default_device is a mode itself, so it must be asked
    except Exception as error:
        return f"not to be had ({type(error).__name__} from a mode)"


def _torch(torch) -> dict[str, object]:
    private = torch._C
    hooks = getattr(private._autograd, "_top_saved_tensors_default_hooks", lambda ignore: None)
    return {
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "default dtype": str(torch.get_default_dtype()),
        "function modes": private._len_torch_function_stack(),
        "dispatch modes": private._len_torch_dispatch_stack(),
        "saved-tensor hooks": hooks(True) is not None,
        "module hooks": _module_hooks(torch),
        "deterministic algorithms": [
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ],
        "cuDNN flags": [torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark],
        "anomaly mode": [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()],
        "autocast": [*map(torch.is_autocast_enabled, ("cpu", "cuda")), torch.is_autocast_cache_enabled()],
        "matmul precision": torch.get_float32_matmul_precision(),
        "threads": [torch.get_num_threads(), torch.get_num_interop_threads()],
        "generator": [id(torch.default_generator), str(torch.default_generator.device)],
        "print options": repr(vars(torch._tensor_str.PRINT_OPTS)),
    }


def _module_hooks(torch) -> int:
    """Hooks that run for every module of the process (register_module_forward_hook and its kin)."""
    table = vars(torch.nn.modules.module)
    return sum(len(v) for name, v in table.items() if name.startswith("_global_") and isinstance(v, dict))


def _numpy(numpy) -> dict[str, object]:
    return {
        "generator": type(numpy.random.mtrand._rand._bit_generator).__name__,
        "print options": repr(sorted(numpy.get_printoptions().items(), key=lambda item: item[0])),
        "error state": repr(sorted(numpy.geterr().items())),
    }


def _matplotlib(matplotlib) -> dict[str, object]:
    return {f"rcParams[{key!r}]": value for key, value in _settings(matplotlib.rcParams)}


def _settings(parameters) -> list[tuple[str, str]]:
    # The first figure chooses the backend and with it `interactive`; reading the backend would choose it.
    return [
        (key, repr(dict.__getitem__(parameters, key)))
        for key in parameters
        if not key.startswith(("backend", "interactive"))
    ]


def _filter_changes() -> list[str]:
    """Warning filters that came or went; those that a module's import put there are not a cell's doing."""
    now = [entry for entry in warnings.filters if entry not in _imported_filters]
    before = [entry for entry in _last_filters if entry not in _imported_filters]
    _last_filters[:] = warnings.filters
    if now == before:
        return []
    added = [_describe(entry) for entry in now if entry not in before]
    gone = [_describe(entry) for entry in before if entry not in now]
    return [f"warnings.filters changed (added: {added or 'none'}; gone: {gone or 'none'})"]


def _describe(entry: tuple) -> str:
    return f"{entry[0]} {entry[2].__name__}"


def _watch_filters() -> None:
    """Notes the filters that are added while an import runs."""
    add = getattr(warnings, "_add_filter", None)
    if add is None:
        return

    def noting(*item, append):
        add(*item, append=append)
        if _importing():
            _imported_filters.append(item)

    warnings._add_filter = noting


def _importing() -> bool:
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


_last: dict[str, object] = {}
_last_filters: list[tuple] = list(warnings.filters)
sys.addaudithook(_guard)
_watch_filters()
_changes()
