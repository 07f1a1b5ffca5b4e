"""One element at a time: of one tensor, or of several that are broadcast."""

import numpy

from ..scope import APPROXIMATE, EXACT, LOOSE, ROUNDED, STEP
from ..values import CODES, FLOATS, INTS, NUMBERS, PLAIN, SIGNED, UNSIGNED, is_float

# Operator: types, smallest and largest argument (None: any), how results are noised, attributes to draw.
UNARY = {
    "Abs": (NUMBERS, None, EXACT, {}),
    "Neg": (FLOATS + SIGNED, None, EXACT, {}),
    "Sign": (NUMBERS, None, EXACT, {}),
    "Ceil": (FLOATS, None, EXACT, {}),
    "Floor": (FLOATS, None, EXACT, {}),
    "Round": (FLOATS, None, EXACT, {}),
    "Relu": (FLOATS + ("int32", "int8"), None, EXACT, {}),
    "Identity": (PLAIN, None, EXACT, {}),
    "Not": (("bool",), None, EXACT, {}),
    "BitwiseNot": (INTS, None, EXACT, {}),
    "IsNaN": (FLOATS, None, EXACT, {}),
    "IsInf": (("float32", "float64"), None, EXACT, {"detect_negative": (0, 1), "detect_positive": (0, 1)}),
    "Acos": (FLOATS, (-0.95, 0.95), APPROXIMATE, {}),
    "Acosh": (FLOATS, (1.1, 50), APPROXIMATE, {}),
    "Asin": (FLOATS, (-0.95, 0.95), APPROXIMATE, {}),
    "Asinh": (FLOATS, None, APPROXIMATE, {}),
    "Atan": (FLOATS, None, APPROXIMATE, {}),
    "Atanh": (FLOATS, (-0.95, 0.95), APPROXIMATE, {}),
    "Cos": (FLOATS, (-30, 30), APPROXIMATE, {}),
    "Cosh": (FLOATS, (-6, 6), APPROXIMATE, {}),
    "Erf": (("float32", "float64"), None, APPROXIMATE, {}),  # ONNX Runtime's of f16 has two digits
    "Exp": (FLOATS, (-8, 8), APPROXIMATE, {}),
    "HardSwish": (("float32", "float16"), None, ROUNDED, {}),  # its constants are f32
    "Log": (FLOATS, (0.02, 1e4), APPROXIMATE, {}),
    "Reciprocal": (FLOATS, (0.05, 1e4), ROUNDED, {}),
    "Sigmoid": (FLOATS, None, APPROXIMATE, {}),
    "Sin": (FLOATS, (-30, 30), APPROXIMATE, {}),
    "Sinh": (FLOATS, (-6, 6), APPROXIMATE, {}),
    "Softplus": (FLOATS, None, APPROXIMATE, {}),
    "Softsign": (FLOATS, None, ROUNDED, {}),
    "Sqrt": (FLOATS, (0.01, 1e4), ROUNDED, {}),
    "Tan": (FLOATS, (-1.3, 1.3), APPROXIMATE, {}),
    "Tanh": (FLOATS, None, APPROXIMATE, {}),
    "Celu": (FLOATS, None, APPROXIMATE, {"alpha": (0.5, 1.0, 2.0)}),
    "Elu": (FLOATS, None, APPROXIMATE, {"alpha": (0.5, 1.0, 2.0)}),
    "Gelu": (("float32", "float16"), None, LOOSE, {"approximate": ("none", "tanh")}),
    "HardSigmoid": (("float32", "float16"), None, ROUNDED, {"alpha": (0.2, 0.3), "beta": (0.5, 0.4)}),
    "LeakyRelu": (("float32", "float16"), None, ROUNDED, {"alpha": (0.01, 0.5, 1.5)}),
    "Mish": (FLOATS, None, LOOSE, {}),
    "Selu": (FLOATS, None, APPROXIMATE, {"alpha": (1.67, 1.0), "gamma": (1.05, 2.0)}),
    "Shrink": (("float32", "float16") + INTS, None, ROUNDED, {"lambd": (0.5, 1.0), "bias": (0.0, 0.25)}),
    "Swish": (FLOATS, None, APPROXIMATE, {"alpha": (1.0, 1.7)}),
    "ThresholdedRelu": (FLOATS, None, EXACT, {"alpha": (0.5, 1.0)}),
}
ORDERED = FLOATS + ("int32", "int64", "int8", "uint8", "int16", "uint32", "uint64")
BINARY = {
    "Add": (NUMBERS, ROUNDED), "Sub": (NUMBERS, ROUNDED), "Mul": (NUMBERS, ROUNDED),
    "Equal": (PLAIN, EXACT), "Greater": (ORDERED, EXACT), "GreaterOrEqual": (ORDERED, EXACT),
    "Less": (ORDERED, EXACT), "LessOrEqual": (ORDERED, EXACT),
    "And": (("bool",), EXACT), "Or": (("bool",), EXACT), "Xor": (("bool",), EXACT),
    "BitwiseAnd": (INTS, EXACT), "BitwiseOr": (INTS, EXACT), "BitwiseXor": (INTS, EXACT),
}
VARIADIC = {"Max": (ORDERED, EXACT), "Min": (ORDERED, EXACT), "Mean": (FLOATS, ROUNDED), "Sum": (FLOATS, ROUNDED)}


