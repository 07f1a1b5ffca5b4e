"""Operators of com.microsoft beside ONNX Runtime's own kernels, on random data."""

import math

import numpy
import onnxruntime
import pytest
from building import build
import exact_onnxruntime
from onnx import TensorProto, helper, numpy_helper

import camshaft as trt

random = numpy.random.default_rng(5)
TYPES = {numpy.dtype(name): code for name, code in (
    ("float32", TensorProto.FLOAT), ("float16", TensorProto.FLOAT16), ("int64", TensorProto.INT64),
    ("int32", TensorProto.INT32), ("uint8", TensorProto.UINT8), ("int8", TensorProto.INT8),
    ("bool", TensorProto.BOOL))}


def floats(*shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(numpy.float32)


def integers(low, high, shape, dtype):
    return random.integers(low, high, shape).astype(dtype)


def f32(value):
    return numpy.array(value, numpy.float32)


def sizes(name, value):
    """All but the last, which is the width of weights in real models, are known at run time only."""
    return [f"{name}_{k}" for k in range(value.ndim - 1)] + list(value.shape[-1:])


def model_of(operator, inputs, outputs, constants, **attributes):
    """One node; `inputs` are arrays, or None where one is left out, `outputs` flags of those wanted."""
    names = ["" if value is None else f"i{k}" for k, value in enumerate(inputs)]
    given = [(name, value) for name, value in zip(names, inputs) if name]
    results = [f"o{k}" if wanted else "" for k, wanted in enumerate(outputs)]
    node = helper.make_node(operator, names, results, domain="com.microsoft", name="node", **attributes)
    fixed = [numpy_helper.from_array(value, name) for name, value in given if int(name[1:]) in constants]
    feeds = {name: value for name, value in given if int(name[1:]) not in constants}
    graph = helper.make_graph(
        [node], operator,
        [helper.make_tensor_value_info(name, TYPES[value.dtype], sizes(name, value)) for name, value in feeds.items()],
        [helper.make_empty_tensor_value_info(name) for name in results if name], fixed)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString(), feeds


def reference(model, feeds):
    options = exact_onnxruntime.session_options()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds)))



def check(operator, *inputs, outputs=(True,), compared=None, constants=(), tolerance=1e-4, **attributes):
    """Runs the node here and in ONNX Runtime; all outputs that are asked for are compared, or so many."""
    model, feeds = model_of(operator, inputs, outputs, constants, **attributes)
    expected = reference(model, feeds)
    engine = build(model, [{name: value.shape for name, value in feeds.items()}])
    results = trt.infer(engine, feeds)
    for name, wanted in list(expected.items())[:compared]:
        assert results[name].shape == wanted.shape, name
        assert results[name].dtype == wanted.dtype, name
        difference = numpy.abs(results[name].astype(numpy.float64) - wanted.astype(numpy.float64)).max(initial=0)
        # Results that are integers again may fall on the other side of a half.
        bound = tolerance * max(1, numpy.abs(wanted).max(initial=0)) if wanted.dtype.kind == "f" else 1
        assert difference <= bound, name


def expect(operator, *inputs, wanted, constants=(), **attributes):
    """For operators that ONNX Runtime has no kernel for on a CPU: `wanted` is the formula's result."""
    model, feeds = model_of(operator, inputs, (True,), constants, **attributes)
    engine = build(model, [{name: value.shape for name, value in feeds.items()}])
    numpy.testing.assert_allclose(trt.infer(engine, feeds)["o0"], wanted, atol=1e-4, rtol=1e-4)


def test_operators_without_a_kernel_to_compare_with():
    x, skip, bias = floats(2, 5, 8), floats(2, 5, 8), floats(8)
    expect("BiasAdd", x, bias, skip, wanted=x + bias + skip)
    left, right = numpy.split(x + bias, 2, axis=2)
    gelu = numpy.vectorize(lambda v: v / 2 * (1 + math.erf(v / math.sqrt(2))))
    expect("BiasSplitGelu", x, bias, wanted=left * gelu(right))
    exponents = numpy.exp(x + bias)
    expect("BiasSoftmax", x, bias, axis=2, is_inner_broadcast=0, wanted=exponents / exponents.sum(2, keepdims=True))
    expect("GatedAdd", x, skip, x[..., :1].copy(), wanted=x + skip * x[..., :1])
    a, b = floats(3, 4, 2), floats(3, 4, 2)
    product = a.view(numpy.complex64) * b.view(numpy.complex64)
    expect("ComplexMul", a, b, wanted=product.view(numpy.float32))
    product = a.view(numpy.complex64) * b.view(numpy.complex64).conj()
    expect("ComplexMulConj", a, b, wanted=product.view(numpy.float32))
    spectrum = numpy.fft.rfft(x).astype(numpy.complex64)
    spectrum = spectrum.view(numpy.float32).reshape(2, 5, 5, 2)
    expect("Rfft", x, signal_ndim=1, wanted=spectrum)
    expect("Irfft", spectrum, signal_ndim=1, wanted=x)


