"""Tensors without elements at run time: engines whose profile allows 0, beside ONNX Runtime."""

import numpy
import onnxruntime
import pytest
from building import build
from onnx import TensorProto, helper, numpy_helper

import camshaft as trt

random = numpy.random.default_rng(3)


def floats(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


def integers(*values):
    return numpy.array(values, numpy.int64)


def model_of(nodes, sizes, constants, types, opset=17):
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), shape)
         for name, shape in sizes.items()],
        [helper.make_empty_tensor_value_info(nodes[-1].output[0])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def node(operator, *inputs, output="y", **attributes):
    return helper.make_node(operator, inputs, [output], **attributes)


def feeds_of(sizes, n, types):
    shapes = {name: [n if size == "n" else size for size in shape] for name, shape in sizes.items()}
    return {name: (random.integers(0, 2, shape) if types.get(name) else floats(*shape))
            for name, shape in shapes.items()}


def check(nodes, sizes, counts=(3, 0, 1, 0), empty=None, types={}, **constants):
    """One engine for all counts of 'n' in the sizes of the inputs. Where ONNX Runtime takes no 0, `empty` is the
    shape of the result."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    model = model_of(nodes, sizes, constants, types)
    feeds = [feeds_of(sizes, n, types) for n in counts]
    engine = build(model, [{name: value.shape for name, value in feed.items()} for feed in feeds])
    context = engine.create_execution_context()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    for n, feed in zip(counts, feeds):
        result = next(iter(trt.infer(context, feed).values()))
        expected = numpy.empty(empty, numpy.float32) if n == 0 and empty else session.run(None, feed)[0]
        assert result.shape == expected.shape and result.dtype == expected.dtype
        numpy.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


# Each with a batch, rows or columns of which there are none.
CASES = {
    "relu": (node("Relu", "x"), {"x": ["n", 5]}, {}),
    "add": (node("Add", "x", "z"), {"x": ["n", 5], "z": ["n", 1]}, {}),
    "cast": (node("Cast", "x", to=TensorProto.INT32), {"x": [2, "n"]}, {}),
    "matmul": (node("MatMul", "x", "w"), {"x": ["n", 5]}, {"w": floats(5, 7)}),
    "matmul of no terms": (node("MatMul", "x", "z"), {"x": [4, "n"], "z": ["n", 6]}, {}),
    "matmul of no columns": (node("MatMul", "x", "z"), {"x": [2, 4, 3], "z": [2, 3, "n"]}, {}),
    "gemm": (node("Gemm", "x", "w", "b"), {"x": ["n", 5]}, {"w": floats(5, 7), "b": floats(7)}),
    "conv": (node("Conv", "x", "w"), {"x": ["n", 3, 8, 8]}, {"w": floats(4, 3, 3, 3)}),
    "depthwise": (node("Conv", "x", "w", group=4), {"x": ["n", 4, 8, 8]}, {"w": floats(4, 1, 3, 3)}),
    "conv transposed": (node("ConvTranspose", "x", "w"), {"x": ["n", 3, 4, 4]}, {"w": floats(3, 2, 3, 3)}),
    "max pool": (node("MaxPool", "x", kernel_shape=[2, 2]), {"x": ["n", 3, 8, 8]}, {}),
    "average pool": (node("AveragePool", "x", kernel_shape=[2, 2]), {"x": ["n", 3, 8, 8]}, {}),
    "global pool": (node("GlobalAveragePool", "x"), {"x": ["n", 3, 8, 8]}, {}),
    "softmax": (node("Softmax", "x"), {"x": ["n", 5]}, {}),
    "softmax over nothing": (node("Softmax", "x"), {"x": [4, "n"]}, {}),
    "layer norm": (node("LayerNormalization", "x", "s"), {"x": ["n", 5]}, {"s": floats(5)}),
    "instance norm": (node("InstanceNormalization", "x", "s", "b"), {"x": ["n", 2, 5]},
                      {"s": floats(2), "b": floats(2)}),
    "sum": (node("ReduceSum", "x", "axes"), {"x": ["n", 5]}, {"axes": integers(0)}),
    "sum of rows": (node("ReduceSum", "x", "axes"), {"x": ["n", 5]}, {"axes": integers(1)}),
    "product": (node("ReduceProd", "x", axes=[1]), {"x": [2, "n", 5]}, {}),
    "largest of rows": (node("ReduceMax", "x", axes=[1]), {"x": ["n", 5]}, {}),
    "arg max of rows": (node("ArgMax", "x", axis=1), {"x": ["n", 5]}, {}),
    "running sum": (node("CumSum", "x", "axis"), {"x": ["n", 5]}, {"axis": integers(1)}),
    "concat": (node("Concat", "x", "z", axis=0), {"x": ["n", 5], "z": [2, 5]}, {}),
    "transpose": (node("Transpose", "x", perm=[2, 0, 1]), {"x": ["n", 4, 5]}, {}),
    "reshape": (node("Reshape", "x", "shape"), {"x": ["n", 4, 5]}, {"shape": integers(-1, 10)}),
    "flatten": (node("Flatten", "x"), {"x": ["n", 4, 5]}, {}),
    "slice": (node("Slice", "x", "from", "to"), {"x": ["n", 5]}, {"from": integers(0), "to": integers(2)}),
    "slice backwards": (node("Slice", "x", "from", "to", "axes", "steps"), {"x": ["n", 5]},
                        {"from": integers(-1), "to": integers(-2**62), "axes": integers(0), "steps": integers(-1)}),
    "split": (helper.make_node("Split", ["x"], ["y", "z"], axis=1), {"x": ["n", 4]}, {}),
    "pad": (node("Pad", "x", "pads"), {"x": ["n", 5]}, {"pads": integers(1, 0, 1, 0)}),
    "tile": (node("Tile", "x", "times"), {"x": ["n", 5]}, {"times": integers(2, 1)}),
    "expand": (node("Expand", "x", "shape"), {"x": ["n", 1]}, {"shape": integers(1, 4)}),
    "resize": (node("Resize", "x", "", "scales", mode="linear"), {"x": ["n", 2, 4, 4]},
               {"scales": numpy.array([1, 1, 2, 2], numpy.float32)}),
    "grid sample": (helper.make_node("GridSample", ["x", "z"], ["y"]),
                    {"x": ["n", 2, 4, 4], "z": ["n", 3, 3, 2]}, {}),
    "gather": (node("Gather", "w", "i"), {"i": ["n"]}, {"w": floats(3, 5)}),
    "gather elements": (node("GatherElements", "x", "i", axis=1), {"x": ["n", 3], "i": ["n", 2]}, {}),
    "gather nd": (node("GatherND", "w", "i"), {"i": ["n", 1]}, {"w": floats(3, 5)}),
    "scatter nd": (node("ScatterND", "w", "i", "x"), {"i": ["n", 1], "x": ["n", 5]}, {"w": floats(3, 5)}),
    "one hot": (node("OneHot", "i", "depth", "values"), {"i": ["n"]},
                {"depth": integers(3), "values": numpy.array([0, 1], numpy.float32)}),
    "top k": (helper.make_node("TopK", ["x", "k"], ["y", "at"]), {"x": ["n", 5]}, {"k": integers(2)}),
    "non zero": (node("NonZero", "x"), {"x": ["n", 5]}, {}),
    "where": (node("Where", "c", "x", "z"), {"c": ["n", 1], "x": ["n", 5], "z": [1, 5]}, {}),
    "einsum": (node("Einsum", "x", "z", equation="nij,njk->nik"), {"x": ["n", 2, 3], "z": ["n", 3, 4]}, {}),
    "trilu": (node("Trilu", "x"), {"x": ["n", 4, 4]}, {}),
    "depth to space": (node("DepthToSpace", "x", blocksize=2), {"x": ["n", 8, 2, 2]}, {}),
    "quantise": (node("QuantizeLinear", "x", "s"), {"x": ["n", 5]}, {"s": numpy.float32(0.1)}),
    "shape": (node("Shape", "x"), {"x": ["n", 5]}, {}),
}
TYPES = {"i": TensorProto.INT64}


@pytest.mark.parametrize("name", CASES)
def test_one_operator(name):
    nodes, sizes, constants = CASES[name]
    if name == "where":
        nodes = [node("Cast", "c", to=TensorProto.BOOL, output="flags"), node("Where", "flags", "x", "z")]
    check(nodes, sizes, types=TYPES, **{name: numpy.asarray(value) for name, value in constants.items()})


# Of shapes that the model knows: x and the other inputs, and constants.
BACKWARDS = [dict(starts=integers(start), ends=integers(end), axes=integers(0), steps=integers(step))
             for start, end, step in ((-1, -2**62, -1), (2**62, -2**62, -2), (5, 0, -1), (0, -9, -1))]
STATIC = {
    **{f"slice backwards, {i}": (node("Slice", "x", "starts", "ends", "axes", "steps"), {"x": (0, 3)}, bounds)
       for i, bounds in enumerate(BACKWARDS)},
    "product of nothing": (node("MatMul", "x", "z"), {"x": (3, 0), "z": (0, 4)}, {}),
    "product without columns": (node("MatMul", "x", "z"), {"x": (2, 3), "z": (3, 0)}, {}),
    "convolution of no channels": (node("Conv", "x", "w"), {"x": (1, 0, 5, 5)}, {"w": floats(3, 0, 3, 3)}),
    "convolution without filters": (node("Conv", "x", "w"), {"x": (1, 2, 5, 5)}, {"w": floats(0, 2, 3, 3)}),
    "gather": (node("Gather", "x", "i"), {"x": (3, 0)}, {"i": numpy.zeros((2, 0), numpy.int64)}),
    "expand": (node("Expand", "x", "shape"), {"x": (3, 0)}, {"shape": integers(2, 3, 0)}),
    "best of none of none": (node("ArgMax", "x", axis=1), {"x": (2, 0, 0)}, {}),
}


@pytest.mark.parametrize("level", (0, 3))
@pytest.mark.parametrize("name", STATIC)
def test_known_shapes(name, level):
    """Alone, and between others that could be merged with it: twice the same beside itself, for one."""
    operator, shapes, constants = STATIC[name]
    inside = helper.make_node(operator.op_type, ["a", *operator.input[1:]], ["b"])
    inside.attribute.extend(operator.attribute)
    around = [node("Exp", "x", output="a"), inside, node("Relu", "b", output="c"), node("Concat", "c", "c", axis=0)]
    feed = {name: floats(*shape) for name, shape in shapes.items()}
    for nodes in ([operator], around):
        if operator.op_type == "ArgMax" and len(nodes) > 1:
            continue
        model = model_of(nodes, shapes, constants, {})
        result = trt.infer(build(model, [{name: value.shape for name, value in feed.items()}], level=level), feed)["y"]
        options = onnxruntime.SessionOptions()  # the layouts it gives convolutions on x86 are not for empty ones
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        expected = session.run(None, feed)[0]
        if name == "convolution of no channels":
            expected = numpy.zeros_like(expected)  # ONNX Runtime leaves its memory as it was
        assert result.shape == expected.shape and result.dtype == expected.dtype
        numpy.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_lstm():
    check(node("LSTM", "x", "w", "r", hidden_size=3), {"x": [4, "n", 5]}, empty=(4, 1, 0, 3),
          w=floats(1, 12, 5), r=floats(1, 12, 3))


def test_a_network():
    nodes = [node("Conv", "x", "w", pads=[1, 1, 1, 1], output="a"), node("Relu", "a", output="b"),
             node("MaxPool", "b", kernel_shape=[2, 2], strides=[2, 2], output="c"),
             node("GlobalAveragePool", "c", output="d"), node("Flatten", "d", output="e"),
             node("Gemm", "e", "f", output="logits"), node("Softmax", "logits")]
    check(nodes, {"x": ["n", 3, 16, 16]}, w=floats(8, 3, 3, 3), f=floats(8, 4))


def test_no_detections():
    """Boxes, none of which score enough, cut out of a picture."""
    nodes = [helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["picked"]),
             node("Gather", "picked", "column", axis=1, output="indices"),
             node("Squeeze", "boxes", "first", output="flat"),
             node("Gather", "flat", "indices", axis=0, output="chosen"),
             node("MatMul", "chosen", "w")]
    check(nodes, {"boxes": [1, "n", 4], "scores": [1, 1, "n"]}, most=integers(5),
          overlap=numpy.array([0.5], numpy.float32), least=numpy.array([0.5], numpy.float32),
          column=numpy.array(2, numpy.int64), first=integers(0), w=floats(4, 3))


def test_a_size_that_something_needs_must_be_there():
    """The last row of x: a profile that allows none is refused, by name."""
    model = model_of([node("Slice", "x", "from", "to")], {"x": ["n", 5]},
                     {"from": integers(-1), "to": integers(2**62)}, {})
    build(model, [{"x": (1, 5)}, {"x": (3, 5)}])
    with pytest.raises(trt.Error, match="dimension 0 of input 'x' must be at least 1"):
        build(model, [{"x": (0, 5)}, {"x": (3, 5)}])
