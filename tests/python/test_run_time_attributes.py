"""What most models give as constants and some only know at run time: pads, axes, blocks, scales, parts, positions,
sequences as inputs. One engine for several sizes, beside ONNX Runtime."""

import numpy
import onnxruntime
import pytest
from building import build
from onnx import TensorProto, helper, numpy_helper

import camshaft as trt

TYPES = {numpy.dtype("float32"): TensorProto.FLOAT, numpy.dtype("int64"): TensorProto.INT64,
         numpy.dtype("uint8"): TensorProto.UINT8, numpy.dtype("int8"): TensorProto.INT8,
         numpy.dtype("bool"): TensorProto.BOOL}
draw = numpy.random.default_rng(11)


def floats(*shape):
    return draw.standard_normal(shape).astype(numpy.float32)


def integers(*values):
    return numpy.array(values, numpy.int64)


def scalar(value):
    return numpy.array(value, numpy.int64)


def node(operator, inputs, outputs="y", **attributes):
    """Names of inputs apart by spaces; - is one that is left out."""
    names = [name if name != "-" else "" for name in inputs.split()]
    return helper.make_node(operator, names, outputs.split(), **attributes)


def model_of(nodes, feed, shapes, outputs, constants, opset):
    """Every size of an input is open, unless `shapes` declares it otherwise."""
    inputs = [helper.make_tensor_value_info(name, TYPES[value.dtype],
                                            shapes.get(name, [f"{name}{i}" for i in range(value.ndim)]))
              for name, value in feed.items()]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs],
                              [numpy_helper.from_array(numpy.asarray(value), name)
                               for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model.SerializeToString()


def engine_of(model, feeds):
    return build(model, [{name: value.shape for name, value in feed.items()} for feed in feeds])


def compare(nodes, feeds, shapes={}, outputs=("y",), opset=17, rtol=1e-4, atol=1e-4, expected=None, **constants):
    """Every feed on one engine, there and back, with the results of ONNX Runtime or of `expected`."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    model = model_of(nodes, feeds[0], shapes, outputs, constants, opset)
    context = engine_of(model, feeds).create_execution_context()
    if expected is None:
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        expected = lambda feed: session.run(list(outputs), feed)  # noqa: E731
    for feed in feeds + feeds[::-1]:
        results = trt.infer(context, feed)
        for name, wanted in zip(outputs, expected(feed)):
            assert results[name].shape == wanted.shape and results[name].dtype == wanted.dtype, name
            numpy.testing.assert_allclose(results[name], wanted, rtol=rtol, atol=atol, err_msg=name)


SIZES = ((8, 8), (7, 9), (1, 5), (12, 1), (10, 11))


def pictures(channels=2, dtype=numpy.float32):
    return [{"x": (floats(1, channels, *size) * 40).astype(dtype)} for size in SIZES]


WINDOWS = [(3, 2), (2, 2), (1, 2), (2, 3), (5, 3), (3, 1)]


@pytest.mark.parametrize("kernel, stride", WINDOWS)
@pytest.mark.parametrize("same", ("SAME_UPPER", "SAME_LOWER"))
def test_same_convolution(same, kernel, stride):
    compare(node("Conv", "x w b", auto_pad=same, strides=[stride] * 2), pictures(), {"x": ["n", 2, "h", "w_"]},
            w=floats(3, 2, kernel, kernel), b=floats(3), rtol=1e-3, atol=1e-3)


def test_same_convolution_of_bytes():
    compare(node("ConvInteger", "x w z", auto_pad="SAME_UPPER", strides=[2, 2]),
            [{"x": draw.integers(0, 255, (1, 2, *size)).astype(numpy.uint8)} for size in SIZES],
            {"x": ["n", 2, "h", "w_"]}, w=draw.integers(0, 255, (3, 2, 3, 3)).astype(numpy.uint8), z=numpy.uint8(7))


REDUCTIONS = {"MaxPool": lambda inside, _: inside.max((2, 3)), "AveragePool": lambda inside, _: inside.mean((2, 3)),
              "LpPool": lambda inside, _: numpy.sqrt((inside ** 2).sum((2, 3))),
              "whole": lambda inside, taps: inside.sum((2, 3)) / taps}


def pooled(x, kernel, stride, same, reduction):
    """Pooling as the standard describes it, also of windows with gaps between them, which ONNX Runtime refuses."""
    counts = [-(-size // stride) for size in x.shape[2:]]
    pads = [max((count - 1) * stride + kernel - size, 0) for count, size in zip(counts, x.shape[2:])]
    begins = [pad // 2 if same == "SAME_UPPER" else pad - pad // 2 for pad in pads]
    y = numpy.empty((*x.shape[:2], *counts), x.dtype)
    for at in numpy.ndindex(*counts):
        row, column = (slice(max(i * stride - begin, 0), i * stride - begin + kernel) for i, begin in zip(at, begins))
        y[:, :, *at] = REDUCTIONS[reduction](x[:, :, row, column], kernel ** 2)
    return y


@pytest.mark.parametrize("kernel, stride", WINDOWS)
@pytest.mark.parametrize("same", ("SAME_UPPER", "SAME_LOWER"))
@pytest.mark.parametrize("operator, whole", [("MaxPool", 0), ("LpPool", 0), ("AveragePool", 0), ("AveragePool", 1)])
def test_same_pooling(operator, whole, same, kernel, stride):
    attributes = {"count_include_pad": 1} if whole else {}
    def expected(feed):
        return [pooled(feed["x"], kernel, stride, same, "whole" if whole else operator)]
    compare(node(operator, "x", auto_pad=same, kernel_shape=[kernel] * 2, strides=[stride] * 2, **attributes),
            pictures(), {"x": ["n", 2, "h", "w"]}, expected=expected if kernel < stride else None)


@pytest.mark.parametrize("order", (0, 1))
@pytest.mark.parametrize("dtype", ("float32", "int8"))
def test_places_of_maxima_under_same_padding(order, dtype):
    feeds = pictures(dtype=dtype)
    compare(node("MaxPool", "x", "y places", auto_pad="SAME_LOWER", kernel_shape=[3, 3], strides=[2, 2],
                 storage_order=order), feeds, {"x": ["n", 2, "h", "w"]}, ("y", "places"))


@pytest.mark.parametrize("same", ("NOTSET", "SAME_UPPER", "SAME_LOWER"))
def test_a_convolution_transposed_to_a_size(same):
    """Sizes that are cut, and sizes that something is added to."""
    feeds = [{"x": floats(1, 2, *size)} for size in ((4, 4), (5, 4), (6, 5), (5, 6))]
    for some, shape in [(feeds, ["n", 2, "h", "w_"]), *(([feed], feed["x"].shape) for feed in feeds)]:
        compare(node("ConvTranspose", "x w b", output_shape=[10, 9], strides=[2, 2], auto_pad=same), some,
                {"x": shape}, w=floats(2, 3, 3, 3), b=floats(3), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("onesided", (0, 1))
def test_spectra_of_frames_of_plain_signals(onesided):
    compare(node("STFT", "x step window", onesided=onesided), [{"x": floats(2, n)} for n in (64, 33, 16)],
            step=scalar(8), window=numpy.hanning(16).astype(numpy.float32), atol=1e-3)


@pytest.mark.parametrize("inverse, onesided, parts", [(0, 0, 1), (0, 1, 1), (0, 0, 2), (1, 0, 2)])
@pytest.mark.parametrize("given", (True, False))
def test_spectra_along_an_axis_of_run_time(inverse, onesided, parts, given):
    feeds = [{"x": floats(4, 6, 5, parts), "axis": scalar(axis)} for axis in (0, 1, 2, -2, -3)]
    def expected(feed):
        x = feed["x"][..., 0] + (1j * feed["x"][..., 1] if parts == 2 else 0)
        axis, n = int(feed["axis"]), 8 if given else None
        axis = axis + 1 if axis < 0 else axis
        y = (numpy.fft.ifft if inverse else numpy.fft.rfft if onesided else numpy.fft.fft)(
            x.real if onesided else x, n, axis)
        return [numpy.stack([y.real, y.imag], -1).astype(numpy.float32)]
    constants = {"length": scalar(8)} if given else {}
    compare(node("DFT", "x length axis" if given else "x - axis", inverse=inverse, onesided=onesided), feeds,
            {"x": ["a", "b", "c", parts]}, opset=20, expected=expected, atol=1e-3, **constants)


@pytest.mark.parametrize("onesided", (0, 1))
def test_spectra_of_signals_that_are_real_or_not(onesided):
    feeds = [{"x": floats(2, 8, parts)} for parts in ((1,) if onesided else (1, 2))]
    def expected(feed):
        x = feed["x"][..., 0] + (1j * feed["x"][..., 1] if feed["x"].shape[2] == 2 else 0)
        y = numpy.fft.rfft(x.real, axis=1) if onesided else numpy.fft.fft(x, axis=1)
        return [numpy.stack([y.real, y.imag], -1).astype(numpy.float32)]
    compare(node("DFT", "x", onesided=onesided, axis=1), feeds, expected=expected)
    compare(node("STFT", "x step window", onesided=onesided), feeds[:1], step=scalar(2), window=floats(4), atol=1e-3)


def test_windows_that_an_attribute_tells():
    """Weights are an input, whose shape says nothing."""
    compare(node("Conv", "x w", kernel_shape=[3, 2]), [{"x": floats(1, 2, 5, 6), "w": floats(3, 2, 3, 2)}], atol=1e-3)


def test_columns_of_blocks_of_run_time():
    """As torch's fold, from the columns that an image of known content gives."""
    image, pads, strides, dilations = (9, 8), [1, 0, 1, 2], [2, 1], [1, 2]
    feeds = []
    for block in ((2, 3), (3, 2), (1, 1), (4, 2)):
        windows = [(image[i] + pads[i] + pads[2 + i] - (block[i] - 1) * dilations[i] - 1) // strides[i] + 1
                   for i in range(2)]
        feeds.append({"x": floats(2, 3 * block[0] * block[1], windows[0] * windows[1]), "block": integers(*block)})
    compare(node("Col2Im", "x size block", pads=pads, strides=strides, dilations=dilations), feeds,
            {"block": [2]}, opset=18, size=integers(*image))


@pytest.mark.parametrize("mode", ("linear", "cubic"))
@pytest.mark.parametrize("outside", (0, 1))
def test_antialiased_scales_of_run_time(mode, outside):
    feeds = [{"x": floats(1, 2, *size), "scales": numpy.array([1, 1, *scales], numpy.float32)}
             for size, scales in (((9, 12), (0.5, 0.25)), ((9, 12), (0.4, 1.5)), ((8, 7), (1, 1)),
                                  ((16, 5), (0.3, 2)))]
    compare(node("Resize", "x - scales", antialias=1, mode=mode, exclude_outside=outside), feeds,
            {"scales": [4], "x": [1, 2, "h", "w"]}, opset=18, rtol=1e-3, atol=1e-3)


def test_scaled_bytes_are_rounded():
    """As the operator with known scales does."""
    x = draw.integers(0, 255, (1, 1, 6, 8)).astype(numpy.uint8)
    scales = numpy.array([1, 1, 0.5, 0.4], numpy.float32)
    def run(feeds, **constants):
        nodes = [node("Resize", "x - scales", mode="linear", antialias=1)]
        model = model_of(nodes, feeds, {"scales": [4], "x": [1, 1, 6, 8]}, ["y"], constants, 18)
        return trt.infer(engine_of(model, [feeds]).create_execution_context(), feeds)["y"]
    known = run({"x": x}, scales=scales)
    # Halves between two numbers may go either way: sums are rounded in another order.
    difference = run({"x": x, "scales": scales}).astype(int) - known.astype(int)
    assert numpy.abs(difference).max() <= 1


def joined(sequence):
    return node("ConcatFromSequence", sequence, axis=0, new_axis=1)


@pytest.mark.parametrize("axis", (0, 1))
def test_parts_of_a_size_of_run_time(axis):
    compare([node("SplitToSequence", "x size", "parts", axis=axis), joined("parts")],
            [{"x": floats(*shape), "size": scalar(size)} for shape, size in (((6, 4), 2), ((12, 8), 4), ((3, 3), 3))])
    compare([node("SplitToSequence", "x size", "parts", axis=axis), joined("parts")],
            [{"x": floats(*shape)} for shape in ((6, 4), (12, 8), (2, 2))], size=scalar(2))


def test_as_many_parts_as_the_run_says():
    compare([node("SplitToSequence", "x sizes", "parts"), joined("parts"), node("SequenceLength", "parts", "count")],
            [{"x": floats(6, 4), "sizes": integers(2, 2, 2)}, {"x": floats(8, 3), "sizes": integers(4, 4)}],
            outputs=("y", "count"))


def test_parts_that_are_not_alike_are_refused():
    nodes = [node("SplitToSequence", "x size", "parts"), joined("parts")]
    feeds = [{"x": floats(6, 4), "size": scalar(2)}, {"x": floats(7, 4), "size": scalar(2)}]
    context = engine_of(model_of(nodes, feeds[0], {}, ["y"], {}, 17), feeds).create_execution_context()
    with pytest.raises(trt.Error, match="parts that must be alike|SplitToSequence.*where its new shape has"):
        trt.infer(context, feeds[1])
    numpy.testing.assert_array_equal(trt.infer(context, feeds[0])["y"], feeds[0]["x"].reshape(3, 2, 4))


@pytest.mark.parametrize("operator", ("SequenceInsert", "SequenceErase"))
def test_positions_of_run_time(operator):
    others = "row " if operator == "SequenceInsert" else ""
    feeds = [{"x": floats(3, n), "row": floats(1, n), "at": scalar(at)}
             for n, at in ((4, 0), (4, 1), (2, 2), (5, -1), (5, -3))]
    known = [node("SplitToSequence", "x ones", "rows"), node(operator, f"rows {others}at", "changed"),
             joined("changed")]
    compare(known, feeds, {"x": [3, "n"], "row": [1, "n"]}, ones=integers(1, 1, 1))
    compare([node("SplitToSequence", "x", "rows"), *known[1:]], feeds, {"row": [1, "n"]})


def sequence_model(nodes, outputs):
    inputs = [helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, ["n", 3])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(scalar(-1), "last")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def test_sequences_as_inputs_and_outputs():
    """A list of arrays that are alike is one tensor, and so is what comes back."""
    body = helper.make_graph([node("Exp", "e", "f")], "body",
                             [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)],
                             [helper.make_tensor_value_info("f", TensorProto.FLOAT, None)])
    nodes = [node("SequenceMap", "s", "mapped", body=body), node("SequenceAt", "s last", "end"),
             node("SequenceInsert", "mapped end", "longer"), node("SequenceLength", "longer", "count")]
    outputs = [helper.make_tensor_sequence_value_info("longer", TensorProto.FLOAT, None),
               helper.make_tensor_value_info("count", TensorProto.INT64, [])]
    model = sequence_model(nodes, outputs)
    feeds = [[floats(n, 3) for _ in range(count)] for n, count in ((2, 3), (4, 1), (1, 5))]
    context = build(model, [{"s": (len(s), *s[0].shape)} for s in feeds]).create_execution_context()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    for elements in feeds:
        results = trt.infer(context, {"s": numpy.stack(elements)})
        longer, count = session.run(None, {"s": elements})
        numpy.testing.assert_allclose(results["longer"], numpy.stack(longer), rtol=1e-5)
        assert results["count"] == count


