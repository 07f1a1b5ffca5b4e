"""Models small enough to know what they compute."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def perceptron(batch="batch"):
    """relu(x · w + b) as an ONNX file, with its weights."""
    random = numpy.random.default_rng(3)
    w = random.standard_normal((4, 3), dtype=numpy.float32)
    b = random.standard_normal(3, dtype=numpy.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="dense"),
         helper.make_node("Relu", ["h"], ["y"], name="rectify")],
        "perceptron",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 3])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return model.SerializeToString(), lambda x: numpy.maximum(x @ w + b, 0)


def one_node(operator, inputs, output, **attributes):
    """A model of one node, from {name: (type, shape)} and the output's (type, shape)."""
    value = helper.make_tensor_value_info
    node = helper.make_node(operator, list(inputs), ["y"], **attributes)
    graph = helper.make_graph([node], operator,
                              [value(name, *of) for name, of in inputs.items()],
                              [value("y", *output)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model.SerializeToString()


def reshaper():
    """y = relu(x @ w) for any batch, and z, the same in the shape that the values of an input say."""
    weights = helper.make_tensor("w", TensorProto.FLOAT, [3, 2], [1, -1, 2, -2, 3, -3])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("Relu", ["xw"], ["y"]),
         helper.make_node("Reshape", ["y", "shape"], ["z"])],
        "reshaper",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3]),
         helper.make_tensor_value_info("shape", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 2]),
         helper.make_tensor_value_info("z", TensorProto.FLOAT, ["rows", "columns"])],
        [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return model.SerializeToString()
