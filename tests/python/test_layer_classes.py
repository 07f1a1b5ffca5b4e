"""Layer classes beside numpy, over odd shapes, and as what parsed networks show."""

import numpy
import pytest
from onnx import TensorProto, helper, numpy_helper

import camshaft as trt

random = numpy.random.default_rng(3)
TYPES = {"float32": trt.float32, "int32": trt.int32, "int64": trt.int64, "bool": trt.bool}


def normal(*shape):
    return random.standard_normal(shape, dtype=numpy.float32)


@pytest.fixture
def run(network, build):
    """The outputs of the layer that `make` adds, for arrays that become inputs of the network."""

    def run(make, *arrays):
        tensors = [network.add_input(f"x{i}", TYPES[array.dtype.name], array.shape)
                   for i, array in enumerate(arrays)]
        layer = make(network, *tensors)
        names = [f"y{i}" for i in range(layer.num_outputs)]
        for i, name in enumerate(names):
            layer.get_output(i).name = name
            network.mark_output(layer.get_output(i))
        context = build(network).create_execution_context()
        results = trt.infer(context, {f"x{i}": array for i, array in enumerate(arrays)})
        return [results[name] for name in names]

    return run


def constant(network, array):
    return network.add_constant(array.shape, array).get_output(0)


@pytest.mark.parametrize("window", [1, 3, 5])
def test_lrn(run, window):
    x = normal(2, 7, 3, 5)
    alpha, beta, k = 0.7, 0.6, 1.5
    half = window // 2
    squares = numpy.stack([(x[:, max(c - half, 0):c + half + 1]**2).sum(1) for c in range(7)], 1)
    (y,) = run(lambda network, t: network.add_lrn(t, window, alpha, beta, k), x)
    numpy.testing.assert_allclose(y, x / (k + alpha / window * squares)**beta, rtol=1e-5)


@pytest.mark.parametrize("shape", [(5,), (3, 7), (2, 1, 5)])
@pytest.mark.parametrize("kind", ["int32", "int64", "float32"])
def test_fill_counts(run, shape, kind):
    start = numpy.array(3, kind)
    steps = numpy.arange(10, 10 + len(shape)).astype(kind)

    def make(network, alpha, beta):
        fill = network.add_fill(shape, trt.FillOperation.LINSPACE, TYPES[kind])
        fill.set_input(1, alpha)
        fill.set_input(2, beta)
        return fill

    (y,) = run(make, start, steps)
    expected = start + numpy.tensordot(steps, numpy.indices(shape), 1)
    assert y.dtype == kind
    numpy.testing.assert_array_equal(y, expected)


def test_fill_properties(network):
    fill = network.add_fill((3,), trt.FillOperation.LINSPACE)
    assert fill.shape == (3,) and fill.to_type == trt.float32
    assert fill.operation == trt.FillOperation.LINSPACE
    fill.alpha, fill.beta = 2, 0.5
    assert (fill.alpha, fill.beta) == (2.0, 0.5) and not fill.is_alpha_beta_int64()
    counting = network.add_fill((3,), trt.FillOperation.LINSPACE, output_type=trt.int64)
    counting.alpha, counting.beta = 2**60 + 1, 2
    assert counting.is_alpha_beta_int64() and counting.alpha == 2**60 + 1
    counting.shape = (7,)
    assert counting.get_output(0).shape == (7,)
    with pytest.raises(trt.Error, match="dimension of size -2"):
        counting.shape = (-2,)


@pytest.mark.parametrize("low, high", [(0, 1), (-3, 5)])
def test_fill_draws(run, low, high):

    def make(network):
        fill = network.add_fill((31, 33), trt.FillOperation.RANDOM_UNIFORM)
        fill.alpha, fill.beta = low, high
        return fill

    (y,) = run(make)
    assert y.min() >= low and y.max() < high
    assert abs(y.mean() - (low + high) / 2) < 0.1 * (high - low)


