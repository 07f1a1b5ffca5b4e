"""Quantised tensors: pairs of Quantize and Dequantize as quantisers write them, integer products, QLinear operators."""

import numpy

from ..scope import APPROXIMATE, EXACT, ROUNDED
from ..values import CODES, stored
from .products import image, window
from .rows import not_empty

BYTES = ("uint8", "int8")
SCALES = (0.0213, 0.0471, 0.1077, 0.2539)  # no simple ratios: halves would be rounded either way


def scale_of(g, dtype="float32", count=None):
    if count is None:
        return g.const(numpy.asarray(g.one_of(SCALES), dtype))
    return g.const(g.random.choice(SCALES, count).astype(dtype))


def zero_of(g, dtype, count=None):
    low = -3 if dtype == "int8" else 120 if dtype == "uint8" and g.chance(0.7) else 0
    array = numpy.asarray(g.random.integers(low, low + 10, () if count is None else count), dtype)
    return g.const(array)


def quantise_dequantise(g):
    """Per tensor or per axis, 8 bits."""
    x = g.pick(("float32", "float32", "float16"), rank=(1, 5), where=lambda t: t.rank > 0)
    g.need(x.dtype == "float32" or g.opset >= 19)
    dtype = g.one_of(BYTES)
    axis = g.between(0, x.rank - 1)
    count = x.known(axis) or None if g.opset >= 13 and g.chance(0.3) else None
    parameters = [scale_of(g, x.dtype, count), zero_of(g, dtype, count)]
    attributes = {"axis": axis} if count is not None else {}
    small = g.node("QuantizeLinear", [x] + parameters, kind=EXACT, **attributes)
    wide = g.node("DequantizeLinear", [small] + parameters, kind=ROUNDED, **attributes)
    return wide


def narrow_types(g):
    """Through 16 and 4 bits, and 8-bit floats."""
    g.need(g.opset >= 21)
    x = g.pick(("float32",), rank=(1, 4), where=lambda t: t.rank > 0)
    dtype = g.one_of(("int16", "uint16", "int4", "uint4", "float8_e4m3fn", "float8_e5m2"))
    scale = scale_of(g)
    zero = g.const(numpy.asarray(0, stored(dtype)), dtype)
    small = g.node("QuantizeLinear", [x, scale, zero], kind=EXACT)
    g.node("DequantizeLinear", [small, scale, zero], kind=ROUNDED)


def blocked(g):
    """A weight in blocks along an axis, each with its own scale."""
    g.need(g.opset >= 21)
    rows, columns, block = g.between(1, 4), g.between(1, 3), g.one_of((2, 4))
    dtype = g.one_of(("int8", "uint8", "int4", "uint4"))
    weight = g.const(g.random.integers(0, 8, (rows * block, columns)).astype(stored(dtype)), dtype)
    scales = g.const(g.random.choice(SCALES, (rows, columns)).astype(numpy.float32))
    w = g.node("DequantizeLinear", [weight, scales], kind=ROUNDED, axis=0, block_size=block)
    x = g.operand("float32", [g.size(), rows * block])
    g.node("MatMul", [x, w], kind=APPROXIMATE)


def quantised_layer(g):
    """x, weight and result each through a pair, as static quantisation leaves a layer."""
    wide = quantise_dequantise(g)
    g.need(wide.dtype == "float32" and wide.rank >= 2)
    inner = wide.known(-1)
    g.need(inner)
    columns = g.between(1, 6)
    weight = g.const(g.random.integers(-20, 20, (inner, columns)).astype(numpy.int8))
    per_column = g.opset >= 13 and g.chance(0.5)
    parameters = [scale_of(g, "float32", columns if per_column else None)]
    parameters.append(g.const(numpy.zeros(columns if per_column else (), numpy.int8)))
    w = g.node("DequantizeLinear", [weight] + parameters, kind=ROUNDED, axis=1 if per_column else None)
    y = g.node("MatMul", [wide, w], kind=APPROXIMATE)
    if g.chance(0.5):
        y = g.node("Add", [y, g.const(g.random.uniform(-1, 1, columns).astype(numpy.float32))])
    if g.chance(0.4):
        y = g.node("Relu", [y], kind=EXACT)
    if g.chance(0.7):
        parameters = [g.const(numpy.asarray(0.0931, numpy.float32)), zero_of(g, "uint8")]
        y = g.node("QuantizeLinear", [y] + parameters, kind=EXACT)
        g.node("DequantizeLinear", [y] + parameters, kind=ROUNDED)


