"""`onnx_graph`: an ONNX file as data, and one sentence for a file that is none."""

import io
import re

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from torchcourse.export import OnnxGraph, onnx_graph
from torchcourse.export._keep import silence

EXAMPLE = torch.ones(3, 4)


def made(opsets: tuple[tuple[str, int], ...] = (("", 18), ("ours", 1))) -> onnx.ModelProto:
    """x [b, 4] @ w + c, where the file says no shape in between."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    w = numpy_helper.from_array(np.ones((4, 2), np.float32), "lin.weight")
    constant = helper.make_node(
        "Constant", [], ["c"], value=numpy_helper.from_array(np.array(3.0, np.float32))
    )
    nodes = [
        helper.make_node("MatMul", ["x", "lin.weight"], ["h"], name="/lin/MatMul"),
        constant,
        helper.make_node("Add", ["h", "c"], ["y"], name="/Add"),
    ]
    graph = helper.make_graph(nodes, "made", [x], [y], [w])
    imports = [helper.make_opsetid(*one) for one in opsets]
    return helper.make_model(graph, opset_imports=imports, producer_name="pytorch")


WHOLE = made(opsets=(("", 18),)).SerializeToString()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.register_buffer("buf", torch.ones(4))
        self.table = torch.arange(4.0)

    def forward(self, x):
        y = self.sub(x) + self.buf + self.table
        return torch.cond(y.sum() > 0, lambda y: y + 1, lambda y: y - 1, (y,)).reshape(x.shape[0] * 4)


@pytest.fixture(scope="module")
def program():
    """What the default exporter makes of Model, for a batch of any size."""
    model, shapes = Model().eval(), ({0: torch.export.Dim("batch")},)
    with silence():
        return torch.onnx.export(model, (EXAMPLE,), dynamo=True, dynamic_shapes=shapes)


def test_nodes_opsets_and_shapes():
    graph = onnx_graph(made())
    assert [(n.id, n.op, n.inputs, n.outputs) for n in graph.nodes] == [
        (0, "MatMul", ("x", "lin.weight"), ("h",)),
        (1, "Constant", (), ("c",)),
        (2, "Add", ("h", "c"), ("y",)),
    ]
    assert graph.opset == 18 and graph.opsets == (("", 18), ("ours", 1))
    assert graph.inputs[0].shape == ("b", 4) and graph.inputs[0].dynamic
    assert graph.value("h").shape == ("b", 2) and graph.value("y").shape == ("b", 2), (
        "shapes are not inferred"
    )
    assert graph.value("h").dtype == "float32" and graph.value("nothing") is None
    assert [n.module for n in graph.nodes] == ["lin", None, ""]


def test_what_is_stored():
    graph = onnx_graph(made())
    (weight,) = graph.initialisers
    assert (weight.name, weight.shape, weight.nbytes, weight.dtype, weight.external) == (
        "lin.weight",
        (4, 2),
        32,
        "float32",
        None,
    )
    assert weight.origin == "parameter" and graph.nbytes == 32
    (baked,) = graph.baked
    assert (baked.name, baked.value, baked.node) == ("c", "3", 2) and "does not say" in baked.how


@pytest.mark.parametrize(
    ("array", "nbytes", "dtype"),
    [
        (np.ones(3, np.float64), 24, "float64"),
        (np.ones(3, np.float16), 6, "float16"),
        (np.ones(3, np.int8), 3, "int8"),
        (np.ones(3, bool), 3, "bool"),
        (np.ones((0, 4), np.int64), 0, "int64"),
        (np.ones(3, np.complex64), 24, "complex64"),
    ],
)
def test_bytes_of_each_dtype(array, nbytes, dtype):
    model = made()
    model.graph.initializer.append(numpy_helper.from_array(array, "more"))
    stored = onnx_graph(model).initialisers[-1]
    assert (stored.nbytes, stored.dtype) == (nbytes, dtype)


def test_a_path_bytes_and_a_model_give_the_same(tmp_path):
    onnx.save(made(), tmp_path / "a.onnx")
    data = (tmp_path / "a.onnx").read_bytes()
    graphs = [onnx_graph(source) for source in (tmp_path / "a.onnx", str(tmp_path / "a.onnx"), data, made())]
    assert graphs == graphs[:1] * 4 and len({str(graph) for graph in graphs}) == 1


def test_the_default_exporter_says_where_each_node_comes_from(program):
    graph = onnx_graph(program)
    gemm = graph.nodes[0]
    assert (gemm.op, gemm.module, gemm.source) == ("Gemm", "sub.0", "y = self.sub(x) + self.buf + self.table")
    assert gemm.file == __file__ and gemm.line == graph.nodes[1].line
    assert graph.inputs[0].shape == ("batch", 4) and not gemm.domain


def test_origins_are_those_of_the_exported_program(program):
    graph = onnx_graph(program)
    origins = {one.name: one.origin for one in graph.initialisers}
    assert origins["sub.0.weight"] == "parameter" and origins["buf"] == "buffer"
    assert origins["table"] == "constant"
    assert {one.name for one in graph.baked} == {n for n, o in origins.items() if o in ("constant", "folded")}
    assert "no buffer" in next(one.how for one in graph.baked if one.name == "table")


def test_branches_are_graphs_of_their_own(program):
    node = next(node for node in onnx_graph(program).nodes if node.op == "If")
    assert [name for name, _ in node.subgraphs] == ["then_branch", "else_branch"]
    assert [[inner.op for inner in graph.nodes] for _, graph in node.subgraphs] == [["Add"], ["Sub"]]
    assert node.subgraphs[0][1].opsets == () and "then_branch:" in str(onnx_graph(program))


def test_torchscript_says_modules_always_and_lines_where_asked():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    for verbose in (False, True):
        file = io.BytesIO()
        with silence():
            torch.onnx.export(model, (EXAMPLE,), file, dynamo=False, verbose=verbose)
        graph = onnx_graph(file.getvalue())
        assert [node.module for node in graph.nodes] == ["0", "1"]
        assert all((node.line is not None) == verbose for node in graph.nodes)


def test_external_data_is_not_read(program, tmp_path):
    model = onnx.ModelProto.FromString(program.model_proto.SerializeToString())
    onnx.save(
        model, tmp_path / "m.onnx", save_as_external_data=True, location="m.onnx.data", size_threshold=0
    )
    graph = onnx_graph(tmp_path / "m.onnx")
    outside = [one for one in graph.initialisers if one.external]
    assert {one.external for one in outside} == {"m.onnx.data"} and graph.nbytes > 64
    data = tmp_path / "m.onnx.data"
    data.write_bytes(data.read_bytes()[:10])
    with pytest.raises(
        ValueError, match=r"cut off: tensor \S+ ends at byte \S+ of m\.onnx\.data, which has 10"
    ):
        onnx_graph(tmp_path / "m.onnx")
    data.unlink()
    with pytest.raises(ValueError, match=r"External data is missing: tensor \S+ is in m\.onnx\.data"):
        onnx_graph(tmp_path / "m.onnx")


def test_external_data_stays_in_the_folder(tmp_path):
    for place in ("../secret", str(tmp_path / "secret"), ""):
        model = made()
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", place
        (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
        with pytest.raises(ValueError, match="outside of the model's folder"):
            onnx_graph(tmp_path / "m.onnx")


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, len(WHOLE) - 1))
def test_a_file_that_is_cut_off_gets_a_sentence(cut):
    with pytest.raises(ValueError, match=r"ONNX|opset") as caught:
        onnx_graph(WHOLE[:cut])
    assert str(caught.value).endswith((".", "?")) and "Traceback" not in str(caught.value)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_give_a_graph_or_a_sentence(data):
    try:
        assert isinstance(onnx_graph(data), OnnxGraph)
    except ValueError as error:
        assert re.match(r"[A-Z]", str(error))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_damaged_file_gives_a_graph_or_a_sentence(data):
    whole = bytearray(WHOLE)
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4)):
        whole[at] = data.draw(st.integers(0, 255))
    try:
        assert str(onnx_graph(bytes(whole)))
    except ValueError as error:
        assert re.match(r"[A-Z]", str(error))


def test_an_attribute_without_a_type_is_a_question_mark():
    damaged = made()
    damaged.graph.node[0].attribute.add().name = "axis"
    assert onnx_graph(damaged).nodes[0].attributes[-1] == ("axis", "?")


def test_other_things_get_a_sentence(tmp_path):
    torch.save({"a": torch.ones(3)}, tmp_path / "weights.pt")
    with pytest.raises(ValueError, match=r"weights\.pt can't be read as ONNX"):
        onnx_graph(tmp_path / "weights.pt")
    with pytest.raises(ValueError, match=r"nothing\.onnx can't be read: No such file"):
        onnx_graph("nothing.onnx")
    with pytest.raises(ValueError, match="is a folder"):
        onnx_graph(tmp_path)
    with pytest.raises(ValueError, match=r"'a\\x00b' is no path"):
        onnx_graph("a\0b")
    with pytest.raises(ValueError, match="0 bytes"):
        onnx_graph(b"")
    with pytest.raises(TypeError, match=r"takes a path, bytes, a ModelProto or what .* not a Linear"):
        onnx_graph(nn.Linear(1, 1))
    damaged = made()
    damaged.graph.initializer[0].raw_data += b"xx"
    with pytest.raises(ValueError, match=r"has 34 bytes and its shape needs 32"):
        onnx_graph(damaged)
    with pytest.raises(ValueError, match="names no opset, so its nodes"):
        onnx_graph(made(opsets=()))
    with pytest.raises(ValueError, match="names no opset for the domain of 'MatMul'"):
        onnx_graph(made(opsets=(("ours", 1),)))
