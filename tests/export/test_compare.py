"""`compare` leaves everything as it was, prints nothing, and says each bad call in one sentence."""

import builtins
import logging
import os
import random
import subprocess
import sys
import threading
import warnings

import numpy
import pytest
import torch
from torch import nn

from torchcourse.export import WAYS, Comparison, compare, run

from .models import BranchOnValue, CountInBuffer, DataclassOut, LoopOverRows, Number, Raises, positive, x

CHEAP = (nn.Linear(4, 2).eval(), (x,), [(x * 2,)])


class Messy(nn.Module):
    """Everything a comparison could leave behind: buffers, dropout, writes, prints, warnings, log lines."""

    def __init__(self):
        super().__init__()
        self.norm, self.drop, self.calls, self.seen = nn.BatchNorm1d(4), nn.Dropout(0.5), 0, []
        self.norm.register_forward_hook(lambda *_: print("hook"))

    def forward(self, x, y):
        self.calls += 1
        self.seen.append(self.calls)
        x.add_(random.random() + float(numpy.random.rand()))
        print("forward")
        os.write(2, b"to descriptor 2")
        warnings.warn("from the model", stacklevel=1)
        logging.getLogger("messy").error("logged")
        return self.drop(self.norm(x)) + y


def state(model, inputs):
    """All that a comparison could change, as values."""
    tensors = [*model.parameters(), *model.buffers(), *inputs]
    return (
        [
            (t.detach().numpy().tobytes(), t._version, t.requires_grad, t.grad is None, t.stride())
            for t in tensors
        ],
        [(m.training, len(m._forward_hooks), sorted(vars(m))) for m in model.modules()],
        (getattr(model, "calls", 0), list(getattr(model, "seen", []))),
        (torch.get_rng_state().tolist(), random.getstate(), numpy.random.get_state()[1].tolist()),
        flags(),
    )


def flags():
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_autocast_cache_enabled(),
        torch.onnx.is_in_onnx_export(),
        torch.jit.is_tracing(),
        sys.getrecursionlimit(),
        sys.stdout,
        sys.stderr,
        logging.root.manager.disable,
        logging.root.level,
        list(warnings.filters),
        warnings.showwarning,
        os.getcwd(),
        builtins.__import__,
    )