def test_channels_last():
    x, gamma, beta = floats(2, 5, 7, 6), floats(6), floats(6)
    groups = x.reshape(2, 35, 3, 2)
    normal = (groups - groups.mean((1, 3), keepdims=True)) / numpy.sqrt(groups.var((1, 3), keepdims=True) + 1e-5)
    y = normal.reshape(x.shape) * gamma + beta
    expect("GroupNorm", x, gamma, beta, groups=3, activation=0, epsilon=1e-5, wanted=y)
    expect("GroupNorm", x, gamma, beta, groups=3, activation=1, epsilon=1e-5, wanted=y / (1 + numpy.exp(-y)))
    weights = floats(4, 6, 1, 1)
    expect("NhwcConv", x, weights, floats(4) * 0, constants=(1, 2), wanted=x @ weights[:, :, 0, 0].T)


def test_packed_operands():
    q, k, v = (floats(2, 5, HEADS, SIZE) for _ in range(3))
    scores = numpy.einsum("bqhs,bkhs->bhqk", q, k) / math.sqrt(SIZE)
    weights = numpy.exp(scores) / numpy.exp(scores).sum(3, keepdims=True)
    wanted = numpy.einsum("bhqk,bkhs->bqhs", weights, v).reshape(2, 5, WIDTH)
    expect("MultiHeadAttention", numpy.stack([q, k, v], 3), num_heads=HEADS, wanted=wanted)
    expect("MultiHeadAttention", q.reshape(2, 5, WIDTH), numpy.stack([k, v], 3), num_heads=HEADS, wanted=wanted)


@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.5, "transA": 1}, {"transB": 1},
                                        {"transBatchA": 1}, {"transBatchB": 1, "transB": 1}])
def test_fused_matmul(attributes):
    a, b = floats(3, 5, 7), floats(3, 7, 4)
    if attributes.get("transA"):
        a = a.swapaxes(1, 2).copy()
    if attributes.get("transB"):
        b = b.swapaxes(1, 2).copy()
    if attributes.get("transBatchA"):
        a = a.transpose(1, 0, 2).copy()
    if attributes.get("transBatchB"):
        b = b.transpose(1, 0, 2).copy()
    check("FusedMatMul", a, b, **attributes)
    if not any(name.startswith("transBatch") for name in attributes):
        check("TransposeMatMul", a, b, **attributes)


@pytest.mark.parametrize("activation, numbers", [
    ("Relu", {}), ("Tanh", {}), ("Sigmoid", {}), ("LeakyRelu", {"activation_alpha": 0.3}),
    ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}), ("Elu", {"activation_alpha": 0.7})])
def test_fused_gemm(activation, numbers):
    check("FusedGemm", floats(5, 7), floats(3, 7), floats(3), transB=1, alpha=0.7, beta=0.3,
          activation=activation, constants=(1, 2), **numbers)


@pytest.mark.parametrize("activation, numbers", [
    ("Relu", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.5]), ("HardSigmoid", [0.2, 0.5])])
@pytest.mark.parametrize("residual", [False, True])
def test_fused_conv(activation, numbers, residual):
    more = [floats(2, 4, 9, 7)] if residual else []
    check("FusedConv", floats(2, 6, 9, 7), floats(4, 3, 3, 3), floats(4), *more, pads=[1, 1, 1, 1], group=2,
          activation=activation, **({"activation_params": numbers} if numbers else {}), constants=(1, 2))


