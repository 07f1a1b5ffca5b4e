"""Sizes that only the data decides, against ONNX Runtime on random data and odd sizes."""

import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import camshaft as trt
from building import build

TYPES = {numpy.dtype("float32"): TensorProto.FLOAT, numpy.dtype("float16"): TensorProto.FLOAT16,
         numpy.dtype("int64"): TensorProto.INT64, numpy.dtype("int32"): TensorProto.INT32,
         numpy.dtype("bool"): TensorProto.BOOL, numpy.dtype("int8"): TensorProto.INT8,
         numpy.dtype("uint8"): TensorProto.UINT8, numpy.dtype("float64"): TensorProto.DOUBLE}


def model_of(nodes, inputs, outputs, opset=18):
    """A model of these nodes; every dimension of an input of rank > 0 is dynamic where it is -1."""
    def info(name, dtype, shape):
        sizes = [f"{name}{i}" if size == -1 else size for i, size in enumerate(shape)]
        return helper.make_tensor_value_info(name, TYPES[numpy.dtype(dtype)], sizes)
    graph = helper.make_graph(
        nodes, "g", [info(*one) for one in inputs],
        [helper.make_tensor_value_info(name, TYPES[numpy.dtype(dtype)], None)
         for name, dtype in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def compare(model, feeds, exact=True):
    """Every feed on one engine whose profile covers them all, with the same results as ONNX Runtime."""
    data = model.SerializeToString()
    shapes = [{name: array.shape for name, array in feed.items()} for feed in feeds]
    engine = build(data, shapes)
    context = engine.create_execution_context()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    for feed in feeds + feeds[::-1]:
        wanted = session.run(None, feed)
        got = trt.infer(context, feed)
        for output, want in zip(session.get_outputs(), wanted):
            have = got[output.name]
            assert have.shape == want.shape, output.name
            if exact:
                numpy.testing.assert_array_equal(have, want, err_msg=output.name)
            else:
                numpy.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5, err_msg=output.name)
    return engine


def random(seed=0):
    return numpy.random.default_rng(seed)


@pytest.mark.parametrize("dtype", ["bool", "float32", "int64", "int32", "uint8"])
def test_non_zero(dtype):
    node = helper.make_node("NonZero", ["x"], ["y"])
    model = model_of([node], [("x", dtype, [-1, -1])], [("y", "int64")])
    draw = random()
    feeds = [{"x": (draw.random(shape) < share).astype(dtype)}
             for shape, share in [((3, 5), 0.5), ((1, 1), 1), ((257, 33), 0.1), ((4, 9), 0)]]
    compare(model, feeds)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_compress(axis):
    attributes = {} if axis is None else {"axis": axis}
    node = helper.make_node("Compress", ["x", "c"], ["y"], **attributes)
    model = model_of([node], [("x", "float32", [-1, -1]), ("c", "bool", [-1])], [("y", "float32")])
    draw = random()
    feeds = []
    for shape in [(4, 6), (17, 3), (1, 1)]:
        length = shape[0] * shape[1] if axis is None else shape[axis]
        for given in {length, max(length - 2, 1)}:
            feeds.append({"x": draw.standard_normal(shape).astype("float32"),
                          "c": draw.random(given) < 0.5})
    compare(model, feeds)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("ordered", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "int64", "int8", "float64"])
def test_unique(axis, ordered, dtype):
    attributes = {"sorted": ordered} | ({} if axis is None else {"axis": axis})
    node = helper.make_node("Unique", ["x"], ["y", "i", "v", "n"], **attributes)
    model = model_of([node], [("x", dtype, [-1, -1])],
                     [("y", dtype), ("i", "int64"), ("v", "int64"), ("n", "int64")])
    draw = random()
    feeds = [{"x": draw.integers(-2, 3, shape).astype(dtype)} for shape in [(6, 2), (1, 1), (40, 3), (2, 31)]]
    compare(model, feeds)


@pytest.mark.parametrize("centred", [0, 1])
@pytest.mark.parametrize("limit", [3, 10**9])
def test_non_max_suppression(centred, limit):
    node = helper.make_node("NonMaxSuppression", ["b", "s", "m", "iou", "low"], ["y"],
                            center_point_box=centred)
    model = model_of([node], [("b", "float32", [-1, -1, 4]), ("s", "float32", [-1, -1, -1]),
                              ("m", "int64", [1]), ("iou", "float32", [1]), ("low", "float32", [1])],
                     [("y", "int64")], opset=11)
    draw = random()
    feeds = []
    for batches, classes, boxes in [(1, 1, 7), (2, 3, 64), (1, 5, 333), (1, 2, 1)]:
        corners = draw.random((batches, boxes, 4)).astype("float32") * 20
        scores = draw.integers(0, 40, (batches, classes, boxes)).astype("float32") / 40  # many equal
        feeds.append({"b": corners, "s": scores, "m": numpy.array([limit]),
                      "iou": numpy.array([draw.random()], "float32"),
                      "low": numpy.array([0.25], "float32")})
    compare(model, feeds)


