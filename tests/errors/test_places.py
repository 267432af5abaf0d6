"""An error that no text tells is told by the file of PyTorch that raised it, and only by the innermost one."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from torchcourse.errors import KINDS, explain

PRINTED = """Traceback (most recent call last):
  File "/home/u/train.py", line 20, in <module>
    out = net(batch)
  File "/usr/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1751, in _call_impl
    return forward_call(*args, **kwargs)
  File "{file}", line 12, in forward
    {line}
{error}"""
CONTAINER = "/usr/lib/python3.11/site-packages/torch/nn/modules/container.py"


class Keyed(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"a": nn.ReLU()})

    def forward(self, x):
        return self.parts["b"](x)


class Own(nn.Module):
    def forward(self, x):
        return {"a": x}["b"]


def raised(call):
    with pytest.raises(KeyError) as caught:
        call()
    return caught.value


def test_the_innermost_file_tells():
    live = explain(raised(lambda: Keyed()(torch.ones(1))))
    printed = explain(PRINTED.format(file=CONTAINER, line="return self._modules[key]", error="KeyError: 'b'"))
    assert live.kind == printed.kind == "refused-by-module" and live.chapter == "modules"


def test_the_readers_own_error_inside_a_module_is_not_known():
    assert not explain(raised(lambda: Own()(torch.ones(1)))).known
    text = PRINTED.format(
        file="/home/u/model.py", line="scale = 1 / n", error="ZeroDivisionError: division by zero"
    )
    assert not explain(text).known


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "StopIteration", "MemoryError: none left"])
def test_no_fault_of_the_file_is_blamed_on_it(error):
    assert not explain(PRINTED.format(file=CONTAINER, line="return self._modules[key]", error=error)).known


def test_a_text_goes_before_a_place():
    text = PRINTED.format(file=CONTAINER, line="x = layer(x)", error="RuntimeError: CUDA out of memory")
    assert explain(text).kind == "gpu-out-of-memory"


def test_a_place_belongs_to_one_kind():
    places = [place for kind in KINDS for place in kind.raised_in]
    assert places and len(set(places)) == len(places)


def test_a_key_error_of_a_worker_is_read():
    class Rows(list):
        def __getitem__(self, index):
            return {"image": 0}["img"]

    error = raised(lambda: next(iter(DataLoader(Rows([1, 2]), num_workers=1))))
    assert explain(error).kind == "worker-raised"
