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


def bright_squares(cell=16, most=5):
    """A detector with Faster R-CNN's inputs and outputs: squares of a grid that are bright, at most a few."""
    value, node = helper.make_tensor_value_info, helper.make_node
    one = helper.make_tensor("value", TensorProto.FLOAT, [1], [1])
    integers = {"channel": [0], "batch": [0], "row": [1, 1, -1], "two": [2], "four": [4], "swap": [1, 0],
                "most": [most], "last": 2, "flat": [-1], "zero": 0, "class": 7}
    floats = {"one": 1, "cell": cell, "overlap": [0.5], "least": [0.5]}
    graph = helper.make_graph(
        [node("ReduceMean", ["image", "channel"], ["grey"], keepdims=1),
         node("Unsqueeze", ["grey", "batch"], ["grey4"]),
         node("AveragePool", ["grey4"], ["grid"], kernel_shape=[cell, cell], strides=[cell, cell]),
         node("Reshape", ["grid", "row"], ["all_scores"]),
         # The corners of every square, [squares, 4].
         node("Shape", ["grid"], ["sizes"]),
         node("Slice", ["sizes", "two", "four"], ["grid_sizes"]),
         node("ConstantOfShape", ["grid_sizes"], ["ones"], value=one),
         node("NonZero", ["ones"], ["places"]),
         node("Cast", ["places"], ["corners"], to=TensorProto.FLOAT),
         node("Gather", ["corners", "swap"], ["xy"], axis=0),
         node("Transpose", ["xy"], ["x1y1"], perm=[1, 0]),
         node("Add", ["x1y1", "one"], ["x2y2"]),
         node("Concat", ["x1y1", "x2y2"], ["squares"], axis=1),
         node("Mul", ["squares", "cell"], ["all_boxes"]),
         # Those that are bright.
         node("Unsqueeze", ["all_boxes", "batch"], ["boxes3"]),
         node("NonMaxSuppression", ["boxes3", "all_scores", "most", "overlap", "least"], ["chosen"]),
         node("Gather", ["chosen", "last"], ["index"], axis=1),
         node("Gather", ["all_boxes", "index"], ["boxes"], axis=0),
         node("Reshape", ["all_scores", "flat"], ["flat_scores"]),
         node("Gather", ["flat_scores", "index"], ["scores"], axis=0),
         node("Mul", ["index", "zero"], ["zeros"]),
         node("Add", ["zeros", "class"], ["labels"])],
        "bright_squares", [value("image", TensorProto.FLOAT, [3, "height", "width"])],
        [value("boxes", TensorProto.FLOAT, ["n", 4]), value("labels", TensorProto.INT64, ["n"]),
         value("scores", TensorProto.FLOAT, ["n"])],
        [numpy_helper.from_array(numpy.array(number, numpy.int64), name) for name, number in integers.items()]
        + [numpy_helper.from_array(numpy.array(number, numpy.float32), name) for name, number in floats.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.checker.check_model(model)
    return model.SerializeToString()