def test_nothing_detected():
    """No box is left, and what follows runs on tensors without elements."""
    nodes = [
        helper.make_node("Greater", ["s", "low"], ["is_good"]),
        helper.make_node("NonZero", ["is_good"], ["p"]),
        helper.make_node("Transpose", ["p"], ["q"]),
        helper.make_node("GatherND", ["x", "q"], ["rows"]),
        helper.make_node("MatMul", ["rows", "w"], ["product"]),
        helper.make_node("Softmax", ["product"], ["soft"], axis=-1),
        helper.make_node("Transpose", ["soft"], ["t"]),
        helper.make_node("Concat", ["t", "t"], ["twice"], axis=0),
        helper.make_node("ReduceSum", ["soft"], ["sum"], keepdims=0),
        helper.make_node("Shape", ["soft"], ["shape"]),
        helper.make_node("TopK", ["soft", "one"], ["top", "which"], axis=1),
        helper.make_node("Conv", ["as_picture", "kernel"], ["conv"]),
        helper.make_node("Reshape", ["soft", "picture_shape"], ["as_picture"]),
        helper.make_node("LayerNormalization", ["soft", "scale"], ["norm"]),
        helper.make_node("CumSum", ["soft", "zero"], ["cumulated"]),
    ]
    draw = random()
    model = model_of(nodes, [("x", "float32", [-1, 4]), ("s", "float32", [-1]), ("low", "float32", [1])],
                     [(name, dtype) for name, dtype in
                      [("twice", "float32"), ("sum", "float32"), ("shape", "int64"), ("top", "float32"),
                       ("which", "int64"), ("conv", "float32"), ("norm", "float32"),
                       ("cumulated", "float32")]])
    for name, array in [("w", draw.standard_normal((4, 5)).astype("float32")),
                        ("one", numpy.array([1])), ("zero", numpy.array(0)),
                        ("picture_shape", numpy.array([-1, 5, 1, 1])),
                        ("kernel", draw.standard_normal((2, 5, 1, 1)).astype("float32")),
                        ("scale", numpy.ones(5, "float32"))]:
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    ordered = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11, 13, 14]
    nodes = [model.graph.node[i] for i in ordered]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    scores = draw.random(9).astype("float32")
    feeds = [{"x": draw.standard_normal((9, 4)).astype("float32"), "s": scores,
              "low": numpy.array([low], "float32")} for low in (0.5, 2, -1)]
    compare(model, feeds, exact=False)


