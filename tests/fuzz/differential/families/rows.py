"""Along axes: reductions, softmax, norms, running sums, the largest ones."""

import numpy

from ..scope import APPROXIMATE, EXACT, LOOSE
from ..values import FLOATS
from .pointwise import limited

SUMS = FLOATS + ("int32", "int64")
REDUCTIONS = {
    "ReduceL1": SUMS, "ReduceL2": SUMS, "ReduceLogSum": FLOATS, "ReduceLogSumExp": FLOATS,
    "ReduceMax": SUMS + ("int8", "uint8", "bool"), "ReduceMin": SUMS + ("int8", "uint8", "bool"), "ReduceMean": SUMS,
    "ReduceProd": SUMS, "ReduceSum": SUMS, "ReduceSumSquare": SUMS,
}
EXACT_REDUCTIONS = ("ReduceMax", "ReduceMin")


def some_axes(g, rank, least=0):
    count = g.between(min(least, rank), rank)
    axes = [int(axis) for axis in g.random.permutation(rank)[:count]]
    if g.chance(0.7):
        axes.sort()
    return [axis - rank if g.chance(0.3) else axis for axis in axes]


def an_axis(g, rank):
    g.need(rank > 0)
    axis = g.between(0, rank - 1)
    return axis - rank if g.chance(0.3) else axis


def not_empty(tensor):
    """In no run, whether or not the choice is a careless one."""
    return all(lane is None or lane[0].size for lane in tensor.lanes)


def reduction(operator):
    def construct(g):
        # Of nothing, ONNX Runtime gives means of 0 and, with negative axes, wrong shapes.
        x = g.pick(REDUCTIONS[operator], where=not_empty)
        # Of many numbers, ONNX Runtime's products vanish on the way to large ones.
        g.need(operator != "ReduceProd" or x.plain.size <= 64)
        if operator == "ReduceLogSum":
            x = limited(g, x, 0.05, 1e3)
        axes = some_axes(g, x.rank, 1) if x.rank and g.chance(0.85) else None
        attributes = {"keepdims": g.between(0, 1)} if g.chance(0.7) else {}
        kind = EXACT if operator in EXACT_REDUCTIONS else APPROXIMATE
        if g.opset >= (13 if operator == "ReduceSum" else 18):
            if axes is None and g.chance(0.3):
                attributes["noop_with_empty_axes"] = 1
            g.node(operator, [x] + ([g.const(axes)] if axes is not None else []), kind=kind, **attributes)
        else:
            g.node(operator, [x], kind=kind, axes=axes, **attributes)

    return construct


def arg(operator):
    def construct(g):
        x = g.pick(FLOATS + ("int32", "int64", "uint8", "int8"), rank=(1, 5), where=not_empty)
        g.node(operator, [x], axis=an_axis(g, x.rank), keepdims=g.between(0, 1),
               select_last_index=g.between(0, 1) if g.opset >= 12 else None)

    return construct


def softmax(operator):
    def construct(g):
        x = g.pick(FLOATS, rank=(1, 5))
        kind = EXACT if operator == "Hardmax" else APPROXIMATE
        g.node(operator, [x], kind=kind, axis=an_axis(g, x.rank) if g.chance(0.8) else None)

    return construct


def cumulative(operator):
    def construct(g):
        x = g.pick(SUMS, rank=(1, 5))
        axis = numpy.asarray(an_axis(g, x.rank), g.one_of(("int32", "int64")))
        g.node(operator, [x, g.const(axis)], kind=APPROXIMATE, exclusive=g.between(0, 1), reverse=g.between(0, 1))

    return construct


def top_k(g):
    x = g.pick(FLOATS + ("int32", "int64"), rank=(1, 5))
    axis = an_axis(g, x.rank)
    smallest = min(x.dims[axis])
    k = g.between(0 if g.chance(0.1) else min(1, smallest), max(smallest, 1))
    g.node("TopK", [x, g.const([k])], outputs=2, kind=EXACT, axis=axis,
           largest=g.between(0, 1), sorted=1)


def layer_norm(g):
    x = g.pick(FLOATS, rank=(1, 5))
    axis = g.between(0, x.rank - 1)
    g.need(all(len(set(dim)) == 1 for dim in x.dims[axis:]) and x.shape[axis:] and numpy.prod(x.shape[axis:]) > 1)
    shape = list(x.shape[axis:])
    scale, bias = g.weight(x.dtype, shape), g.weight(x.dtype, shape)
    g.node("LayerNormalization", [x, scale] + ([bias] if g.chance(0.7) else []), outputs=1, kind=LOOSE,
           axis=axis - x.rank if g.chance(0.5) else axis, epsilon=g.one_of((1e-5, 1e-3)))