def test_nothing_is_left_behind(capfd, caplog, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compare(*CHEAP)  # imports first: they register things of their own
    model = Messy().train()
    model.drop.eval()
    view = torch.arange(24.0).reshape(4, 6).t()[1:5]
    inputs = [view, torch.ones(4, 4, requires_grad=True), torch.ones(4, 4), torch.ones(4, 4)]
    before, environment = state(model, inputs), dict(os.environ)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        found = compare(model, tuple(inputs[:2]), [tuple(inputs[2:])])
        assert list(warnings.filters) == filters
    assert state(model, inputs) == before and dict(os.environ) == environment
    out, err = capfd.readouterr()
    assert (out, err) == ("", "") and not caught and not list(tmp_path.iterdir())
    # torch's own trace log never leaves torch; pytest looks at it all the same.
    assert not [record for record in caplog.records if record.name != "torch.__trace"]
    assert found.of("trace")  # there is a table all the same
    assert all(
        word in str(found.notes) for word in ("calls", "norm.running_mean", "writes to its argument x")
    )


def test_a_comparison_that_is_interrupted_leaves_nothing_behind(capfd):
    class Stops(nn.Module):
        def forward(self, x):
            raise KeyboardInterrupt

    model, before = Stops(), flags()
    with pytest.raises(KeyboardInterrupt):
        compare(model, (x,), [])
    assert flags() == before
    print("prints again")
    assert capfd.readouterr().out == "prints again\n"


@pytest.mark.slow
def test_the_same_call_gives_the_same_text():
    torch.manual_seed(0)
    model = CountInBuffer()
    assert str(compare(model, (x,), [(positive,)])) == str(compare(model, (x,), [(positive,)]))


def test_the_table_reads_well():
    text = str(compare(LoopOverRows(), (x,), [(torch.ones(5, 4),)], ({0: "rows"},)))
    lines = text.splitlines()
    assert lines[0] == "LoopOverRows"
    assert lines[1].split() == ["input", *WAYS]
    assert lines[2].split()[:6] == ["0", "example", "x", "[3,", "4]", "float32"]
    assert "differ by 7" in lines[3] and "trace, torchscript_onnx, input 1: dynamic shape specialised" in text
    assert "0x" not in text and "Traceback" not in text


def test_rows_by_way_and_input():
    found = compare(*CHEAP)
    assert (
        isinstance(found, Comparison)
        and len(found) == len(found.rows) == 8
        and list(found) == list(found.rows)
    )
    assert [(row.way, row.input) for row in found] == [(way, number) for way in WAYS for number in (0, 1)]
    assert found.outcome("trace", 1) == "agree" and found.row("export", 0).max_error < 1e-6
    assert found.program("trace").program(x).shape == (3, 2)
    assert found.program("export").program.module()(x).shape == (3, 2)
    for way in ("torchscript_onnx", "dynamo_onnx"):
        (output,) = run(found.program(way).onnx, x)
        torch.testing.assert_close(output, CHEAP[0](x).detach())
    with pytest.raises(ValueError, match="There is no way 'onnx'"):
        found.of("onnx")
    with pytest.raises(ValueError, match="There is no input 2"):
        found.outcome("trace", 2)


def test_warnings_of_the_tracer_are_data():
    found = compare(BranchOnValue(), (positive,), [])
    (warned,) = found.warnings
    assert warned.kind == "data-dependent branch" and warned.code == "if x.sum() > 0:" and warned.line > 0
    assert str(warned).startswith(f"line {warned.line} `if x.sum() > 0:`")


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ((nn.Linear(4, 2), x, []), TypeError, r"example is a tuple .* not a Tensor: .* \(x,\)"),
        ((nn.Linear(4, 2), [x], []), TypeError, "example is a tuple"),
        ((nn.Linear(4, 2), (x,), x), TypeError, "others is a list of tuples"),
        ((nn.Linear(4, 2), (x,), [(x,), x]), TypeError, r"others\[1\] is a tuple"),
        ((nn.Linear(4, 2), (x,), None), TypeError, "others is a list of tuples"),
        ((nn.Linear, (x,), []), TypeError, "got the class Linear"),
        ((torch.relu, (x,), []), TypeError, "takes an nn.Module"),
        ((nn.Linear(4, 2), (x.to("meta"),), []), ValueError, "meta, which has no values"),
        ((nn.Linear(4, 2), (x,), [], 5), TypeError, "dynamic_shapes is a tuple"),
        ((nn.Linear(4, 2), (x,), [], ({5: "rows"},)), ValueError, "dimension 5 of input, which has 2"),
        ((nn.Linear(4, 2), (x,), [], {"y": {}}), ValueError, "names 'y', and the example gives input"),
        ((nn.Linear(4, 2), (x,), [], ({}, {})), ValueError, "has 2 entries"),
        ((nn.Linear(4, 2), (x,), [], ({0: 2.5},)), TypeError, "has 2.5 for a dimension"),
    ],
)
def test_a_bad_call_is_one_sentence(arguments, error, sentence):
    with pytest.raises(error, match=sentence) as raised:
        compare(*arguments)
    assert "\n" not in str(raised.value)


def test_an_opset_is_a_number():
    with pytest.raises(TypeError, match="opset is a whole number"):
        compare(*CHEAP, opset="18")


def test_an_unknown_opset_leaves_the_other_ways_their_column():
    found = compare(*CHEAP, opset=99)
    for way in ("torchscript_onnx", "dynamo_onnx"):
        assert {(row.outcome, row.kind, row.at) for row in found.of(way)} == {
            ("refused", "unknown opset", "export")
        }
    assert {row.outcome for way in ("trace", "export") for row in found.of(way)} == {"agree"}


@pytest.mark.parametrize("model", [Raises(), pytest.param(DataclassOut(), marks=pytest.mark.slow)])
def test_a_model_that_nothing_exports_has_a_full_table(model):
    found = compare(model, (x,), [(x,)])
    assert len(found) == 8 and {row.outcome for row in found} == {"refused"}
    assert all(row.reason and "\n" not in row.reason for row in found)