RUN_TIME = {
    "top_k": ([helper.make_node("TopK", ["x", "k"], ["y", "i"], axis=1)],
              [("y", "float32"), ("i", "int64")], [{"k": [3]}, {"k": [0]}, {"k": [6]}]),
    "slice": ([helper.make_node("Slice", ["x", "starts", "ends", "axes", "steps"], ["y"])],
              [("y", "float32")],
              [{"starts": [1, -1], "ends": [4, -100], "axes": [0, 1], "steps": [2, -1]},
               {"starts": [0, 5], "ends": [-1, 0], "axes": [-1, 0], "steps": [3, -2]},
               {"starts": [3, 0], "ends": [3, 2**62], "axes": [1, 0], "steps": [1, 1]}]),
    "expand": ([helper.make_node("Expand", ["x", "shape"], ["y"])], [("y", "float32")],
               [{"shape": [1, 1, 1]}, {"shape": [3, 5, 1]}, {"shape": [2, 1, 6]}]),
    "tile": ([helper.make_node("Tile", ["x", "n"], ["y"])], [("y", "float32")],
             [{"n": [1, 2]}, {"n": [3, 1]}, {"n": [0, 1]}]),
    "pad": ([helper.make_node("Pad", ["x", "pads", "", "axes"], ["y"])], [("y", "float32")],
            [{"pads": [1, 2], "axes": [0]}, {"pads": [-2, 1], "axes": [-1]}]),
    "split": ([helper.make_node("Split", ["x", "parts"], ["y", "z"], axis=1)],
              [("y", "float32"), ("z", "float32")], [{"parts": [2, 4]}, {"parts": [0, 6]}]),
    "reduce": ([helper.make_node("ReduceMean", ["x", "axes"], ["y"], keepdims=1)], [("y", "float32")],
               [{"axes": [0]}, {"axes": [-1]}]),
    "reduce_dropping": ([helper.make_node("ReduceL2", ["x", "axes"], ["y"], keepdims=0)],
                        [("y", "float32")], [{"axes": [0]}, {"axes": [-1]}]),
    "unsqueeze": ([helper.make_node("Unsqueeze", ["x", "axes"], ["y"])], [("y", "float32")],
                  [{"axes": [0, 2]}, {"axes": [-1, 1]}]),
    "cum_sum": ([helper.make_node("CumSum", ["x", "axes"], ["y"], reverse=1)], [("y", "float32")],
                [{"axes": [0]}, {"axes": [-1]}]),
    "trilu": ([helper.make_node("Trilu", ["x", "k"], ["y"])], [("y", "float32")],
              [{"k": [0]}, {"k": [-3]}, {"k": [9]}, {"k": [-90]}]),
    "resize": ([helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear")],
               [("y", "float32")], [{"scales": [1.0, 2.5]}, {"scales": [0.6, 1.0]}]),
    "resize_nearest": ([helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="nearest",
                                         coordinate_transformation_mode="asymmetric", nearest_mode="floor")],
                       [("y", "float32")], [{"scales": [3.0, 1.5]}, {"scales": [0.7, 2.0]}]),
    "resize_cubic": ([helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="cubic",
                                       exclude_outside=1)],
                     [("y", "float32")], [{"scales": [1.0, 2.5]}, {"scales": [0.6, 1.7]}]),
    "one_hot": ([helper.make_node("Cast", ["x"], ["indices"], to=TensorProto.INT64),
                 helper.make_node("OneHot", ["indices", "depth", "values"], ["y"])],
                [("y", "float32")], [{"depth": [4], "values": [0.0, 1.0]}, {"depth": [1], "values": [2.0, 3.0]}]),
    "range": ([helper.make_node("Squeeze", ["start"], ["a"]), helper.make_node("Squeeze", ["limit"], ["b"]),
               helper.make_node("Squeeze", ["delta"], ["c"]), helper.make_node("Range", ["a", "b", "c"], ["r"]),
               helper.make_node("Identity", ["x"], ["y"])],
              [("r", "float32"), ("y", "float32")],
              [{"start": [0.0], "limit": [1.0], "delta": [0.3]}, {"start": [5.0], "limit": [-2.0], "delta": [-2.0]},
               {"start": [5.0], "limit": [6.0], "delta": [-1.0]}]),
}


@pytest.mark.parametrize("name", RUN_TIME)
def test_values_known_at_run_time(name):
    nodes, outputs, values = RUN_TIME[name]
    def array(numbers):
        return numpy.array(numbers, "float32" if isinstance(numbers[0], float) else "int64")
    extra = [(key, array(numbers).dtype, [len(numbers)]) for key, numbers in values[0].items()]
    model = model_of(nodes, [("x", "float32", [-1, 6])] + extra, outputs)
    draw = random()
    feeds = [{"x": draw.standard_normal((5, 6)).astype("float32")} |
             {key: array(numbers) for key, numbers in given.items()} for given in values]
    compare(model, feeds, exact=False)


def test_sizes_are_known_after_the_run():
    node = helper.make_node("NonZero", ["x"], ["y"])
    data = model_of([node], [("x", "bool", [-1, 3])], [("y", "int64")]).SerializeToString()
    engine = build(data, [{"x": (1, 3)}, {"x": (10, 3)}])
    context = engine.create_execution_context()
    assert tuple(engine.get_tensor_shape("y")) == (2, -1)
    context.set_input_shape("x", (4, 3))
    assert tuple(context.get_tensor_shape("y")) == (2, -1)
    assert context.get_max_output_size("y") == 2 * 30 * 8  # at the profile's largest
    x = numpy.eye(4, 3, dtype=bool)
    assert trt.infer(context, {"x": x})["y"].shape == (2, 3)  # through an output allocator
    assert tuple(context.get_tensor_shape("y")) == (2, -1)  # the next run may find another one


def test_values_beyond_what_was_planned_are_refused():
    node = helper.make_node("TopK", ["x", "k"], ["y", "i"])
    data = model_of([node], [("x", "float32", [4]), ("k", "int64", [1])],
                    [("y", "float32"), ("i", "int64")]).SerializeToString()
    logger = trt.Logger(trt.Logger.INTERNAL_ERROR)
    context = build(data, logger=logger).create_execution_context()
    x = numpy.arange(4, dtype="float32")
    assert trt.infer(context, {"x": x, "k": numpy.array([2])})["y"].tolist() == [3, 2]
    for k in (5, -1, 2**62):
        with pytest.raises(Exception, match="k.*element 0 is"):
            trt.infer(context, {"x": x, "k": numpy.array([k])})
