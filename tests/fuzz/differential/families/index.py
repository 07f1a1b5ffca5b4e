"""By index and by what the data say: gathering, scattering, selecting; pictures sampled at points."""

import numpy

from ..scope import APPROXIMATE, EXACT, LOOSE, ROUNDED
from ..values import PLAIN, is_float
from .rows import an_axis, not_empty

INDEX_TYPES = ("int64", "int32")


def indices_for(g, size, dims, dtype=None):
    """Indices that fit a dimension in every run, some negative."""
    g.need(min(size) > 0)
    low = -min(size) if g.chance(0.3) else 0
    return g.operand(dtype or g.one_of(INDEX_TYPES), dims, low, min(size) - 1)


def gather(g):
    x = g.pick(PLAIN, rank=(1, 4), where=lambda t: t.rank > 0)
    axis = an_axis(g, x.rank)
    dims = [g.size() for _ in range(g.between(0, 2))]
    g.node("Gather", [x, indices_for(g, x.dims[axis], dims)], kind=EXACT, axis=axis)


def gather_elements(g):
    x = g.pick(PLAIN, rank=(1, 4), where=lambda t: t.rank > 0 and t.fixed)
    axis = an_axis(g, x.rank)
    dims = [g.between(1, max(size, 1)) for size in x.shape]
    dims[axis] = g.size()
    g.node("GatherElements", [x, indices_for(g, x.dims[axis], dims)], kind=EXACT, axis=axis)


def gather_nd(g):
    x = g.pick(PLAIN, rank=(1, 4), where=lambda t: t.rank > 0 and t.full)
    batch = g.between(0, 1) if x.rank > 1 and g.opset >= 12 else 0
    depth = g.between(1, x.rank - batch)
    least = min(min(dim) for dim in x.dims[batch:batch + depth])
    indices = g.operand("int64", x.dims[:batch] + [g.size(), depth], 0, least - 1)
    g.node("GatherND", [x, indices], kind=EXACT, batch_dims=batch or None)


def scatter_elements(g):
    x = g.pick(PLAIN, rank=(1, 4), where=lambda t: t.rank > 0 and t.fixed and min(t.shape) > 0)
    axis = an_axis(g, x.rank)
    shape = [g.between(1, size) for size in x.shape]
    reduction = g.one_of((None, None, "add", "mul", "max", "min")) if g.opset >= 18 else None
    if reduction:
        indices = g.random.integers(0, x.shape[axis], shape)
    else:  # each place once
        order = numpy.argsort(g.random.random([*shape[:axis % x.rank], x.shape[axis], *shape[axis % x.rank + 1:]]),
                              axis=axis % x.rank)
        indices = numpy.take(order, range(shape[axis]), axis=axis)
    updates = g.operand(x.dtype, shape)
    g.node("ScatterElements", [x, g.const(indices.astype(g.one_of(INDEX_TYPES))), updates],
           kind=ROUNDED if reduction in ("add", "mul") else EXACT, axis=axis, reduction=reduction)


def scatter_nd(g):
    x = g.pick(PLAIN, rank=(1, 4), where=lambda t: t.rank > 0 and t.known(0) > 0)
    reduction = g.one_of((None, None, "add", "mul", "max", "min")) if g.opset >= 18 else None
    count = g.between(1, x.shape[0])
    rows = g.random.integers(0, x.shape[0], count) if reduction else g.random.permutation(x.shape[0])[:count]
    updates = g.operand(x.dtype, [count] + x.dims[1:])
    g.node("ScatterND", [x, g.const(rows.reshape(count, 1).astype(numpy.int64)), updates],
           kind=ROUNDED if reduction in ("add", "mul") else EXACT, reduction=reduction)


def one_hot(g):
    depth = g.between(1, 6)
    dims = [g.size() for _ in range(g.between(0, 2))]
    indices = g.operand(g.one_of(("int64", "int32", "float32")), dims, 0, depth - 1)
    if indices.dtype == "float32":
        indices = g.node("Floor", [indices], kind=EXACT)
    values = g.operand(g.one_of(("float32", "int64", "int32")), [2])
    g.node("OneHot", [indices, g.const(numpy.asarray([depth] if g.chance(0.5) else depth, numpy.int64)), values],
           kind=EXACT, axis=g.between(-indices.rank - 1, indices.rank))


def non_zero(g):
    # Of numbers that were computed, rounding may decide which are zero.
    x = g.pick(("bool", "int64", "int32", "float32", "uint8"), rank=(1, 4),
               where=lambda t: t.rank > 0 and (t.dtype != "float32" or t.kind in ("input", "constant")))
    found = g.node("NonZero", [x], kind=EXACT)
    if g.chance(0.5):
        rows = g.node("Transpose", [found], kind=EXACT, perm=[1, 0])
        g.node("GatherND", [x, rows], kind=EXACT)


