"""Operators of com.microsoft that ONNX Runtime's optimisers and quantisers write."""

import numpy

from ..scope import APPROXIMATE, EXACT, LOOSE, ROUNDED, STEP
from .products import fits_when_empty
from .quantised import BYTES, scale_of, zero_of
from .rows import not_empty, some_axes

MS = {"domain": "com.microsoft"}


def rows_of(g, least=2, most=4):
    """A tensor whose last dimension is known and more than 1."""
    return g.pick(("float32",), rank=(least, most), where=lambda t: t.known(-1) > 1)


def gelus(g):
    x = g.pick(("float32",), rank=(1, 4), where=lambda t: t.rank > 0)
    name = g.one_of(("Gelu", "QuickGelu", "FastGelu", "BiasGelu"))
    bias = []
    if name == "BiasGelu" or name == "FastGelu" and g.chance(0.5):
        bias = [g.operand("float32", [x.dims[-1]])]
    g.node(name, [x] + bias, kind=LOOSE, **MS)


def fused_matmul(g):
    x = g.pick(("float32",), rank=(2, 4))
    trans_a, trans_b = g.between(0, 1), g.between(0, 1)
    inner = x.dims[-2] if trans_a else x.dims[-1]
    columns = g.size()
    tail = [columns, inner] if trans_b else [inner, columns]
    y = g.operand("float32", ([dim for dim in x.dims[:-2]] if g.chance(0.6) else []) + tail)
    g.need(fits_when_empty(x, y))
    g.node("FusedMatMul", [x, y], kind=APPROXIMATE, transA=trans_a, transB=trans_b, alpha=g.one_of((None, 0.5)), **MS)


def fused_gemm(g):
    x = g.pick(("float32",), rank=2)
    columns = g.size()
    y = g.operand("float32", [x.dims[1], columns])
    g.node("FusedGemm", [x, y, g.operand("float32", [columns])], kind=APPROXIMATE,
           activation=g.one_of(("Relu", "Tanh")), **MS)


def fused_conv(g):
    x = g.pick(("float32",), rank=4, where=lambda t: t.known(1) > 0)
    w = g.weight("float32", [g.between(1, 4), x.shape[1], 3, 3])
    g.node("FusedConv", [x, w], kind=LOOSE, activation=g.one_of(("Relu", "Tanh", "Sigmoid")), pads=[1, 1, 1, 1],
           kernel_shape=[3, 3], **MS)


def skip_layer_norm(g):
    x = rows_of(g, 3, 3)
    width = x.shape[-1]
    skip = g.operand("float32", x.dims if g.chance(0.7) else [1] + x.dims[1:])
    g.need(all(lane is None or other is None or len(other[0]) in (1, len(lane[0]))
               for lane, other in zip(x.lanes, skip.lanes)))  # ONNX Runtime does not look
    simplified = g.chance(0.4)
    extra = [] if simplified else [g.weight("float32", [width])]
    if extra and g.chance(0.5):
        extra.append(g.weight("float32", [width]))
    g.node("SkipSimplifiedLayerNormalization" if simplified else "SkipLayerNormalization",
           [x, skip, g.weight("float32", [width])] + extra, kind=LOOSE, epsilon=1e-3, **MS)


def attention(g):
    batch, length, heads, width = g.size(), g.size(), g.between(1, 2), g.one_of((2, 4))
    hidden = heads * width
    x = g.operand("float32", [batch, length, hidden])
    w, b = g.weight("float32", [hidden, 3 * hidden], -0.7, 0.7), g.weight("float32", [3 * hidden])
    g.node("Attention", [x, w, b], kind=APPROXIMATE, num_heads=heads, unidirectional=g.between(0, 1), **MS)


def multi_head(g):
    batch, length, heads, width = g.size(), g.size(), g.between(1, 2), g.one_of((2, 4))
    other = g.size() if g.chance(0.4) else length
    q, k, v = (g.operand("float32", [batch, n, heads * width]) for n in (length, other, other))
    bias = g.weight("float32", [3 * heads * width]) if g.chance(0.3) else None
    added = g.operand("float32", [g.one_of((batch, 1)), heads, length, other]) if g.chance(0.4) else None
    inputs = [q, k, v, bias, None, added]
    while inputs[-1] is None:
        inputs.pop()
    g.node("MultiHeadAttention", inputs, kind=APPROXIMATE, num_heads=heads, **MS)