def limited(g, x, low, high):
    """`x`, clipped by a node where its values leave the range in which results are stable."""
    if all(lane is None or lane[0].size == 0 or (lane[0].min() >= low and lane[0].max() <= high) for lane in x.lanes):
        return x
    if low > 0 and g.chance(0.5):
        square = g.node("Mul", [x, x])
        return limited(g, g.node("Add", [square, g.const(numpy.asarray(low, x.dtype))]), low, high)
    return clip(g, x, low, high)


def clip(g, x, low, high):
    if g.opset < 11:
        return g.node("Clip", [x], kind=EXACT, min=float(low), max=float(high))
    return g.node("Clip", [x, g.const(numpy.asarray(low, x.dtype)), g.const(numpy.asarray(high, x.dtype))], kind=EXACT)


def unary(operator):
    dtypes, domain, kind, choices = UNARY[operator]

    def construct(g):
        x = g.pick(dtypes)
        if domain:
            x = limited(g, x, *domain)
        g.node(operator, [x], kind=kind, **{name: g.one_of(drawn) for name, drawn in choices.items() if g.chance(0.7)})

    return construct


def partner(g, x, low=None, high=None, dtype=None):
    """Something that broadcasts with `x`: sizes equal or 1, fewer dimensions or, rarely, more."""
    dtype = dtype or x.dtype
    if low is None and g.chance(0.3):
        there = [t for t in g.visible() if t.dtype == dtype and not t.constant and fits(x, t)]
        if there:
            return g.one_of(there)
    dims = [dim if g.chance(0.75) else 1 for dim in x.dims]
    if g.chance(0.35):
        dims = dims[g.between(0, len(dims)):]
    elif g.chance(0.1) and len(dims) < 5:
        dims = [g.size()] + dims
    for i, dim in enumerate(dims):  # of size 1 in x: anything goes
        at = i + len(x.dims) - len(dims)
        if at >= 0 and set(x.dims[at]) == {1} and g.chance(0.3):
            dims[i] = g.size()
    return g.operand(dtype, dims, low, high)


def fits(x, y):
    sizes = zip(reversed(x.dims), reversed(y.dims))
    return all(a == b or set(a) == {1} or set(b) == {1} for a, b in sizes)


def either_way(g, x, y):
    return [x, y] if g.chance(0.5) else [y, x]


def binary(operator):
    dtypes, kind = BINARY[operator]

    def construct(g):
        x = g.pick(dtypes)
        g.node(operator, either_way(g, x, partner(g, x)), kind=kind)

    return construct