@pytest.mark.parametrize("before, after", [((1, 2), (0, 3)), ((-1, 0), (2, -2)), ((0, 0), (0, 0))])
def test_padding(run, before, after):
    x = normal(2, 3, 5)
    (y,) = run(lambda network, t: network.add_padding_nd(t, before, after), x)
    grown = numpy.pad(x, [(0, 0)] + [(max(b, 0), max(a, 0)) for b, a in zip(before, after)])
    cropped = grown[(slice(None),) + tuple(
        slice(max(-b, 0), grown.shape[i + 1] - max(-a, 0))
        for i, (b, a) in enumerate(zip(before, after)))]
    numpy.testing.assert_array_equal(y, cropped)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scatter_elements(run, axis):
    x, updates = normal(4, 3, 5), normal(2, 3, 4)
    indices = numpy.argsort(random.random(x.shape), axis)[:2, :, :4]  # no place twice
    indices = numpy.ascontiguousarray(indices).astype(numpy.int32)

    def make(network, *tensors):
        scatter = network.add_scatter(*tensors, trt.ScatterMode.ELEMENT)
        scatter.axis = axis
        return scatter

    expected = x.copy()
    for place in numpy.ndindex(indices.shape):
        target = list(place)
        target[axis] = indices[place]
        expected[tuple(target)] = updates[place]
    (y,) = run(make, x, indices, updates)
    numpy.testing.assert_array_equal(y, expected)


def test_scatter_nd(run):
    x, updates = normal(4, 3, 5), normal(2, 5)
    indices = numpy.array([[3, 1], [0, 2]], numpy.int64)
    expected = x.copy()
    expected[3, 1], expected[0, 2] = updates
    (y,) = run(lambda network, *t: network.add_scatter(*t, trt.ScatterMode.ND), x, indices, updates)
    numpy.testing.assert_array_equal(y, expected)


def test_grid_sample(run):
    x = normal(1, 2, 3, 5)
    rows, columns = numpy.array([2, 0, 1]), numpy.array([4, 1])
    grid = numpy.stack(numpy.broadcast_arrays(columns / 2 - 1, rows[:, None] - 1.0), -1)

    def make(network, *tensors):
        sample = network.add_grid_sample(*tensors)
        assert sample.sample_mode == trt.SampleMode.FILL
        sample.interpolation_mode = trt.InterpolationMode.NEAREST
        sample.align_corners = True
        return sample

    (y,) = run(make, x, grid[None].astype(numpy.float32))
    numpy.testing.assert_array_equal(y, x[:, :, rows][..., columns])


@pytest.mark.parametrize("batch, sequence", [(1, 0), (0, 1), (2, 1)])
def test_reverse_sequence(run, batch, sequence):
    x = normal(5, 4, 3)
    lengths = random.integers(0, x.shape[sequence] + 1, x.shape[batch])

    def make(network, *tensors):
        layer = network.add_reverse_sequence(*tensors)
        assert (layer.batch_axis, layer.sequence_axis) == (1, 0)
        layer.batch_axis = batch
        layer.sequence_axis = sequence
        return layer

    expected = x.copy()
    for i, length in enumerate(lengths):
        row = numpy.moveaxis(expected, (batch, sequence), (0, 1))[i]
        row[:length] = row[:length][::-1].copy()
    (y,) = run(make, x, lengths)
    numpy.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_non_zero(run, kind):
    x = normal(3, 5, 2) * (random.random((3, 5, 2)) < 0.4)
    (y,) = run(lambda network, t: network.add_non_zero(t, TYPES[kind]), x.astype(numpy.float32))
    assert y.dtype == kind
    numpy.testing.assert_array_equal(y, numpy.stack(numpy.nonzero(x)))


def overlap(a, b):
    """Intersection over union of corners x1, y1, x2, y2."""
    sides = numpy.minimum(a[2:], b[2:]) - numpy.maximum(a[:2], b[:2])
    common = numpy.prod(numpy.maximum(sides, 0))
    return common / (numpy.prod(a[2:] - a[:2]) + numpy.prod(b[2:] - b[:2]) - common)