def rms_norm(g):
    x = g.pick(FLOATS, rank=(1, 5))
    axis = g.between(0, x.rank - 1)
    g.need(all(len(set(dim)) == 1 for dim in x.dims[axis:]))
    name = "RMSNormalization" if g.has("RMSNormalization") else "SimplifiedLayerNormalization"
    scale = g.weight(x.dtype, list(x.shape[axis:]))
    if name == "RMSNormalization":
        g.node(name, [x, scale], kind=APPROXIMATE, axis=axis - x.rank if g.chance(0.5) else axis, epsilon=1e-3)
    else:
        g.need(axis == x.rank - 1)
        g.node("SimplifiedLayerNormalization", [x, scale], kind=APPROXIMATE, axis=-1, epsilon=1e-3)


def channels(g, least=3):
    """A tensor [batch, channels, ...] whose channels are known. ONNX Runtime crashes in norms of empty ones."""
    x = g.pick(FLOATS, rank=(least, 5), where=lambda t: t.known(1) > 0 and t.full)
    return x, x.shape[1]


def batch_norm(g):
    x, count = channels(g, 2)
    statistics = [g.weight(x.dtype, [count], low, high) for low, high in ((0.5, 2), (-1, 1), (-1, 1), (0.5, 2))]
    g.node("BatchNormalization", [x] + statistics, kind=APPROXIMATE, epsilon=1e-3)


def instance_norm(g):
    x, count = channels(g)
    g.node("InstanceNormalization", [x, g.weight(x.dtype, [count]), g.weight(x.dtype, [count])], kind=LOOSE,
           epsilon=1e-2)


def group_norm(g):
    g.need(g.opset >= 18)
    x, count = channels(g)
    g.need(x.dtype != "float64")  # the standard has means in f32
    g.need(not_empty(x))  # ONNX Runtime gives nothing another shape
    groups = g.one_of([n for n in range(1, count + 1) if count % n == 0])
    size = count if g.opset >= 21 else groups
    g.node("GroupNormalization", [x, g.weight(x.dtype, [size]), g.weight(x.dtype, [size])], kind=LOOSE,
           num_groups=groups, epsilon=1e-2)


def lp_norm(g):
    x = g.pick(("float32", "float64"), rank=(1, 5))
    g.node("LpNormalization", [limited(g, x, 0.1, 1e3)], kind=APPROXIMATE, axis=an_axis(g, x.rank), p=g.between(1, 2))


def mean_variance(g):
    # Of enough elements that vary: ONNX Runtime subtracts squares of means from means of squares.
    x = g.pick(("float32",), rank=4,
               where=lambda t: t.kind == "input" and not_empty(t) and min(t.dims[2]) * min(t.dims[3]) > 7)
    g.node("MeanVarianceNormalization", [x], kind=LOOSE,
           axes=g.one_of(([2, 3], [1, 2, 3], [0, 2, 3])) if g.chance(0.5) else None)


def lrn(g):
    x = g.pick(("float32",), rank=4)
    g.node("LRN", [x], kind=APPROXIMATE, size=g.one_of((1, 3, 5)), alpha=0.1, beta=0.75, bias=1.0)


def mean_centred(g):
    """Norms as exporters spell them: several nodes that a pass turns into one."""
    x = g.pick(FLOATS, rank=(2, 4), where=lambda t: not_empty(t) and min(t.dims[-1]) > 1)
    axes = {"axes": [-1]} if g.opset < 18 else {}
    extra = [] if axes else [g.const([-1])]
    mean = g.node("ReduceMean", [x] + extra, kind=APPROXIMATE, **axes)
    centred = g.node("Sub", [x, mean])
    square = g.node("Mul", [centred, centred]) if g.chance(0.5) else g.node(
        "Pow", [centred, g.const(numpy.asarray(2, x.dtype))])
    variance = g.node("ReduceMean", [square] + extra, kind=APPROXIMATE, **axes)
    root = g.node("Sqrt", [g.node("Add", [variance, g.const(numpy.asarray(0.01, x.dtype))])])
    result = g.node("Div", [centred, root])
    if x.fixed and g.chance(0.6):
        result = g.node("Mul", [result, g.weight(x.dtype, [x.shape[-1]])])
        g.node("Add", [result, g.weight(x.dtype, [x.shape[-1]])])


FAMILY = ([(name, 1, reduction(name)) for name in REDUCTIONS]
          + [("ArgMax", 1, arg("ArgMax")), ("ArgMin", 1, arg("ArgMin"))]
          + [(name, 1.5, softmax(name)) for name in ("Softmax", "LogSoftmax", "Hardmax")]
          + [("CumSum", 2, cumulative("CumSum")), ("CumProd", 1, cumulative("CumProd")), ("TopK", 2, top_k),
             ("LayerNormalization", 2, layer_norm), ("RMSNormalization", 1.5, rms_norm),
             ("BatchNormalization", 2, batch_norm), ("InstanceNormalization", 1, instance_norm),
             ("GroupNormalization", 1, group_norm), ("LpNormalization", 1, lp_norm),
             ("MeanVarianceNormalization", 0.7, mean_variance), ("LRN", 0.7, lrn), ("spelled norm", 1, mean_centred)])
