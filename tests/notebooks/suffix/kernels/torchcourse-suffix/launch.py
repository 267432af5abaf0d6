"""A CPU kernel whose tensors print a device the way a CUDA tensor does: the same place, the same line breaks.

A notebook that passes on it needs one stored output for both kernels. It tells nothing about CUDA's numbers.
"""

import sys
from pathlib import Path

import torch._tensor_str as tensor_str

_plain = tensor_str._add_suffixes


def _with_device(text, suffixes, indent, force_newline):
    return _plain(text, ["device='cuda:0'", *suffixes], indent, force_newline)


tensor_str._add_suffixes = _with_device

if __name__ == "__main__":
    from ipykernel.kernelapp import launch_new_instance

    # Python put this file's folder first; the kernels of the course have the notebook's folder there.
    sys.path[0] = ""
    sys.argv[0] = str(Path(sys.executable).with_name("ipykernel_launcher.py"))
    launch_new_instance()