@pytest.mark.parametrize(
    "package",
    ["onnxscript", *(pytest.param(name, marks=pytest.mark.slow) for name in ("onnxruntime", "onnx"))],
)
def test_a_missing_package_costs_its_ways_only(package, monkeypatch):
    loaded = [name for name in sys.modules if name.partition(".")[0] == package]
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    found = compare(nn.Linear(4, 2).eval(), (x,), [])
    assert found.outcome("trace", 0) == found.outcome("export", 0) == "agree"
    row = found.row("dynamo_onnx", 0)
    assert row.outcome == "refused" and f"pip install {package}" in row.reason
    if package == "onnxruntime":
        assert found.row("torchscript_onnx", 0).reason == row.reason and found.program("dynamo_onnx").onnx


def test_what_can_not_be_copied_is_compared_all_the_same():
    class Locked(nn.Linear):
        def __init__(self):
            super().__init__(4, 2)
            self.lock = threading.Lock()  # deepcopy refuses a lock
            self.twice = self.weight * 2  # and a tensor with a history

        def forward(self, x):
            return super().forward(x) @ self.twice

    model = Locked().eval()
    before = model.weight.detach().clone()
    found = compare(model, (x,), [])
    assert found.outcome("trace", 0) == found.outcome("dynamo_onnx", 0) == "agree", str(found)
    assert torch.equal(model.weight, before)


def test_one_tensor_as_two_arguments():
    found = compare(Number(), (x, x), [(x, x * 5)])
    assert "one tensor as x and n" in found.row("export", 1).reason
    assert found.outcome("trace", 1) == "agree"


def test_the_package_imports_no_exporter():
    code = (
        "import sys, torchcourse.export\n"
        "heavy = {'onnx', 'onnxscript', 'onnxruntime', 'torch._dynamo'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(scope="module")
def onnx():
    return compare(*CHEAP).program("torchscript_onnx").onnx


class TestRun:
    """An ONNX file from elsewhere."""

    def refused(self, *arguments):
        with pytest.raises((ValueError, TypeError)) as raised:
            run(*arguments)
        assert "\n" not in str(raised.value) and str(raised.value).endswith(".")
        return str(raised.value)

    def test_truncated(self, onnx, tmp_path):
        half = tmp_path / "half.onnx"
        half.write_bytes(onnx[: len(onnx) // 2])
        assert "truncated" in self.refused(half, x)
        assert "truncated" in self.refused(onnx[:40], x)

    def test_missing_and_short_external_data(self, onnx, tmp_path):
        import onnx as onnx_

        model = onnx_.load_from_string(onnx)
        path = tmp_path / "model.onnx"
        onnx_.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
        assert run(path, x)[0].shape == (3, 2)
        os.truncate(tmp_path / "weights.bin", 4)
        assert "external data" in self.refused(path, x)
        (tmp_path / "weights.bin").unlink()
        assert "external data" in self.refused(path, x)

    def test_any_bytes(self, onnx):
        assert torch.equal(run(memoryview(onnx), x)[0], run(bytearray(onnx), x)[0])

    def test_an_opset_nobody_knows(self, onnx):
        import onnx as onnx_

        model = onnx_.load_from_string(onnx)
        model.opset_import[0].version = 99
        assert "opset 99" in self.refused(model.SerializeToString(), x)

    def test_other_inputs(self, onnx, tmp_path):
        assert "float32, and got float64" in self.refused(onnx, x.double())
        assert "takes 1 inputs" in self.refused(onnx)
        assert "There is no file" in self.refused(tmp_path / "absent.onnx", x)
        assert "not an int" in self.refused(onnx, 3)
        assert "meta, which has no values" in self.refused(onnx, x.to("meta"))
        assert "sparse_coo: call .to_dense()" in self.refused(onnx, x.to_sparse())
        assert "no complex numbers" in self.refused(onnx, x.to(torch.complex64))
        assert "not an int" in self.refused(3, x)