def compress(g):
    x = g.pick(PLAIN, rank=(1, 4), where=lambda t: t.rank > 0 and t.fixed)
    axis = an_axis(g, x.rank) if g.chance(0.8) else None
    size = x.shape[axis] if axis is not None else int(numpy.prod(x.shape))
    condition = g.operand("bool", [g.between(1, max(size, 1))])
    g.node("Compress", [x, condition], kind=EXACT, axis=axis)


def unique(g):
    # Of what was computed, rounding decides how many numbers are different.
    x = g.pick(("float32", "int64", "int8", "float64"), rank=(1, 3),
               where=lambda t: t.rank > 0 and not (is_float(t.dtype) and t.kind == "result"))
    axis = g.between(0, x.rank - 1) if g.chance(0.3) else None
    g.node("Unique", [x], outputs=g.one_of((1, 4)), kind=EXACT, sorted=g.between(0, 1), axis=axis)


def reverse_sequence(g):
    x = g.pick(PLAIN, rank=(2, 4), where=lambda t: t.known(0) and min(t.dims[1]) > 0)
    lengths = g.operand("int64", [x.dims[0]], 1, min(x.dims[1]))
    g.node("ReverseSequence", [x, lengths], kind=EXACT, batch_axis=0, time_axis=1)


def resize(g):
    x = g.pick(("float32", "float32", "uint8", "int8", "float16"), rank=(3, 5), where=lambda t: t.full)
    mode = g.one_of(("nearest", "linear", "cubic") if x.rank == 4 else ("nearest", "linear"))
    g.need(mode == "nearest" or is_float(x.dtype))  # ONNX Runtime cuts integers off, the standard's reference rounds
    factor = [1.0, 1.0] + [g.one_of((0.5, 1.0, 1.5, 2.0, 3.0)) for _ in x.shape[2:]]
    attributes = {"mode": mode}
    newer = ("half_pixel_symmetric",) if g.opset >= 19 else ()
    attributes["coordinate_transformation_mode"] = g.one_of(
        ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel") + newer)
    if attributes["coordinate_transformation_mode"] == "pytorch_half_pixel":
        factor = [max(f, 1.0) for f in factor]  # ONNX Runtime is off where a size becomes 1
    if attributes["coordinate_transformation_mode"] == "align_corners":
        factor = [max(round(f), 1.0) for f in factor]  # ONNX Runtime's corners are off where a size is rounded
    if mode == "nearest":
        # Others meet elements exactly or, as somebody rounds, just not; ONNX Runtime has one of them wrong.
        g.need(attributes["coordinate_transformation_mode"] in ("half_pixel", "asymmetric"))
        attributes["nearest_mode"] = g.one_of(("round_prefer_floor", "floor", "ceil", "round_prefer_ceil"))
    if mode == "cubic" and g.chance(0.5):
        attributes["cubic_coeff_a"], attributes["exclude_outside"] = -0.5, g.between(0, 1)
    if g.opset >= 18 and mode != "nearest" and g.chance(0.3):
        attributes["antialias"] = 1
    empty = g.const(numpy.zeros(0, numpy.float32)) if g.opset < 13 else None
    if x.fixed and g.chance(0.4):
        sizes = list(x.shape[:2]) + [max(int(size * f), 1) for size, f in zip(x.shape[2:], factor[2:])]
        if g.opset >= 18 and g.chance(0.3):
            attributes["axes"] = list(range(2, x.rank))
            sizes = sizes[2:]
        inputs = [x, empty, empty, g.const(sizes)]
    else:
        inputs = [x, empty, g.const(numpy.asarray(factor, numpy.float32))]
    # Positions are rounded to f32: the further from the first element, the more is lost between two.
    rounding = LOOSE if max(x.shape[2:]) > 16 else APPROXIMATE
    g.node("Resize", inputs, kind=EXACT if mode == "nearest" else rounding, **attributes)


def grid_sample(g):
    x = g.pick(("float32",), rank=(4, 5), where=lambda t: t.full)  # of f64, Camshaft has the coordinates in f32
    g.need(x.rank == 4 or g.opset >= 20)
    grid = g.operand(x.dtype, [x.dims[0]] + [g.size() for _ in range(x.rank - 2)] + [x.rank - 2], -1.2, 1.2)
    modes = ("bilinear", "nearest", "bicubic") if g.opset < 20 else ("linear", "nearest", "cubic")
    mode = g.one_of(modes if x.rank == 4 else modes[:2])
    g.node("GridSample", [x, grid], kind=LOOSE, mode=mode, align_corners=g.between(0, 1),
           padding_mode=g.one_of(("zeros", "border", "reflection")))


def affine_grid(g):
    g.need(g.opset >= 20)
    batch, height, width = (g.between(2, 4) for _ in range(3))  # of a size of 1 the corners are undefined
    theta = g.operand("float32", [batch, 2, 3], -1, 1)
    g.node("AffineGrid", [theta, g.const([batch, 3, height, width])], kind=APPROXIMATE, align_corners=g.between(0, 1))


def roi_align(g):
    x = g.pick(("float32", "float64"), rank=4, where=lambda t: t.full)
    g.need(not_empty(x))  # ONNX Runtime takes zeros from a picture of nothing
    count = g.size()
    low = g.operand(x.dtype, [count, 2], 0, 2)
    extent = g.operand(x.dtype, [count, 2], 0.5, 3)
    boxes = g.node("Concat", [low, g.node("Add", [low, extent])], kind=EXACT, axis=1)
    batch = g.operand("int64", [count], 0, min(x.dims[0]) - 1)
    pixels = g.one_of((None, "half_pixel", "output_half_pixel")) if g.opset >= 16 else None
    g.node("RoiAlign", [x, boxes, batch], kind=APPROXIMATE, output_height=g.between(1, 3), output_width=g.between(1, 3),
           sampling_ratio=g.between(0, 2), spatial_scale=g.one_of((0.5, 1.0)), mode=g.one_of(("avg", "max")),
           coordinate_transformation_mode=pixels)


def max_roi_pool(g):
    x = g.pick(("float32",), rank=4, where=lambda t: t.full)
    count = g.between(1, 3)
    corners = g.random.integers(0, 3, (count, 2))
    rois = numpy.concatenate([g.random.integers(0, min(x.dims[0]), (count, 1)), corners,
                              corners + g.random.integers(1, 4, (count, 2))], axis=1).astype(numpy.float32)
    g.node("MaxRoiPool", [x, g.const(rois)], kind=EXACT, pooled_shape=[g.between(1, 3), g.between(1, 3)])


def non_max_suppression(g):
    batch, boxes, classes = g.between(1, 2), g.size(), g.between(1, 2)
    low = g.operand("float32", [batch, boxes, 2], 0, 2)
    extent = g.operand("float32", [batch, boxes, 2], 0.5, 2)
    corners = g.node("Concat", [low, g.node("Add", [low, extent])], kind=EXACT, axis=2)
    scores = g.operand("float32", [batch, classes, boxes], 0, 1)
    limits = [g.const([g.between(1, 4)]), g.const(numpy.asarray([0.4], numpy.float32)),
              g.const(numpy.asarray([0.2], numpy.float32))]
    g.node("NonMaxSuppression", [corners, scores] + limits[:g.between(1, 3)], kind=EXACT,
           center_point_box=g.between(0, 1))


def losses(g):
    classes, batch = g.between(2, 5), g.size()
    scores = g.operand("float32", [batch, classes])
    labels = g.operand(g.one_of(INDEX_TYPES), [batch], 0, classes - 1)
    # The mean of nothing is 0 to ONNX Runtime, which does not look for whether there are as many scores as labels.
    g.need(not_empty(scores) and all(a is None or b is None or len(a[0]) == len(b[0])
                                     for a, b in zip(scores.lanes, labels.lanes)))
    name = g.one_of(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"))
    if name == "NegativeLogLikelihoodLoss":
        scores = g.node("LogSoftmax", [scores], kind=APPROXIMATE, axis=1)
    g.node(name, [scores, labels], kind=APPROXIMATE, reduction=g.one_of(("none", "mean", "sum")))


FAMILY = [("Gather", 4, gather), ("GatherElements", 2, gather_elements), ("GatherND", 2, gather_nd),
          ("ScatterElements", 2, scatter_elements), ("ScatterND", 2, scatter_nd), ("OneHot", 1.5, one_hot),
          ("NonZero", 1.5, non_zero), ("Compress", 1.5, compress), ("Unique", 1.5, unique),
          ("ReverseSequence", 1, reverse_sequence), ("Resize", 3, resize), ("GridSample", 1.5, grid_sample),
          ("AffineGrid", 0.7, affine_grid), ("RoiAlign", 1, roi_align), ("MaxRoiPool", 0.7, max_roi_pool),
          ("NonMaxSuppression", 1, non_max_suppression), ("losses", 0.7, losses)]
