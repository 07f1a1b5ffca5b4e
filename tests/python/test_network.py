"""Networks built, listed and edited layer by layer."""

import numpy
import pytest
from small_models import perceptron

import camshaft as trt

random = numpy.random.default_rng(1)


def normal(*shape):
    return random.standard_normal(shape, dtype=numpy.float32)


def run(engine, **inputs):
    return trt.infer(engine.create_execution_context(), inputs)


def test_convolutional_network_from_numpy(network, build):
    x = network.add_input("x", trt.float32, (1, 2, 6, 6))
    kernel, bias = normal(3, 2, 1, 1), normal(3)
    convolution = network.add_convolution_nd(x, 3, (1, 1), kernel, bias)
    relu = network.add_activation(convolution.get_output(0), trt.ActivationType.RELU)
    pool = network.add_pooling_nd(relu.get_output(0), trt.PoolingType.MAX, (2, 2))
    pool.stride_nd = (2, 2)
    pool.get_output(0).name = "y"
    network.mark_output(pool.get_output(0))
    assert network.get_output(0).shape == (1, 3, 3, 3)

    image = normal(1, 2, 6, 6)
    convolved = numpy.einsum("oc,nchw->nohw", kernel[:, :, 0, 0], image) + bias[:, None, None]
    expected = numpy.maximum(convolved, 0).reshape(1, 3, 3, 2, 3, 2).max((3, 5))
    numpy.testing.assert_allclose(run(build(network), x=image)["y"], expected, rtol=1e-4, atol=1e-5)


def test_weights_may_go_once_they_are_added(network, build):
    x = network.add_input("x", trt.float32, (2, 3))
    value = normal(1, 3)
    kept = value.copy()
    constant = network.add_constant((1, 3), value)
    total = network.add_elementwise(x, constant.get_output(0), trt.ElementWiseOperation.SUM)
    network.mark_output(total.get_output(0))
    del value
    [numpy.full((1, 3), 7, numpy.float32) for _ in range(100)]
    (output,) = run(build(network), x=numpy.zeros((2, 3), numpy.float32)).values()
    numpy.testing.assert_allclose(output, numpy.tile(kept, (2, 1)))


def test_attention_like_network(network, build):
    q = network.add_input("q", trt.float32, (2, 5, 8))
    scores = network.add_matrix_multiply(q, trt.MatrixOperation.NONE, q,
                                         trt.MatrixOperation.TRANSPOSE)
    softmax = network.add_softmax(scores.get_output(0))
    softmax.axes = 1 << 2
    mixed = network.add_matrix_multiply(softmax.get_output(0), trt.MatrixOperation.NONE, q,
                                        trt.MatrixOperation.NONE)
    mean = network.add_reduce(mixed.get_output(0), trt.ReduceOperation.AVG, 1 << 1, False)
    turned = network.add_shuffle(mean.get_output(0))
    turned.first_transpose = (1, 0)
    turned.reshape_dims = (4, 4)
    network.mark_output(turned.get_output(0))

    value = normal(2, 5, 8)
    logits = value @ value.transpose(0, 2, 1)
    weights = numpy.exp(logits - logits.max(2, keepdims=True))
    weights /= weights.sum(2, keepdims=True)
    expected = (weights @ value).mean(1).T.reshape(4, 4)
    (output,) = run(build(network), q=value).values()
    numpy.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)


def test_slice_gather_concatenation_and_topk(network, build):
    x = network.add_input("x", trt.float32, (4, 6))
    part = network.add_slice(x, (0, 1), (4, 2), (1, 2))
    index = network.add_constant((2,), numpy.array([3, 0], numpy.int32))
    rows = network.add_gather(x, index.get_output(0), 0)
    joined = network.add_concatenation([rows.get_output(0), rows.get_output(0)])
    joined.axis = 1
    best = network.add_topk(x, trt.TopKOperation.MAX, 2, 1 << 1)
    names = ("part", "joined", "values", "indices")
    outputs = (part.get_output(0), joined.get_output(0), best.get_output(0), best.get_output(1))
    for name, tensor in zip(names, outputs):
        tensor.name = name
        network.mark_output(tensor)

    value = normal(4, 6)
    got = run(build(network), x=value)
    numpy.testing.assert_array_equal(got["part"], value[:, 1:5:2])
    numpy.testing.assert_array_equal(got["joined"], numpy.hstack([value[[3, 0]]] * 2))
    order = numpy.argsort(-value, 1)[:, :2]
    numpy.testing.assert_array_equal(got["indices"], order)
    numpy.testing.assert_array_equal(got["values"], numpy.take_along_axis(value, order, 1))