def quantised_conv(g):
    """A convolution between pairs."""
    x = image(g, ("float32",))
    parameters = [scale_of(g), zero_of(g, g.one_of(BYTES))]
    small = g.node("QuantizeLinear", [x] + parameters, kind=EXACT)
    wide = g.node("DequantizeLinear", [small] + parameters, kind=ROUNDED)
    attributes = window(g, x)
    outputs = g.between(1, 4)
    weight = g.const(g.random.integers(-20, 20, [outputs, x.shape[1]] + attributes["kernel_shape"]).astype(numpy.int8))
    count = outputs if g.opset >= 13 and g.chance(0.5) else None
    w = g.node("DequantizeLinear", [weight, scale_of(g, "float32", count), g.const(
        numpy.zeros(() if count is None else count, numpy.int8))], kind=ROUNDED, axis=0 if count is not None else None)
    y = g.node("Conv", [wide, w], kind=APPROXIMATE, **attributes)
    if g.chance(0.6):
        parameters = [g.const(numpy.asarray(0.0931, numpy.float32)), zero_of(g, "uint8")]
        g.node("DequantizeLinear", [g.node("QuantizeLinear", [y] + parameters, kind=EXACT)] + parameters, kind=ROUNDED)


def matmul_integer(g):
    a = g.pick(BYTES, rank=(2, 3))
    dtype = g.one_of(BYTES)
    columns = g.size()
    b = g.operand(dtype, [a.dims[-1], columns])
    zeros = [zero_of(g, a.dtype), zero_of(g, dtype)][:g.between(0, 2)]
    y = g.node("MatMulInteger", [a, b] + zeros, kind=EXACT)
    if g.chance(0.6):
        y = g.node("Cast", [y], kind=EXACT, to=CODES["float32"])
        g.node("Mul", [y, g.const(numpy.asarray(0.01, numpy.float32))])


def conv_integer(g):
    x = image(g, ("uint8",))
    attributes = window(g, x)
    w = g.weight("uint8", [g.between(1, 3), x.shape[1]] + attributes["kernel_shape"])
    zeros = [zero_of(g, "uint8"), zero_of(g, "uint8")][:g.between(0, 2)]
    g.node("ConvInteger", [x, w] + zeros, kind=EXACT, **attributes)


def qlinear_matmul(g):
    a = g.pick(BYTES, rank=(2, 3))
    dtype = g.one_of(BYTES) if a.dtype == "uint8" else "int8"
    b = g.operand(dtype, [a.dims[-1], g.size()])
    g.need(not_empty(a) and not_empty(b))  # ONNX Runtime leaves sums of nothing unwritten
    g.node("QLinearMatMul", [a, scale_of(g), zero_of(g, a.dtype), b, scale_of(g), zero_of(g, dtype),
                             g.const(numpy.asarray(0.513, numpy.float32)), zero_of(g, a.dtype)], kind=EXACT)


def qlinear_conv(g):
    x = image(g, BYTES)
    attributes = window(g, x)
    outputs = g.between(1, 4)
    dtype = g.one_of(BYTES) if x.dtype == "uint8" else "int8"
    w = g.const(g.random.integers(0, 20, [outputs, x.shape[1]] + attributes["kernel_shape"]).astype(dtype))
    bias = [g.const(g.random.integers(-50, 50, outputs).astype(numpy.int32))] if g.chance(0.5) else []
    g.node("QLinearConv", [x, scale_of(g), zero_of(g, x.dtype), w, scale_of(g), zero_of(g, dtype),
                           g.const(numpy.asarray(0.513, numpy.float32)), zero_of(g, x.dtype)] + bias, kind=EXACT,
           **attributes)


def dynamic_quantise(g):
    """The layer that dynamic quantisation writes."""
    x = g.pick(("float32",), rank=(2, 3), where=not_empty)
    g.need(all(lane is None or lane[0].any() for lane in x.lanes))  # of zeros alone the scale is anybody's
    small, scale, zero = g.node("DynamicQuantizeLinear", [x], outputs=3, kind=ROUNDED)
    if x.known(-1):
        dtype = g.one_of(BYTES)
        weight = g.weight(dtype, [x.shape[-1], g.between(1, 5)])
        y = g.node("MatMulInteger", [small, weight, zero, zero_of(g, dtype)], kind=EXACT)
        y = g.node("Cast", [y], kind=EXACT, to=CODES["float32"])
        g.node("Mul", [y, g.node("Mul", [scale, scale_of(g)])])


FAMILY = [("Quantize, Dequantize", 3, quantise_dequantise), ("4 and 16 bits, 8-bit floats", 1.5, narrow_types),
          ("blocked weights", 1, blocked), ("quantised layer", 3, quantised_layer),
          ("quantised Conv", 2, quantised_conv), ("MatMulInteger", 1.5, matmul_integer),
          ("ConvInteger", 1.5, conv_integer), ("QLinearMatMul", 1.5, qlinear_matmul),
          ("QLinearConv", 1.5, qlinear_conv), ("DynamicQuantizeLinear", 1.5, dynamic_quantise)]
