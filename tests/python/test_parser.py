"""The parser: what it says of models it takes, and of those it does not."""

import json
import os

import numpy
import pytest
from onnx import TensorProto, helper, numpy_helper
from small_models import perceptron

import camshaft as trt


@pytest.fixture
def parser(network, logger):
    return trt.OnnxParser(network, logger)


def model_of(nodes, initializers=(), opset=17, ir_version=10, functions=(), values=()):
    """From x to y, both float [2, 3]."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph(nodes, "model", [x], [y], list(initializers), value_info=list(values))
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version, functions=list(functions))


def descriptions(parser):
    return [parser.get_error(i).desc() for i in range(parser.num_errors)]


def test_layers_of_an_engine_name_their_nodes(build, config, network, parser):
    nodes = [helper.make_node("Relu", ["x"], ["a"], name="rectify"), helper.make_node("Exp", ["a"], ["y"], name="grow")]
    assert parser.parse(model_of(nodes).SerializeToString())
    assert network[0].metadata == "[ONNX Layer: rectify]"
    network[1].metadata = "mine"
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    inspector = build(network).create_engine_inspector()
    layers = json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))["Layers"]
    entries = [entry for layer in layers for entry in layer["Metadata"].split("\x1e")]
    assert sorted(entries) == ["[ONNX Layer: rectify]", "mine"]
    assert sorted(name for layer in layers for name in layer["OriginNodes"]) == ["mine", "rectify"]


def test_subgraphs(parser, network):
    nodes = [helper.make_node("Exp", ["x"], ["a"]), helper.make_node("Mystery", ["a"], ["b"], name="odd"),
             helper.make_node("Neg", ["b"], ["c"]), helper.make_node("Relu", ["c"], ["y"])]
    model = model_of(nodes).SerializeToString()
    assert not parser.supports_model_v2(model)
    assert parser.num_subgraphs == 2  # the odd one is in none
    assert [parser.get_subgraph_nodes(i) for i in range(2)] == [[0], [2, 3]]
    assert [parser.is_subgraph_supported(i) for i in range(2)] == [True, False]  # what reads b was not tried
    assert parser.supports_model(model) == (False, [([0], True), ([2, 3], False)])
    with pytest.raises(IndexError):
        parser.get_subgraph_nodes(2)
    assert network.num_inputs == 0
    assert parser.supports_model_v2(perceptron()[0])
    assert parser.num_subgraphs == 1 and parser.num_errors == 0


def test_declared_types_let_later_problems_be_found_too(parser):
    nodes = [helper.make_node("Mystery", ["x"], ["a"], name="first"),
             helper.make_node("Softmax", ["a"], ["b"], name="second", axis=7),
             helper.make_node("Relux", ["b"], ["y"], name="third")]
    values = [helper.make_tensor_value_info("a", TensorProto.FLOAT, [2, "n"])]
    assert not parser.parse(model_of(nodes, values=values).SerializeToString())
    first, second, third = descriptions(parser)
    assert "'first' (Mystery, opset 17)" in first
    assert "'second' (Softmax, opset 17)" in second and "axis 7" in second
    assert "nearest known name is Relu" in third


def test_functions_of_an_error(parser):
    body = [helper.make_node("Mystery", ["a"], ["b"], name="odd")]
    function = helper.make_function("local", "Shell", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    call = helper.make_node("Shell", ["x"], ["y"], name="call", domain="local")
    assert not parser.parse(model_of([call], functions=[function]).SerializeToString())
    error = parser.get_error(0)
    assert error.local_function_stack() == ["Shell"] and error.local_function_stack_size() == 1
    assert (error.node(), error.node_name(), error.node_operator()) == (0, "call/odd", "Mystery")
    assert error.code() == trt.ErrorCode.UNSUPPORTED_NODE


def test_layer_outputs(parser, network):
    assert parser.parse_with_weight_descriptors(perceptron()[0])
    assert parser.get_layer_output_tensor("dense", 0).name == "h"
    assert parser.get_layer_output_tensor("rectify", 0).name == "y"
    assert parser.get_layer_output_tensor("rectify", 1) is None
    assert parser.get_used_vc_plugin_libraries() == []


@pytest.mark.parametrize("by_address", [False, True])
def test_initializers_from_the_caller(parser, network, build, by_address):
    weights = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    placeholder = numpy_helper.from_array(numpy.zeros_like(weights), "w")
    model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [placeholder]).SerializeToString()
    assert not parser.load_initializer("w", weights, weights.nbytes)
    assert parser.load_model_proto(model)
    assert not parser.load_initializer("other", weights, weights.nbytes)
    assert parser.load_initializer("w", weights.ctypes.data if by_address else weights, weights.nbytes)
    assert parser.parse_model_proto()
    x = numpy.ones((2, 3), numpy.float32)
    assert numpy.array_equal(trt.infer(build(network), {"x": x})["y"], x + weights)


def test_versions_newer_than_known_are_taken_when_the_operators_are(parser):
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], opset=99, ir_version=99)
    assert parser.parse(model.SerializeToString())


def external(name, shape, location, offset):
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return tensor


def test_external_data_beyond_two_gibibytes(tmp_path, parser, network, build):
    offset = 5 << 30  # of a sparse file, which takes no space
    weights = numpy.arange(6, dtype=numpy.float32)
    with open(tmp_path / "weights", "wb") as file:
        file.seek(offset)
        file.write(weights.tobytes())
    model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [external("w", [2, 3], "weights", offset)])
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    assert parser.parse_from_file(str(tmp_path / "model.onnx")), descriptions(parser)
    x = numpy.ones((2, 3), numpy.float32)
    assert numpy.array_equal(trt.infer(build(network), {"x": x})["y"], x + weights.reshape(2, 3))


def test_a_tensor_of_more_than_two_gibibytes(tmp_path, parser, network):
    rows = (3 << 30) // 12
    with open(tmp_path / "weights", "wb") as file:
        file.truncate(rows * 12)
    nodes = [helper.make_node("Gather", ["w", "rows"], ["picked"]), helper.make_node("Add", ["x", "picked"], ["y"])]
    indices = numpy_helper.from_array(numpy.array([0, rows - 1]), "rows")
    model = model_of(nodes, [external("w", [rows, 3], "weights", 0), indices]).SerializeToString()
    assert parser.parse(model, path=str(tmp_path / "model.onnx")), descriptions(parser)
    assert network.num_layers > 0


@pytest.mark.parametrize("location, offset, reason", [
    ("../outside", 0, "outside the model's folder"),
    ("/etc/hostname", 0, "outside the model's folder"),
    ("link", 0, "leads outside"),
    ("weights", 8, "has only 24 bytes"),
    ("weights", 1 << 62, "has only 24 bytes"),
    ("missing", 0, "cannot be found"),
])
def test_external_data_stays_in_the_folder(tmp_path, parser, location, offset, reason):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "outside").write_bytes(bytes(24))
    (folder / "weights").write_bytes(bytes(24))
    os.symlink(tmp_path / "outside", folder / "link")
    model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [external("w", [2, 3], location, offset)])
    assert not parser.parse(model.SerializeToString(), path=str(folder / "model.onnx"))
    assert len(descriptions(parser)) == 1 and reason in descriptions(parser)[0]
    assert "'w'" in descriptions(parser)[0]