def suppressed(boxes, scores, most, threshold, least, limit):
    """Rows (batch, class, box) that stay, best first within a batch."""
    rows = []
    for batch in range(len(scores)):
        flat = numpy.argsort(-scores[batch], None, kind="stable")[:limit]
        kept = []
        for box, label in zip(*numpy.unravel_index(flat, scores[batch].shape)):
            same = [other for _, c, other in kept if c == label]
            if scores[batch, box, label] <= least or len(same) >= most:
                continue
            place = boxes[batch, :, label] if boxes.ndim == 4 else boxes[batch]
            if all(overlap(place[box], place[other]) <= threshold for other in same):
                kept.append((batch, label, box))
        rows += kept
    return numpy.array(rows)


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("limit", [5000, 17])
def test_nms(run, per_class, limit):
    shape = (2, 19, 3, 2) if per_class else (2, 19, 2)
    corner = random.uniform(0, 10, shape)
    boxes = numpy.concatenate([corner, corner + random.uniform(1, 6, shape)], -1)
    boxes, scores = boxes.astype(numpy.float32), normal(2, 19, 3)

    def make(network, *tensors):
        layer = network.add_nms(*tensors, constant(network, numpy.array(4, numpy.int32)))
        layer.set_input(3, constant(network, numpy.array(0.3, numpy.float32)))
        layer.set_input(4, constant(network, numpy.array(-0.5, numpy.float32)))
        assert layer.bounding_box_format == trt.BoundingBoxFormat.CORNER_PAIRS
        layer.topk_box_limit = limit
        layer.indices_type = trt.int64
        return layer

    rows, count = run(make, boxes, scores)
    expected = suppressed(boxes, scores, 4, 0.3, -0.5, limit)
    numpy.testing.assert_array_equal(rows, expected)
    assert count.shape == () and count == len(expected)


def test_ragged_softmax(run):
    x, lengths = normal(2, 5, 7), random.integers(0, 8, (2, 5, 1)).astype(numpy.int32)
    inside = numpy.arange(7) < lengths
    powers = numpy.exp(x) * inside
    expected = powers / numpy.maximum(powers.sum(-1, keepdims=True), 1e-30)
    (y,) = run(lambda network, *t: network.add_ragged_softmax(*t), x, lengths)
    numpy.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-7)


def test_assertion(network, build):
    x = network.add_input("x", trt.bool, (3,))
    layer = network.add_assertion(x, "every light is green")
    assert layer.message == "every light is green" and layer.num_outputs == 0
    layer.message = "all lights are green"
    network.mark_output(network.add_cast(x, trt.int32).get_output(0))
    assert isinstance(network[0], trt.IAssertionLayer)
    context = build(network).create_execution_context()
    (output,) = trt.infer(context, {"x": numpy.ones(3, bool)}).values()
    assert output.tolist() == [1, 1, 1]
    with pytest.raises(trt.Error, match="all lights are green"):
        trt.infer(context, {"x": numpy.array([True, False, True])})
    wrong = constant(network, numpy.zeros(1, bool))
    network.add_assertion(wrong, "this never holds")
    with pytest.raises(trt.Error, match="does not hold: this never holds"):
        build(network)


@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
def test_quantize_and_dequantize(run, axis):
    x = normal(3, 5, 7)
    count = () if axis < 0 else (x.shape[axis],)
    scale = random.uniform(0.01, 0.05, count).astype(numpy.float32)

    def make(network, *tensors):
        quantized = network.add_quantize(*tensors)
        quantized.axis = axis
        back = network.add_dequantize(quantized.get_output(0), tensors[1], trt.float32)
        back.axis = axis
        return back

    along = scale.reshape([-1 if i == axis else 1 for i in range(3)])
    expected = numpy.clip(numpy.round(x / along), -128, 127) * along
    (y,) = run(make, x, scale)
    numpy.testing.assert_allclose(y, expected, rtol=1e-6)