def rotary(g):
    batch, length, heads, width = g.size(), g.between(1, 4), g.between(1, 2), g.one_of((4, 8))
    x = g.operand("float32", [batch, heads, length, width])
    g.need(x.sizes(-1) == {width})  # odd heads are half turned
    at = g.operand("int64", [batch, length], 0, 5)
    cos, sin = (g.const(g.random.uniform(-1, 1, (6, width // 2)).astype(numpy.float32)) for _ in range(2))
    g.node("RotaryEmbedding", [x, at, cos, sin], kind=ROUNDED, interleaved=g.between(0, 1), **MS)


def matmul_nbits(g):
    rows, columns, block = g.size(), g.between(1, 6), 16
    inner = block * g.between(1, 2)
    x = g.operand("float32", [rows, inner])
    b = g.const(g.random.integers(0, 256, (columns, inner // block, block // 2)).astype(numpy.uint8))
    scales = g.const(g.random.choice((0.02, 0.05, 0.1), columns * (inner // block)).astype(numpy.float32))
    g.node("MatMulNBits", [x, b, scales], kind=APPROXIMATE, K=inner, N=columns, bits=4, block_size=block, **MS)


def qlinear_binary(g):
    x = g.pick(BYTES, rank=(1, 4), where=lambda t: t.rank > 0)
    y = g.operand(x.dtype, x.dims if g.chance(0.6) else x.dims[g.between(0, x.rank - 1):])
    first, second, result = ([scale_of(g), zero_of(g, x.dtype)] for _ in range(3))
    g.node(g.one_of(("QLinearAdd", "QLinearMul")), [x, *first, y, *second, *result], kind=STEP, **MS)


def qlinear_unary(g):
    x = g.pick(BYTES, rank=(1, 4), where=lambda t: t.rank > 0)
    name = g.one_of(("QLinearSigmoid", "QLinearLeakyRelu"))
    g.node(name, [x, scale_of(g), zero_of(g, x.dtype), scale_of(g), zero_of(g, x.dtype)], kind=STEP, **MS)


def qlinear_pool(g):
    x = g.pick(BYTES, rank=4, where=lambda t: t.full and min(t.shape[2:]) >= 2)
    parameters = [scale_of(g), zero_of(g, x.dtype), scale_of(g), zero_of(g, x.dtype)]
    if g.chance(0.5):
        g.node("QLinearGlobalAveragePool", [x] + parameters, kind=STEP, channels_last=0, **MS)
    else:
        g.node("QLinearAveragePool", [x] + parameters, kind=STEP, kernel_shape=[2, 2],
               strides=[g.between(1, 2)] * 2, **MS)


def qlinear_concat(g):
    x = g.pick(BYTES, rank=(1, 4), where=lambda t: t.rank > 0)
    y = g.operand(x.dtype, x.dims)
    g.node("QLinearConcat", [scale_of(g), zero_of(g, x.dtype), x, scale_of(g), zero_of(g, x.dtype),
                             y, scale_of(g), zero_of(g, x.dtype)], kind=STEP, axis=g.between(0, x.rank - 1), **MS)


def matmul_integer_to_float(g):
    a = g.pick(BYTES, rank=(2, 3))
    b = g.operand(g.one_of(BYTES), [a.dims[-1], g.size()])
    g.need(0 not in a.sizes(-1))  # ONNX Runtime leaves sums of nothing as they were
    g.node("MatMulIntegerToFloat", [a, b, scale_of(g), scale_of(g), zero_of(g, a.dtype), zero_of(g, b.dtype)],
           kind=APPROXIMATE, **MS)


def dynamic_quantize_matmul(g):
    x = g.pick(("float32",), rank=(2, 3), where=lambda t: t.known(-1) > 0 and not_empty(t))
    g.need(all(lane is None or lane[0].any() for lane in x.lanes))
    weight = g.const(g.random.integers(0, 20, (x.shape[-1], g.between(1, 5))).astype(g.one_of(BYTES)))
    g.node("DynamicQuantizeMatMul", [x, weight, scale_of(g)], kind=APPROXIMATE, **MS)


def others(g):
    x = rows_of(g)
    choice = g.between(0, 2)
    if choice == 0:
        y = g.operand("float32", [g.size(), x.dims[-1]])
        x = g.operand("float32", [g.size(), x.dims[-1]])
        # Where rows are alike, what the root is taken of is the rounding of larger numbers.
        metric = "sqeuclidean" if x is y else g.one_of(("euclidean", "sqeuclidean"))
        g.node("CDist", [x, y], kind=APPROXIMATE, metric=metric, **MS)
    elif choice == 1:
        g.node("ExpandDims", [x, g.const(numpy.asarray(g.between(0, x.rank), numpy.int32))], kind=EXACT, **MS)
    else:
        small = g.pick(("uint8", "int8"), rank=(1, 3), where=lambda t: t.rank > 0)
        axes = [axis % small.rank for axis in some_axes(g, small.rank, 1)]
        g.node("ReduceSumInteger", [small], kind=EXACT, axes=sorted(axes), keepdims=1, **MS)


def quantise(g):
    """The pair of this domain, 16 bits included."""
    x = g.pick(("float32",), rank=(1, 4), where=lambda t: t.rank > 0)
    dtype = g.one_of(("uint8", "int8", "uint16", "int16"))
    parameters = [scale_of(g), g.const(numpy.asarray(3, dtype))]
    small = g.node("QuantizeLinear", [x] + parameters, kind=EXACT, **MS)
    g.node("DequantizeLinear", [small] + parameters, kind=ROUNDED, **MS)


FAMILY = [("Gelu and kin", 2, gelus), ("FusedMatMul", 2, fused_matmul), ("FusedGemm", 1, fused_gemm),
          ("FusedConv", 1, fused_conv), ("SkipLayerNormalization", 2, skip_layer_norm),
          ("microsoft Attention", 1.5, attention), ("MultiHeadAttention", 1.5, multi_head),
          ("microsoft RotaryEmbedding", 1, rotary), ("MatMulNBits", 1, matmul_nbits),
          ("QLinearAdd, QLinearMul", 1.5, qlinear_binary), ("QLinearSigmoid, QLinearLeakyRelu", 1, qlinear_unary),
          ("QLinear pooling", 1, qlinear_pool), ("QLinearConcat", 1, qlinear_concat),
          ("MatMulIntegerToFloat", 1, matmul_integer_to_float), ("DynamicQuantizeMatMul", 1, dynamic_quantize_matmul),
          ("microsoft others", 1, others), ("microsoft QuantizeLinear", 1, quantise)]
