"""What other graph viewers do with the same network, each behind one function; None where one is not installed.

All are laid out by the same Graphviz in this process, so no start of a program is counted for anybody.
"""

import importlib.util
import tempfile
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import nn

from torchcourse.graphs.svg import run_graphviz


def need(*names: str) -> None:
    """Skip, and say so, where a peer is missing."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"the peer {name} is not installed")


def torchviz(loss: torch.Tensor, model: nn.Module) -> Any:
    import torchviz as peer  # type: ignore[import-not-found]

    return peer.make_dot(loss, params=dict(model.named_parameters()), show_attrs=True, show_saved=True)


def layout(picture: Any) -> str:
    return run_graphviz(str(picture.source), "svg")


def torchlens(model: nn.Module, x: torch.Tensor) -> int:
    """Forward, and the backward with its order and gradients; nodes seen. Its layout, by `dot`, is not counted."""
    import torchlens as peer  # type: ignore[import-not-found]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = peer.trace(model, x, capture=peer.options.CaptureOptions(backward_ready=True))
        trace.log_backward(trace[-1].out.sum())
    return int(trace.num_grad_fns)


def torchview(model: nn.Module, x: torch.Tensor) -> str:
    """Forward, the graph of modules, and its layout."""
    import torchview as peer  # type: ignore[import-not-found]

    return layout(peer.draw_graph(model, x).visual_graph)


def torchvista(model: nn.Module, x: torch.Tensor) -> int:
    """Forward and the page that a cell shows; its bytes."""
    import torchvista as peer  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder, patch("torchvista.render.display"):
        page = Path(folder, "page.html")
        peer.trace_model(model, x, export_path=str(page))
        return page.stat().st_size