def test_layers_are_listed_with_their_own_classes(parsed):
    assert len(parsed) == parsed.num_layers > 0
    layers = list(parsed)
    by_index = [parsed.get_layer(i).name for i in range(parsed.num_layers)]
    assert [layer.name for layer in layers] == by_index
    assert any(isinstance(layer, trt.IActivationLayer) for layer in layers)
    assert parsed[-1].get_output(0).name == "y" and parsed[-1].num_outputs == 1
    with pytest.raises(IndexError):
        parsed[len(parsed)]
    assert (parsed.num_inputs, parsed.num_outputs) == (1, 1)
    assert parsed.get_input(0).shape == (-1, 4) and parsed.get_input(0).dtype == trt.float32
    assert parsed.get_input(0).is_network_input and parsed.get_output(0).is_network_output


def test_parsed_network_can_be_edited(parsed, builder, config, build):
    y = parsed.get_output(0)
    parsed.unmark_output(y)
    doubled = parsed.add_elementwise(y, y, trt.ElementWiseOperation.SUM).get_output(0)
    doubled.name = "twice"
    parsed.mark_output(doubled)
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 4), (2, 4), (4, 4))
    config.add_optimization_profile(profile)
    x = normal(3, 4)
    got = run(build(parsed), x=x)
    numpy.testing.assert_allclose(got["twice"], 2 * perceptron()[1](x), rtol=1e-4, atol=1e-5)


def test_layer_properties_read_back(network):
    x = network.add_input("x", trt.float32, (1, 4, 8, 8))
    layer = network.add_convolution_nd(x, 8, (3, 3), normal(8, 2, 3, 3), normal(8))
    layer.num_groups, layer.padding_nd, layer.stride_nd, layer.name = 2, (1, 1), (2, 2), "strided"
    assert layer.type == trt.LayerType.CONVOLUTION and layer.name == "strided"
    assert (layer.num_groups, layer.padding_nd, layer.stride_nd) == (2, (1, 1), (2, 2))
    assert layer.kernel_size_nd == (3, 3) and layer.num_output_maps == 8
    assert layer.kernel.size == 8 * 2 * 9 and layer.bias.shape == (8,)
    assert layer.get_output(0).shape == (1, 8, 4, 4)


@pytest.mark.parametrize("add", [
    lambda n, x: n.add_matrix_multiply(x, trt.MatrixOperation.NONE, x, trt.MatrixOperation.NONE),
    lambda n, x: n.add_constant((2, 2), numpy.zeros(3, numpy.float32)),
    lambda n, x: n.add_concatenation([]),
])
def test_impossible_layers_raise_with_a_reason(network, add):
    x = network.add_input("x", trt.float32, (2, 3))
    with pytest.raises(trt.Error, match=r"\w+ \w+ \w+"):
        add(network, x)


def test_types_asked_of_layers_and_tensors(network, builder):
    x = network.add_input("x", trt.float32, (2, 2))
    layer = network.add_activation(x, trt.ActivationType.RELU)
    network.mark_output(layer.get_output(0))
    assert not layer.precision_is_set and layer.precision == trt.float32
    layer.precision = trt.float16
    assert layer.precision_is_set and layer.precision == trt.float16
    layer.reset_precision()
    assert not layer.precision_is_set
    layer.set_output_type(0, trt.float16)
    assert layer.output_type_is_set(0) and layer.get_output_type(0) == trt.float16
    layer.reset_output_type(0)
    assert not layer.output_type_is_set(0)
    x.dtype = trt.float16
    assert network.get_input(0).dtype == trt.float16
    assert isinstance(builder.platform_has_fast_fp16, bool)
    assert builder.platform_has_fast_int8
    assert isinstance(builder.platform_has_tf32, bool)