def test_a_squeeze_without_axes():
    """Sizes of 1 go, and a run that would find another one fails, by name."""
    nodes = [helper.make_node("Squeeze", ["x"], ["y"], name="drop")]
    feeds = [{"x": floats(2, 1, 3)}, {"x": floats(4, 1, 2)}, {"x": floats(1, 1, 3)}]
    model = model_of(nodes, feeds[0], {"x": ["a", 1, "b"]}, ["y"], {}, 17)
    context = engine_of(model, feeds).create_execution_context()
    for feed in feeds[:2] * 2:
        numpy.testing.assert_array_equal(trt.infer(context, feed)["y"], feed["x"][:, 0])
        with pytest.raises(trt.Error, match="drop, a Squeeze without axes, which removes dimension 0 of 'x'"):
            trt.infer(context, feeds[2])


@pytest.mark.parametrize("length", (1, 2))
def test_bounds_as_many_as_the_run_says(length):
    feeds = [{"x": floats(5, 7), "starts": integers(*(1, 2)[:length]), "ends": integers(*(4, 6)[:length])},
             {"x": floats(5, 7), "starts": integers(*(-3, 0)[:length]), "ends": integers(*(5, -2)[:length])}]
    compare(node("Slice", "x starts ends"), feeds, rtol=0, atol=0)
    compare(node("Slice", "x starts ends axes"), feeds, axes=integers(*(1, 0)[:length]), rtol=0, atol=0)


def test_heads_of_a_size_of_run_time():
    feeds = [{name: floats(1, 2, 3, size) for name in "qkv"} for size in (4, 8, 5)]
    def expected(feed):
        scores = feed["q"] @ feed["k"].swapaxes(2, 3) / numpy.sqrt(feed["q"].shape[3])
        weights = numpy.exp(scores - scores.max(-1, keepdims=True))
        return [(weights / weights.sum(-1, keepdims=True) @ feed["v"]).astype(numpy.float32)]
    compare(node("Attention", "q k v"), feeds, {name: [1, 2, 3, "size"] for name in "qkv"}, opset=23, expected=expected)


def test_an_output_that_is_an_input():
    feed = {"x": floats(2, 3)}
    context = engine_of(model_of([node("Relu", "x")], feed, {}, ["y", "x"], {}, 17), [feed]).create_execution_context()
    results = trt.infer(context, feed)
    numpy.testing.assert_array_equal(results["x_output"], feed["x"])
    numpy.testing.assert_array_equal(results["y"], numpy.maximum(feed["x"], 0))
