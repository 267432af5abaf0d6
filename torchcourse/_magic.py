"""`%%xray`, made known to IPython when torchcourse is imported there; PyTorch is imported at its first use."""

import sys
from typing import Any


def register_magic(shell: Any = None) -> bool:
    """Make `%%xray` known to the running IPython, silently, any number of times. False: there is none."""
    shell = shell or running_shell()
    if shell is None:
        return False
    shell.register_magic_function(_xray, "cell", "xray")
    return True


def running_shell() -> Any:
    """The IPython shell that runs this code, or None; IPython is not imported for it."""
    asked = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return None if asked is None else asked()


def _xray(line: str, cell: str) -> Any:
    """%%xray: run this cell and show what each of its lines triggered.

    `%%xray name` also keeps the result under that name.
    """
    from torchcourse.layers.magic import run

    return run(running_shell(), line, cell)
