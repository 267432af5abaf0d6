"""Live errors: what the reader's own names held is said; nothing of it is touched or kept."""

import gc
import warnings
import weakref

import numpy as np
import pytest
import torch
from torch import nn

from torchcourse.errors import explain


def caught(run, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            run(*args)
        except Exception as error:
            return error
    raise AssertionError("nothing was raised")


def matmul():
    x, weight = torch.zeros(32, 400), torch.zeros(256, 120)
    x @ weight


def linear():
    images = torch.zeros(8, 3, 4)
    fc = nn.Linear(12, 2)
    fc(images)


def view():
    turned = torch.arange(6.0).reshape(2, 3).t()
    turned.view(6)


def inplace():
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    y.add_(1)
    y.sum().backward()


def dtype():
    ids = torch.zeros(2, 3)
    table = nn.Embedding(4, 5)
    table(ids)


def array():
    features = np.zeros((4, 3))
    nn.Linear(3, 2)(torch.as_tensor(features))


def batch_of_one():
    bn = nn.BatchNorm1d(6)
    single = torch.zeros(1, 6)
    bn(single)


def attribute():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(5, 7))

        def forward(self, x):
            return x @ self.weight

    Net()(torch.zeros(2, 6))


def broadcasting():
    output, target = torch.zeros(4, 1), torch.zeros(4)
    nn.functional.mse_loss(output, target)


@pytest.mark.parametrize(
    ("run", "kind", "said"),
    [
        (matmul, "matmul-sizes", ("32x400", "x is float32 [32, 400] on cpu", "weight is float32 [256, 120]")),
        (linear, "matmul-sizes", ("images is float32 [8, 3, 4]", "fc is Linear with weight float32 [2, 12]")),
        (view, "view-not-possible", ("turned is float32 [3, 2] on cpu, strides (1, 3)",)),
        (inplace, "saved-tensor-modified", ("version 1", "y is float32 [3]")),
        (dtype, "embedding-dtype", ("ids is float32 [2, 3]", "table is Embedding")),
        (array, "dtype-mismatch", ("features is NumPy float64 [4, 3]", "Double", "Float")),
        (batch_of_one, "batch-norm-of-one", ("single is float32 [1, 6]", "[1, 6]")),
        (attribute, "matmul-sizes", ("2x6", "5x7", "self.weight is Parameter float32 [5, 7]", "in forward")),
        (broadcasting, "target-broadcast", ("[4]", "[4, 1]")),
    ],
)
def test_actual_values_are_named(run, kind, said):
    seen = explain(caught(run))
    assert seen.kind == kind
    assert all(text in seen.what for text in said), seen.what


def test_an_unknown_error_says_what_types_tell():
    def differs():
        a, b = torch.zeros(2), torch.zeros(2, dtype=torch.float64)
        return unknown(a, b)

    seen = explain(caught(differs))
    assert "The dtypes differ (a float32, b float64)" in seen.what


def unknown(a, b):
    raise RuntimeError("torch says something new")


def test_a_warning_is_explained():
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        nn.functional.mse_loss(torch.zeros(4, 1), torch.zeros(4))
    assert explain(given[0]).kind == explain(given[0].message).kind == "target-broadcast"


class Watched:
    """An object that must be left alone."""

    touched: list[str] = []  # noqa: RUF012 - the test looks into it

    def __repr__(self):
        self.touched.append("repr")
        raise RuntimeError("repr")

    @property
    def shape(self):
        self.touched.append("shape")
        raise RuntimeError("shape")

    def __getattr__(self, name):
        self.touched.append(name)
        raise RuntimeError(name)


class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        Watched.touched.append(str(function))
        return super().__torch_function__(function, types, args, kwargs)


def test_foreign_objects_are_left_alone():
    def fails(watched, loud):
        x = torch.zeros(2, 3)
        x @ (x, watched, watched.__class__, loud)[0]

    loud = torch.zeros(2).as_subclass(Loud)
    error = caught(fails, Watched(), loud)
    Watched.touched.clear()
    assert explain(error).kind == "matmul-sizes"
    assert Watched.touched == []
    assert explain(ValueError(Watched())).known is False
    assert explain(KeyError(Watched())).known is False
    assert Watched.touched == []


def test_no_mode_of_the_reader_sees_the_look():
    from torch.overrides import TorchFunctionMode

    class Counts(TorchFunctionMode):
        seen = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            Counts.seen += 1
            return function(*args, **(kwargs or {}))

    error = caught(matmul)
    with Counts():
        explain(error)
    assert Counts.seen == 0


def test_nothing_is_kept():
    class Held:
        pass

    def fails():
        held, x = Held(), torch.zeros(2, 3)
        kept.append(weakref.ref(held))
        x @ x

    kept = []
    seen = explain(caught(fails))
    gc.collect()
    assert seen.known and kept[0]() is None


def test_a_running_frame_keeps_nothing_either():
    class Held:
        pass

    held, x = Held(), torch.zeros(2, 3)
    look = weakref.ref(held)
    try:
        x @ x
    except RuntimeError as error:
        explain(error)
    del held
    gc.collect()
    assert look() is None