def variadic(operator):
    dtypes, kind = VARIADIC[operator]

    def construct(g):
        x = g.pick(dtypes)
        others = [partner(g, x) for _ in range(g.between(0, 3))]
        operands = [x] + others
        g.node(operator, operands if g.chance(0.5) else operands[::-1], kind=kind)

    return construct


def div(g):
    x = g.pick(NUMBERS)
    if is_float(x.dtype):
        y = limited(g, partner(g, x), 0.1, 1e4)
        g.node("Div", either_way(g, limited(g, x, 0.1, 1e4), y) if g.chance(0.3) else [x, y])
    else:
        g.node("Div", [x, partner(g, x, 1, 5)])


def mod(g):
    x = g.pick(INTS + ("float32", "float64"))
    if is_float(x.dtype):
        g.node("Mod", [x, partner(g, x, 0.5, 4)], fmod=1)
    else:
        g.node("Mod", [x, partner(g, x, 1, 5)], fmod=g.between(0, 1))


def pow_(g):
    x = g.pick(FLOATS + ("int32", "int64"))
    exponents = g.one_of(FLOATS + ("int32", "int64")) if g.opset >= 12 else x.dtype
    if is_float(x.dtype):
        x = limited(g, x, 0.1, 20)
        g.node("Pow", [x, partner(g, x, 0, 2, exponents)], kind=APPROXIMATE)
    else:
        g.node("Pow", [x, partner(g, x, 0, 3, exponents)], kind=STEP if is_float(exponents) else EXACT)


def prelu(g):
    x = g.pick(FLOATS + ("int32", "int64", "uint32", "uint64"))
    dims = [dim if g.chance(0.6) else 1 for dim in x.dims][g.between(0, x.rank):]
    g.node("PRelu", [x, g.operand(x.dtype, dims)])


def where(g):
    x = g.pick(PLAIN)
    condition = partner(g, x, dtype="bool")
    g.node("Where", [condition] + either_way(g, x, partner(g, x)), kind=EXACT)


def bit_shift(g):
    x = g.pick(UNSIGNED)
    g.node("BitShift", [x, partner(g, x, 0, 3)], direction=g.one_of(("LEFT", "RIGHT")))


def clipping(g):
    x = g.pick(NUMBERS)
    low, high = g.between(0, 2), g.between(2, 4)
    if g.opset < 11:
        g.node("Clip", [x], kind=EXACT, min=float(low), max=float(high))
        return
    bound = [g.operand(x.dtype, [], low, low), g.operand(x.dtype, [], high, high)]
    kept = g.between(0, 3)
    g.node("Clip", [x, bound[0] if kept & 1 else None] + ([bound[1]] if kept & 2 else []), kind=EXACT)


def cast(g):
    x = g.pick(PLAIN + ("bfloat16",))
    to = g.one_of(PLAIN + ("bfloat16",) * 2)
    if is_float(x.dtype) and not is_float(to) and to != "bool":
        x = limited(g, x, 0 if to.startswith("u") else -100, 100)
    if not is_float(x.dtype) and to in INTS and (to.startswith("u") or to == "int8"):
        g.need(all(not lane or not lane[0].size or (lane[0].min() >= 0 and lane[0].max() < 128) for lane in x.lanes))
    g.node("Cast", [x], to=CODES[to])


def cast_like(g):
    x = g.pick(FLOATS)
    g.node("CastLike", [x, g.pick(FLOATS)])


FAMILY = ([(name, 1, unary(name)) for name in UNARY] + [(name, 2, binary(name)) for name in BINARY]
          + [(name, 2, variadic(name)) for name in VARIADIC]
          + [("Div", 3, div), ("Mod", 1, mod), ("Pow", 2, pow_), ("PRelu", 2, prelu), ("Where", 4, where),
             ("BitShift", 1, bit_shift), ("Clip", 2, clipping), ("Cast", 4, cast), ("CastLike", 1, cast_like)])