def test_small_fusions():
    x = floats(2, 5, 8)
    check("BiasGelu", x, floats(8))
    check("FastGelu", x, floats(8), tolerance=1e-3)
    check("QuickGelu", x, alpha=1.3)
    check("Gelu", x)
    check("CDist", floats(5, 3), floats(4, 3), metric="euclidean", tolerance=1e-3)
    for size in 1, 2, 3, 4:
        check("Inverse", floats(2, 3, size, size) + 3 * numpy.eye(size, dtype=numpy.float32), tolerance=1e-3)
    check("ExpandDims", x, numpy.array(-1, numpy.int32), constants=(1,))
    check("Trilu", x, numpy.array(1, numpy.int64), upper=0)


@pytest.mark.parametrize("bias", [False, True])
def test_skip_norms(bias):
    x, skip, gamma, beta = floats(2, 5, 8), floats(2, 5, 8), floats(8), floats(8)
    extra = [floats(8)] if bias else []
    outputs = (True, False, False, True)
    check("SkipLayerNormalization", x, skip, gamma, beta, *extra, epsilon=1e-5, outputs=outputs, tolerance=1e-3)
    check("SkipSimplifiedLayerNormalization", x, skip, gamma, *extra, epsilon=1e-5, outputs=outputs, tolerance=1e-3)


@pytest.mark.parametrize("segments", [False, True])
@pytest.mark.parametrize("mask", [False, True])
def test_embed_layer_normalization(segments, mask):
    ids, kinds = integers(0, 11, (2, 5), numpy.int32), integers(0, 2, (2, 5), numpy.int32)
    flags = numpy.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], numpy.int32)
    check("EmbedLayerNormalization", ids, kinds if segments else None, floats(11, 8), floats(6, 8),
          floats(2, 8) if segments else None, floats(8), floats(8), flags if mask else None,
          outputs=(True, True), constants=(2, 3, 4, 5, 6), epsilon=1e-6)


@pytest.mark.parametrize("mode, value", [("bilinear", 0.0), ("nearest", 0.0), ("bilinear", 7.0)])
def test_crop_and_resize(mode, value):
    boxes = f32([[0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], [-0.2, 0.3, 1.3, 0.8], [0.5, 0.5, 0.5, 0.5]])
    check("CropAndResize", floats(2, 3, 9, 7), boxes, numpy.array([0, 1, 1, 0], numpy.int32),
          numpy.array([4, 5], numpy.int32), constants=(3,), mode=mode, extrapolation_value=value)


# Attention

HEADS, SIZE = 3, 4
WIDTH = HEADS * SIZE


def masks(batch, length, total):
    """Every form of mask, by name."""
    flags = numpy.ones((batch, total), numpy.int32)
    flags[0, total - 2:] = 0
    return {"none": None, "flags": flags, "lengths": flags.sum(1).astype(numpy.int32),
            "square": numpy.broadcast_to(flags[:, None], (batch, length, total)).copy()}


@pytest.mark.parametrize("mask", ["none", "flags", "lengths", "square"])
@pytest.mark.parametrize("past, causal", [(0, 0), (0, 1), (3, 1)])
def test_attention(mask, past, causal):
    batch, length = 2, 5
    chosen = masks(batch, length, past + length)[mask]
    cache = floats(2, batch, HEADS, past, SIZE) if past else None
    check("Attention", floats(batch, length, 6), floats(6, 3 * WIDTH), floats(3 * WIDTH), chosen, cache,
          num_heads=HEADS, unidirectional=causal, outputs=(True, bool(past)), constants=(1, 2), tolerance=1e-3)


def test_attention_with_other_sizes_and_a_bias():
    check("Attention", floats(2, 5, 6), floats(6, 2 * WIDTH + 9), floats(2 * WIDTH + 9), None, None,
          floats(2, HEADS, 5, 5), num_heads=HEADS, qkv_hidden_sizes=[WIDTH, WIDTH, 9], scale=0.3, tolerance=1e-3)


@pytest.mark.parametrize("kind", [numpy.uint8, numpy.int8])
@pytest.mark.parametrize("past", [0, 3])
def test_qattention(kind, past):
    low, high = (0, 255) if kind is numpy.uint8 else (-127, 127)
    middle = (low + high) // 2
    cache = floats(2, 2, HEADS, past, SIZE) if past else None
    check("QAttention", integers(0, 255, (2, 5, 6), numpy.uint8), integers(low, high, (6, 3 * WIDTH), kind),
          floats(3 * WIDTH), f32(0.02), floats(3 * WIDTH, scale=0.01) ** 2 + f32(0.01),
          masks(2, 5, 5 + past)["flags"], numpy.array(120, numpy.uint8),
          integers(middle - 9, middle + 9, (3 * WIDTH,), kind),
          cache, num_heads=HEADS, unidirectional=1 if past else 0, outputs=(True, bool(past)),
          constants=(1, 2, 4, 7), tolerance=1e-3)


