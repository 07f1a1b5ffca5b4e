"""Small models for tests of servers."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def model(nodes, inputs, outputs, weights=()):
    infos = [[helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in tensors]
             for tensors in (inputs, outputs)]
    graph = helper.make_graph(nodes, "graph", *infos,
                              [numpy_helper.from_array(value, name) for name, value in weights])
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(whole)
    return whole.SerializeToString()


F32, I64, I32, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL


def perceptron(batch="n", scale=1.0):
    """y = relu(x w), z = x + 1, of rows of four."""
    w = numpy.random.default_rng(5).standard_normal((4, 3)).astype(numpy.float32) * numpy.float32(scale)
    return model([helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"]),
                  helper.make_node("Add", ["x", "one"], ["z"])],
                 [("x", F32, [batch, 4])], [("y", F32, [batch, 3]), ("z", F32, [batch, 4])],
                 [("w", w), ("one", numpy.ones(1, numpy.float32))])


def perceptron_outputs(x, scale=1.0):
    w = numpy.random.default_rng(5).standard_normal((4, 3)).astype(numpy.float32) * numpy.float32(scale)
    return {"y": numpy.maximum(x @ w, 0), "z": x + 1}


def sum_of_images():
    """Any number of images of any height and width, summed over channels."""
    return model([helper.make_node("ReduceSum", ["x", "axis"], ["y"], keepdims=0)],
                 [("x", F32, ["n", 3, "h", "w"])], [("y", F32, ["n", "h", "w"])],
                 [("axis", numpy.array([1], numpy.int64))])


def positions(batch="n"):
    """Where x is not zero: as many columns as the data decides."""
    return model([helper.make_node("NonZero", ["x"], ["p"]), helper.make_node("Transpose", ["p"], ["y"])],
                 [("x", F32, [batch, 4])], [("y", I64, ["count", 2])])


def two_inputs():
    """Inputs of two types; one without a size but the batch."""
    return model([helper.make_node("Cast", ["ids"], ["f"], to=F32),
                  helper.make_node("Unsqueeze", ["scale", "axis"], ["s"]),
                  helper.make_node("Mul", ["f", "s"], ["y"]), helper.make_node("Greater", ["y", "zero"], ["is"])],
                 [("ids", I64, ["n", 5]), ("scale", F32, ["n"])], [("y", F32, ["n", 5]), ("is", BOOL, ["n", 5])],
                 [("axis", numpy.array([1], numpy.int64)), ("zero", numpy.zeros(1, numpy.float32))])


def plain_sum():
    """No batch: a matrix and a number to a number."""
    return model([helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0), helper.make_node("Mul", ["s", "k"], ["y"])],
                 [("x", F32, [2, 3]), ("k", F32, [])], [("y", F32, [])])
