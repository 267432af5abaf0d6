"""What importing torchcourse does in IPython: `%%xray`, results that show themselves as views, and notes below
cells that another release of torch answers differently.

Imports neither PyTorch nor a widget; IPython's own look-ups do when they need one.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from . import _restarted
from ._magic import register_magic, running_shell
from ._releases import STORED, notes

# A result's class -> the module whose `view(result)` shows it.
_VIEWS = {
    ("torchcourse.layers.seen", "Seen"): "torchcourse.widgets.xray",
    ("torchcourse.layers.events", "Trace"): "torchcourse.widgets.xray",
    ("torchcourse.layers.compare", "Comparison"): "torchcourse.widgets.xray",
    ("torchcourse.layers.draws", "Draws"): "torchcourse.widgets.draws",
    ("torchcourse.export._coverage", "Coverage"): "torchcourse.widgets.ways",
    ("torchcourse.export._onnx_graph", "OnnxGraph"): "torchcourse.widgets.onnx",
    ("torchcourse.errors.data", "Explanation"): "torchcourse.widgets.explanation",
    ("torchcourse.devices.queue.lanes", "Lanes"): "torchcourse.widgets.queue",
    ("torchcourse.allocator.messages", "OutOfMemoryNumbers"): "torchcourse.widgets.oom",
}


def register(shell: Any = None) -> bool:
    """Tell the running IPython, silently, any number of times. False: there is none."""
    shell = shell or running_shell()
    if shell is None:
        return False
    register_magic(shell)
    formatter = shell.display_formatter.mimebundle_formatter
    for (module, name), shows in _VIEWS.items():
        formatter.for_type_by_name(module, name, _shower(shows))
    shell.events.register("post_run_cell", _note)
    _restarted.watch(shell)
    return True


def _note(result: Any) -> None:
    """Below a cell that ran: what is not the same on this torch; nothing without torch, or on the stored one."""
    version = str(getattr(sys.modules.get("torch"), "__version__", ""))
    if not version or version.startswith(f"{STORED}."):
        return
    from IPython.display import display

    for note in notes(result.info.raw_cell or "", result.error_in_exec, version):
        display(note)


def _shower(module: str) -> Callable[..., Any]:
    def show(result: Any, include: Any = None, exclude: Any = None) -> Any:
        return import_module(module).view(result)._repr_mimebundle_(include=include, exclude=exclude)

    return show