@pytest.mark.parametrize("block", [(1, 3), (2, 1), (2, 3)])
def test_quantize_in_blocks(run, block):
    x = normal(4, 9)
    scale = random.uniform(0.1, 0.5, (4 // block[0], 9 // block[1])).astype(numpy.float32)

    def make(network, *tensors):
        quantized = network.add_quantize(*tensors, trt.int4)
        quantized.block_shape = block
        assert quantized.block_shape == block
        back = network.add_dequantize(quantized.get_output(0), tensors[1], trt.float32)
        back.block_shape = block
        return back

    spread = numpy.kron(scale, numpy.ones(block, numpy.float32))
    expected = numpy.clip(numpy.round(x / spread), -8, 7) * spread
    (y,) = run(make, x, scale)
    numpy.testing.assert_allclose(y, expected, rtol=1e-6)


def test_dynamic_quantize(run):
    x = normal(3, 32)

    def make(network, t):
        layer = network.add_dynamic_quantize(t, 1, 16, trt.fp4, trt.DataType.FLOAT)
        assert (layer.axis, layer.block_size) == (1, 16)
        return network.add_dequantize(layer.get_output(0), layer.get_output(1), trt.float32)

    blocks = x.reshape(3, 2, 16)
    scale = numpy.abs(blocks).max(-1, keepdims=True) / 6
    numbers = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    numbers = numpy.concatenate([-numbers, numbers])
    nearest = numbers[numpy.abs((blocks / scale)[..., None] - numbers).argmin(-1)]
    (y,) = run(make, x)
    numpy.testing.assert_allclose(y, (nearest * scale).reshape(3, 32), rtol=1e-5, atol=1e-6)


def node(operator, *inputs, **attributes):
    return helper.make_node(operator, inputs, ["y"], **attributes)


PARSED = [
    (node("LRN", "x", size=3, alpha=0.5, beta=0.75, bias=2.0), {"x": (1, 4, 3, 3)}, {},
     trt.ILRNLayer, {"window_size": 3, "alpha": 0.5, "k": 2.0}),
    (node("RandomNormal", mean=2.0, scale=3.0, shape=[4, 5]), {}, {}, trt.IFillLayer,
     {"shape": (4, 5), "alpha": 2.0, "beta": 3.0, "operation": trt.FillOperation.RANDOM_NORMAL}),
    (node("Pad", "x", "pads"), {"x": (2, 3, 4)},
     {"pads": numpy.array([0, 1, 0, 0, 0, -2])}, trt.IPaddingLayer,
     {"pre_padding_nd": (1, 0), "post_padding_nd": (0, -2)}),
    (node("ScatterElements", "x", "i", "x", axis=1), {"x": (2, 3)},
     {"i": numpy.zeros((2, 3), numpy.int64)}, trt.IScatterLayer,
     {"axis": 1, "mode": trt.ScatterMode.ELEMENT}),
    (node("ScatterND", "x", "i", "x"), {"x": (2, 3)}, {"i": numpy.array([[1], [0]])},
     trt.IScatterLayer, {"mode": trt.ScatterMode.ND}),
    (node("GridSample", "x", "g", align_corners=1, padding_mode="border", mode="nearest"),
     {"x": (1, 1, 3, 3), "g": (1, 2, 2, 2)}, {}, trt.IGridSampleLayer,
     {"align_corners": True, "sample_mode": trt.SampleMode.CLAMP,
      "interpolation_mode": trt.InterpolationMode.NEAREST}),
    (node("ReverseSequence", "x", "n", batch_axis=0, time_axis=1), {"x": (2, 3)},
     {"n": numpy.array([1, 3])}, trt.IReverseSequenceLayer, {"batch_axis": 0, "sequence_axis": 1}),
    (node("NonZero", "x"), {"x": (3, 4)}, {}, trt.INonZeroLayer, {"indices_type": trt.int64}),
    (node("DequantizeLinear", "q", "s", axis=1), {},
     {"q": numpy.array([[1, -2]], numpy.int8), "s": numpy.array([0.5, 2], numpy.float32)},
     trt.IDequantizeLayer, {"axis": 1, "to_type": trt.float32}),
    (node("QuantizeLinear", "x", "s", "z", axis=0), {"x": (2, 3)},
     {"s": numpy.array([0.5, 2], numpy.float32), "z": numpy.zeros(2, numpy.int8)},
     trt.IQuantizeLayer, {"axis": 0, "to_type": trt.int8}),
    (node("QuantizeLinear", "x", "s", "z"), {"x": (2, 3)},
     {"s": numpy.array(0.5, numpy.float32), "z": numpy.array(3, numpy.uint8)},
     trt.IQuantizeLayer, {"axis": -1, "to_type": trt.uint8}),
]


@pytest.mark.parametrize("made, inputs, weights, kind, properties", PARSED,
                         ids=[case[0].op_type + str(i) for i, case in enumerate(PARSED)])
def test_parsed_networks_show_the_class(network, logger, build, made, inputs, weights, kind,
                                        properties):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [made], "g", [value(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [value("y", TensorProto.UNDEFINED, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(model.SerializeToString()), parser.get_error(0).desc()
    layers = [layer for layer in network if isinstance(layer, kind)]
    assert len(layers) == 1, [layer.type for layer in network]
    (layer,) = layers
    assert {name: getattr(layer, name) for name in properties} == properties
    arrays = {name: normal(*shape) for name, shape in inputs.items()}
    parsed = trt.infer(build(network).create_execution_context(), arrays)["y"]
    for name in properties:  # the same nodes, emitted from the parameters
        setattr(layer, name, getattr(layer, name))
    emitted = trt.infer(build(network).create_execution_context(), arrays)["y"]
    if kind is not trt.IFillLayer:  # whose draws depend on the layer's name
        numpy.testing.assert_array_equal(emitted, parsed)


def test_parsed_sizes_follow_a_changed_layer(network, logger, build):
    """What nodes downstream know of the number of elements found is what the layer finds anew."""
    make, value = helper.make_node, helper.make_tensor_value_info
    graph = helper.make_graph(
        [make("NonZero", ["x"], ["places"]), make("Transpose", ["places"], ["rows"], perm=[1, 0]),
         make("Shape", ["rows"], ["shape"]), make("Reshape", ["rows", "shape"], ["same"]),
         make("Gather", ["shape", "zero"], ["count"]),
         make("Range", ["zero", "count", "one"], ["numbers"])],
        "g", [value("x", TensorProto.FLOAT, ["n", 3])],
        [value("same", TensorProto.INT64, None), value("numbers", TensorProto.INT64, None)],
        [numpy_helper.from_array(numpy.array(i), name) for i, name in enumerate(["zero", "one"])])
    graph = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(graph.SerializeToString()), parser.get_error(0).desc()
    (layer,) = [layer for layer in network if isinstance(layer, trt.INonZeroLayer)]
    assert layer.get_input(0).name == "x" and layer.get_output(0).name == "places"
    layer.indices_type = trt.int32
    layer.indices_type = trt.int64
    shifted = network.add_elementwise(layer.get_output(0), constant(network, numpy.array([[1]])),
                                      trt.ElementWiseOperation.SUM)
    with pytest.raises(trt.Error, match="cast one of them"):
        layer.indices_type = trt.int32
    assert layer.indices_type == trt.int64 and shifted.get_output(0).dtype == trt.int64
    (numbers,) = [layer for layer in network if isinstance(layer, trt.IFillLayer)]
    assert numbers.operation == trt.FillOperation.LINSPACE
    x = numpy.array([[0, 1, 0], [2, 0, 3]], numpy.float32)
    results = trt.infer(build(network).create_execution_context(), {"x": x})
    numpy.testing.assert_array_equal(results["same"], numpy.argwhere(x))
    numpy.testing.assert_array_equal(results["numbers"], numpy.arange(3))