@pytest.mark.parametrize("mask", ["none", "flags", "lengths"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("past", [0, 3])
def test_multi_head_attention(mask, bias, past):
    chosen = masks(2, 5, 5 + past)[mask]
    if past and mask == "lengths":
        pytest.skip("ONNX Runtime takes lengths without a past only")
    cache = [floats(2, HEADS, past, SIZE), floats(2, HEADS, past, SIZE)] if past else [None, None]
    check("MultiHeadAttention", floats(2, 5, WIDTH), floats(2, 5, WIDTH), floats(2, 5, WIDTH),
          floats(3 * WIDTH) if bias else None, chosen, floats(1, HEADS, 5, 5 + past), *cache,
          num_heads=HEADS, outputs=(True, True, True), tolerance=1e-3)


def test_multi_head_attention_across():
    check("MultiHeadAttention", floats(2, 5, WIDTH), floats(2, HEADS, 7, SIZE), floats(2, HEADS, 7, SIZE),
          num_heads=HEADS, tolerance=1e-3)
    check("MultiHeadAttention", floats(2, 5, WIDTH), floats(2, 7, WIDTH), floats(2, 7, WIDTH),
          num_heads=HEADS, scale=0.2, tolerance=1e-3)
    check("MultiHeadAttention", floats(2, 5, WIDTH), floats(2, 5, WIDTH), floats(2, 5, WIDTH),
          num_heads=HEADS, unidirectional=1, tolerance=1e-3)


def caches(length, half):
    angles = numpy.outer(numpy.arange(length), 1.0 / 10000 ** (numpy.arange(half) / half))
    return numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding(interleaved):
    cos, sin = caches(20, 4)
    positions = numpy.array([[0, 3, 4], [7, 1, 2]], numpy.int64)
    check("RotaryEmbedding", floats(2, 3, 24), positions, cos, sin, interleaved=interleaved)
    check("RotaryEmbedding", floats(2, 3, 3, 8), numpy.array([5], numpy.int64), cos, sin, interleaved=interleaved)
    check("RotaryEmbedding", floats(2, 3, 30), positions, cos, sin, interleaved=interleaved, num_heads=3,
          rotary_embedding_dim=8)


def group_query(batch, length, lengths, past, *, packed=False, heads=4, kv_heads=2, size=16, rotary=True,
                bias=False, sink=False, **attributes):
    """One step: `lengths` tokens per sample are cached already, in a cache of `past`."""
    lengths = numpy.array(lengths)
    total = int((lengths + length).max())
    even = len(set(lengths)) == 1  # else what the caches hold beyond a sample's end is anybody's guess
    q, k, v = (floats(batch, length, count * size) for count in (heads, kv_heads, kv_heads))
    operands = [numpy.concatenate([q, k, v], 2), None, None] if packed else [q, k, v]
    cache = [floats(batch, kv_heads, past, size) for _ in range(2)]
    cos, sin = caches(40, size // 2)
    check("GroupQueryAttention", *operands, *cache, (lengths + length - 1).astype(numpy.int32),
          numpy.array(total, numpy.int32), *([cos, sin] if rotary else [None, None]), None,
          floats(1, heads, length, max(total, past)) if bias else None, floats(heads) if sink else None,
          num_heads=heads, kv_num_heads=kv_heads, do_rotary=int(rotary), outputs=(True, True, True),
          compared=None if even else 1, tolerance=1e-3, **attributes)


@pytest.mark.parametrize("options", [
    {}, {"packed": True}, {"rotary": False}, {"rotary_interleaved": 1}, {"softcap": 3.0}, {"local_window_size": 3},
    {"smooth_softmax": 1}, {"scale": 0.2}, {"bias": True}, {"sink": True}], ids=str)
def test_group_query_attention(options):
    group_query(1, 1, [6], 6, **options)
    group_query(2, 1, [6, 6], 6, **options)


def test_group_query_attention_of_prompts_and_samples_of_different_length():
    group_query(2, 5, [0, 0], 0)
    group_query(1, 4, [0], 0, local_window_size=2)
    group_query(3, 1, [4, 6, 2], 6)
    group_query(1, 3, [5], 5)
    group_query(2, 1, [5, 3], 8)  # a cache longer than what it holds


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_linear_attention(rule):
    q, k, v, state = floats(2, 5, 8), floats(2, 5, 8, scale=0.3), floats(2, 5, 6), floats(2, 2, 4, 3)
    decay = -numpy.abs(floats(2, 5, 2)) if "gated" in rule else None
    beta = numpy.abs(floats(2, 5, 2, scale=0.3)) if "delta" in rule else None
    check("LinearAttention", q, k, v, state, decay, beta, q_num_heads=2, kv_num_heads=2, update_rule=rule,
          outputs=(True, True), tolerance=1e-3)


@pytest.mark.parametrize("state", [False, True])
def test_causal_conv_with_state(state):
    check("CausalConvWithState", floats(2, 3, 7), floats(3, 1, 4), floats(3), floats(2, 3, 3) if state else None,
          activation="silu", outputs=(True, True), constants=(1, 2))


# Quantised tensors

def quantised(shape, kind=numpy.uint8):
    low, high = (0, 256) if kind is numpy.uint8 else (-128, 128)
    scale, zero = f32(random.uniform(0.01, 0.05)), integers(low // 2 + 20, high // 2 + 20, (), kind)
    return integers(low, high, shape, kind), scale, numpy.array(zero)


@pytest.mark.parametrize("kind", [numpy.uint8, numpy.int8])
def test_qlinear_elementwise(kind):
    result = quantised((), kind)[1:]
    check("QLinearAdd", *quantised((2, 3, 5), kind), *quantised((3, 1), kind), *result)
    check("QLinearMul", *quantised((2, 3, 5), kind), *quantised((5,), kind), f32(0.2), result[1])
    check("QLinearSigmoid", *quantised((2, 3, 5), kind), f32(1 / 256), numpy.array(0, kind), constants=(1, 2, 3, 4))
    check("QLinearLeakyRelu", *quantised((2, 3, 5), kind), *result, alpha=0.2, constants=(1, 2, 3, 4))
    check("QLinearWhere", random.random((3, 5)) > 0.5, *quantised((2, 3, 5), kind), *quantised((5,), kind), *result,
          constants=(2, 3, 5, 6, 7, 8))


@pytest.mark.parametrize("kind", [numpy.uint8, numpy.int8])
def test_qlinear_pools_and_rows(kind):
    result = quantised((), kind)[1:]
    check("QLinearAveragePool", *quantised((2, 3, 9, 7), kind), *result, kernel_shape=[3, 2], strides=[2, 1],
          pads=[1, 0, 1, 1])
    check("QLinearAveragePool", *quantised((2, 9, 7, 3), kind), *result, kernel_shape=[3, 3], channels_last=1)
    check("QLinearGlobalAveragePool", *quantised((2, 3, 9, 7), kind), *result)
    check("QLinearGlobalAveragePool", *quantised((2, 9, 7, 3), kind), *result, channels_last=1)
    check("QLinearSoftmax", *quantised((2, 3, 5), kind), f32(1 / 256), numpy.array(0, kind), axis=-1, opset=13,
          constants=(1, 2, 3, 4))
    check("QLinearSoftmax", *quantised((2, 3, 5), kind), f32(1 / 256), numpy.array(0, kind), axis=1, opset=11,
          constants=(1, 2, 3, 4))
    check("QLinearConcat", *result, *quantised((2, 3, 5), kind), *quantised((2, 4, 5), kind), axis=1,
          constants=(0, 1, 3, 4, 6, 7))


@pytest.mark.parametrize("last", [0, 1])
def test_qlinear_conv(last):
    x = quantised((2, 9, 7, 4) if last else (2, 4, 9, 7))
    # Pairs of these weights add up to 128 at most: beyond, ONNX Runtime's convolutions saturate on x86 without VNNI.
    check("QLinearConv", *x, integers(-64, 64, (6, 4, 3, 3), numpy.int8), floats(6, scale=0.01) ** 2 + f32(0.01),
          numpy.zeros(6, numpy.int8), f32(0.3), numpy.array(100, numpy.uint8), integers(-500, 500, (6,), numpy.int32),
          channels_last=last, pads=[1, 1, 1, 1], constants=(1, 2, 3, 4, 5, 6, 7, 8))


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("to_float", [False, True])
def test_qgemm(transposed, to_float):
    b = integers(-127, 127, (3, 7) if transposed else (7, 3), numpy.int8)
    check("QGemm", *quantised((5, 7)), b, floats(3, scale=0.1) ** 2 + f32(0.01), integers(-5, 5, (3,), numpy.int8),
          integers(-500, 500, (3,), numpy.int32), None if to_float else f32(0.5),
          None if to_float else numpy.array(120, numpy.uint8), transB=transposed, alpha=1.0,
          constants=(1, 2, 3, 4, 5, 6, 7, 8))


@pytest.mark.parametrize("columns", [False, True])
def test_dynamic_products(columns):
    scale = (floats(4, scale=0.1) ** 2 + f32(0.01)) if columns else f32(0.03)
    zero = integers(-5, 5, (4,) if columns else (), numpy.int8)
    b = integers(-127, 127, (7, 4), numpy.int8)
    check("DynamicQuantizeMatMul", floats(2, 5, 7), b, scale, zero, floats(4), constants=(1, 2, 3, 4), tolerance=2e-3)
    a, a_scale, a_zero = quantised((2, 5, 7))
    check("MatMulIntegerToFloat", a, b, a_scale, scale, a_zero, zero, floats(4), constants=(1, 3, 5, 6))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("columns", [False, True])
def test_dynamic_quantize_lstm(direction, columns):
    hidden, width, directions = 6, 5, 2 if direction == "bidirectional" else 1

    def weights(features):
        values = integers(-127, 127, (directions, features, 4 * hidden), numpy.int8)
        shape = (directions, 4 * hidden) if columns else (directions,)
        return values, numpy.full(shape, 0.004, numpy.float32), numpy.zeros(shape, numpy.int8)

    w, w_scale, w_zero = weights(width)
    r, r_scale, r_zero = weights(hidden)
    # ONNX Runtime rounds the input and the state to 8 bits: agreement is as good as these.
    check("DynamicQuantizeLSTM", floats(7, 2, width), w, r, floats(directions, 8 * hidden, scale=0.1), None,
          floats(directions, 2, hidden, scale=0.3), floats(directions, 2, hidden, scale=0.3), None,
          w_scale, w_zero, r_scale, r_zero, hidden_size=hidden, direction=direction,
          outputs=(True, True, True), constants=(1, 2, 3, 8, 9, 10, 11), tolerance=3e-2)


def test_quantize_and_back():
    check("QuantizeLinear", floats(2, 3, 5), f32(0.02), numpy.array(100, numpy.uint8))
    check("DequantizeLinear", integers(0, 255, (2, 3, 5), numpy.uint8), f32([0.02, 0.1, 0.3]),
          numpy.array([100, 3, 7], numpy.uint8), axis=1)


# Weights in blocks

@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zeros", ["none", "packed", "floats"])
@pytest.mark.parametrize("depth, block", [(64, 32), (50, 16), (16, 16)])
def test_matmul_nbits(bits, zeros, depth, block):
    columns, blocks = 7, -(-depth // block)
    b = integers(0, 256, (columns, blocks, block * bits // 8), numpy.uint8)
    zero = {"none": None, "packed": integers(0, 256, (columns, -(-blocks * bits // 8)), numpy.uint8),
            "floats": floats(columns, blocks) + f32(2 ** (bits - 1))}[zeros]
    if zeros == "floats" and bits != 4:
        pytest.skip("ONNX Runtime takes floating zero points with 4 bits only")
    bias = [None, floats(columns)]
    check("MatMulNBits", floats(2, 3, depth), b, floats(columns, blocks, scale=0.1), zero, *bias,
          bits=bits, block_size=block, N=columns, K=depth, constants=(1, 2, 3, 5), tolerance=1e-3)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zeros", [False, True])
def test_gather_block_quantized(bits, zeros):
    rows, width, block = 11, 64, 16
    data = integers(0, 256, (rows, width * bits // 8), numpy.uint8)
    zero = integers(0, 256, (rows, width // block * bits // 8), numpy.uint8) if zeros else None
    check("GatherBlockQuantized", data, integers(0, rows, (2, 3), numpy.int64), floats(rows, width // block), zero,
          bits=bits, block_size=block, gather_axis=0, quantize_axis=1, constants=(0, 2, 3))
