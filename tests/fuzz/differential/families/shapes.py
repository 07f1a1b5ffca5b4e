"""Moving elements without reading them, and sizes as data."""

import numpy
from onnx import numpy_helper

from ..scope import EXACT
from ..values import CODES, FLOATS, PLAIN, random_array
from .rows import an_axis, not_empty, some_axes

ANY = PLAIN + ("bfloat16",)


def axes_given(g, operator, x, axes, since=13, **attributes):
    """Axes as an attribute, or as an input from opset `since`."""
    if g.opset >= since:
        return g.node(operator, [x, g.const(axes)], kind=EXACT, **attributes)
    return g.node(operator, [x], kind=EXACT, axes=axes, **attributes)


def reshape(g):
    """To sizes that hold in every run: merged or split dimensions, written with 0 and -1."""
    x = g.pick(ANY, rank=(0, 5))
    target, sizes = [], []
    dims = list(x.dims)
    while dims:
        dim = dims.pop(0)
        if dims and g.chance(0.4):
            dims[0] = tuple(a * b for a, b in zip(dim, dims[0]))
            continue
        divisors = [n for n in range(1, 6) if all(size % n == 0 for size in dim)]
        if g.chance(0.25):
            by = g.one_of(divisors)
            sizes.append((by,) * g.runs)
            dim = tuple(size // by for size in dim)
        sizes.append(dim)
    if g.chance(0.2):
        sizes.insert(g.between(0, len(sizes)), (1,) * g.runs)
    open_at = None
    for i, dim in enumerate(sizes):
        if len(set(dim)) > 1 or (open_at is None and g.chance(0.2)):
            if i < x.rank and x.dims[i] == dim and g.chance(0.6):
                target.append(0)
                continue
            g.need(open_at is None)
            open_at = i
            target.append(-1)
        else:
            target.append(dim[0])
    g.node("Reshape", [x, g.const(numpy.asarray(target, numpy.int64))], kind=EXACT)


def reshape_like(g):
    """By sizes that other nodes compute: Shape, then Gather or Slice, then Concat."""
    # A size that comes out as 0 would mean the input's size there.
    x = g.pick(ANY, rank=(1, 4), where=lambda t: t.rank > 0 and not_empty(t))
    shape = g.node("Shape", [x], kind=EXACT)
    order = g.between(0, 2)
    if order == 0:
        first = g.node("Gather", [shape, g.const([0])], kind=EXACT)
        g.node("Reshape", [x, g.node("Concat", [first, g.const([-1])], kind=EXACT, axis=0)], kind=EXACT)
    elif order == 1:
        last = g.node("Slice", [shape, g.const([x.rank - 1]), g.const([x.rank])], kind=EXACT)
        g.node("Reshape", [x, g.node("Concat", [g.const([-1]), last], kind=EXACT, axis=0)], kind=EXACT)
    else:
        count = g.node("Size", [x], kind=EXACT)
        row = g.node("Unsqueeze", [count, g.const([0])], kind=EXACT) if g.opset >= 13 else g.node(
            "Unsqueeze", [count], kind=EXACT, axes=[0])
        g.node("Reshape", [x, row], kind=EXACT)


def reshape_counted(g):
    """By as many as NonZero finds, which are a dimension's."""
    x = g.pick(ANY, rank=(1, 4), where=lambda t: t.rank > 0 and not_empty(t))
    first = g.chance(0.7)
    found = g.node("NonZero", [g.operand("int64", [x.dims[0 if first else -1]], 1, 3)], kind=EXACT)
    count = g.node("Gather", [g.node("Shape", [found], kind=EXACT), g.const([1])], kind=EXACT)
    sizes = [count, g.const([-1])] if first else [g.const([-1]), count]
    g.node("Reshape", [x, g.node("Concat", sizes, kind=EXACT, axis=0)], kind=EXACT)


def expand(g):
    x = g.pick(ANY, rank=(0, 4))
    sizes = [dim if set(dim) != {1} or g.chance(0.3) else (g.between(1, 4),) * g.runs for dim in x.dims]
    if g.chance(0.3):
        sizes = [(g.between(1, 3),) * g.runs] + sizes
    target = [dim[0] if len(set(dim)) == 1 else 1 for dim in sizes]
    g.node("Expand", [x, g.const(numpy.asarray(target, numpy.int64))], kind=EXACT)


def expand_like(g):
    """To another tensor's shape."""
    y = g.pick(ANY, rank=(1, 4))
    x = g.operand(g.one_of(("float32", "int64", "bool")), [dim if g.chance(0.5) else 1 for dim in y.dims])
    g.node("Expand", [x, g.node("Shape", [y], kind=EXACT)], kind=EXACT)


def transpose(g):
    x = g.pick(ANY, rank=(1, 5), where=lambda t: t.rank > 0)
    g.node("Transpose", [x], kind=EXACT, perm=[int(i) for i in g.random.permutation(x.rank)] if g.chance(0.9) else None)


def squeeze(g):
    x = g.pick(ANY, rank=(1, 5), where=lambda t: any(set(dim) == {1} for dim in t.dims))
    ones = [i for i, dim in enumerate(x.dims) if set(dim) == {1}]
    # Elsewhere a size may be a matter of the data, or a symbol: what is 1 in a run alone is refused.
    if len(x.lanes) == 1 and x.kind == "input" and g.chance(0.3):
        g.node("Squeeze", [x], kind=EXACT)
        return
    chosen = [i for i in ones if g.chance(0.7)] or ones[:1]
    axes_given(g, "Squeeze", x, [i - x.rank if g.chance(0.3) else i for i in chosen])


def unsqueeze(g):
    x = g.pick(ANY, rank=(0, 4))
    count = g.between(1, 2)
    rank = x.rank + count
    axes = sorted(int(i) for i in g.random.permutation(rank)[:count])
    axes_given(g, "Unsqueeze", x, [i - rank if g.chance(0.3) else i for i in axes])


def flatten(g):
    x = g.pick(ANY, rank=(0, 5))
    g.node("Flatten", [x], kind=EXACT, axis=g.between(-x.rank, x.rank))


def tile(g):
    x = g.pick(ANY, rank=(0, 4))
    repeats = [g.one_of((1, 1, 2, 3)) for _ in x.shape]
    if repeats and g.chance(0.05):
        repeats[0] = 0
    g.node("Tile", [x, g.const(numpy.asarray(repeats, numpy.int64))], kind=EXACT)


def slice_(g):
    x = g.pick(ANY, rank=(1, 5), where=lambda t: t.rank > 0)
    axes = some_axes(g, x.rank, 1)
    starts, ends, steps = [], [], []
    for axis in axes:
        size = x.shape[axis]
        step = g.one_of((1, 1, 1, 2, 3, -1, -2))
        low, high = sorted((g.between(-size - 1, size + 1), g.between(-size - 1, size + 1)))
        if g.chance(0.7):
            low, high = g.between(0, max(size // 2, 0)), g.between(size // 2 + 1, size + 2)
        starts.append(low if step > 0 else high)
        ends.append(high if step > 0 else g.one_of((low - 1 if low else -size - 1, -(2**31))))
        steps.append(step)
    kind = g.one_of(("int64", "int32"))
    bounds = [g.const(numpy.asarray(numbers, kind)) for numbers in (starts, ends, axes, steps)]
    g.node("Slice", [x] + bounds, kind=EXACT)


def pad(g):
    x = g.pick(ANY, rank=(1, 4), where=lambda t: t.rank > 0)
    mode = g.one_of(("constant", "constant", "edge", "reflect", "wrap"))
    g.need(mode != "wrap" or g.opset >= 19)
    largest = [2 if mode == "constant" else max(min(min(dim), 3) - 1, 0) for dim in x.dims]
    smallest = -1 if g.chance(0.2) and mode == "constant" else 0
    pads = [g.between(smallest, n) for n in largest] + [g.between(smallest, n) for n in largest]
    inputs = [x, g.const(pads)]
    if mode == "constant" and g.chance(0.6):
        inputs.append(g.const(random_array(g.random, x.dtype, []), x.dtype))
    if g.opset >= 18 and g.chance(0.3):
        axes = some_axes(g, x.rank, 1)
        pads = [g.between(0, largest[axis]) for axis in axes * 2]
        inputs = [x, g.const(pads), inputs[2] if len(inputs) > 2 else None, g.const(axes)]
    g.node("Pad", inputs, kind=EXACT, mode=mode)


def concat(g):
    x = g.pick(ANY, rank=(1, 5), where=lambda t: t.rank > 0)
    axis = an_axis(g, x.rank)
    others = []
    for _ in range(g.between(0, 3)):
        dims = list(x.dims)
        dims[axis] = g.size() if g.chance(0.7) else dims[axis]
        if x.dtype == "bfloat16":
            dims = None
        others.append(g.operand(x.dtype, dims) if dims else x)
    g.node("Concat", [x] + others if g.chance(0.5) else others + [x], kind=EXACT, axis=axis)


def split(g):
    x = g.pick(ANY, rank=(1, 5), where=lambda t: t.rank > 0)
    axis = an_axis(g, x.rank)
    dim = x.dims[axis]
    if len(set(dim)) == 1 and g.chance(0.6):
        sizes, left = [], dim[0]
        while left and len(sizes) < 3:
            sizes.append(g.between(0 if g.chance(0.1) else 1, left))
            left -= sizes[-1]
        sizes += [left] if left else []
        g.need(sizes)
        if g.opset >= 13:
            results = g.node("Split", [x, g.const(sizes)], outputs=len(sizes), kind=EXACT, axis=axis)
        else:
            results = g.node("Split", [x], outputs=len(sizes), kind=EXACT, axis=axis, split=sizes)
        return results
    count = g.between(1, 3)
    g.need(g.opset >= 18 or all(size % count == 0 for size in dim))
    return g.node("Split", [x], outputs=count, kind=EXACT, axis=axis, num_outputs=count if g.opset >= 18 else None)


def shape(g):
    x = g.pick(ANY, rank=(0, 5))
    if g.opset >= 15 and g.chance(0.4):
        end = g.one_of((None, g.between(-x.rank, x.rank)))
        g.node("Shape", [x], kind=EXACT, start=g.between(-x.rank, x.rank), end=end)
    else:
        g.node(g.one_of(("Shape", "Size")), [x], kind=EXACT)


def of_shape(g):
    """ConstantOfShape and Range, of sizes computed from a tensor's."""
    x = g.pick(ANY, rank=(1, 3), where=lambda t: t.rank > 0)
    sizes = g.node("Shape", [x], kind=EXACT)
    if g.chance(0.5):
        value = random_array(g.random, g.one_of(("float32", "int64", "bool", "float16")), [1])
        g.node("ConstantOfShape", [sizes], kind=EXACT, value=numpy_helper.from_array(value))
        return
    last = g.node("Gather", [sizes, g.const(numpy.asarray(g.between(-1, 0)))], kind=EXACT)
    dtype = g.one_of(("int64", "int64", "float32", "int32"))
    if dtype != "int64":
        last = g.node("Cast", [last], kind=EXACT, to=CODES[dtype])
    start, step = (numpy.asarray(g.between(*limits), dtype) for limits in ((-2, 1), (1, 2)))
    g.node("Range", [g.const(start), last, g.const(step)], kind=EXACT)


def trilu(g):
    x = g.pick(PLAIN, rank=(2, 4))
    g.node("Trilu", [x] + ([g.const(numpy.asarray(g.between(-3, 3)))] if g.chance(0.6) else []), kind=EXACT,
           upper=g.between(0, 1))


def eye_like(g):
    x = g.pick(FLOATS + ("int32", "int64", "uint64"), rank=2)
    g.node("EyeLike", [x], kind=EXACT, k=g.between(-2, 2), dtype=g.one_of((None, CODES["float32"], CODES["int64"])))


def depth_to_space(g):
    x = g.pick(("float32", "float64", "uint8"), rank=4, where=lambda t: all(n % 4 == 0 and n for n in t.dims[1]))
    g.node("DepthToSpace", [x], kind=EXACT, blocksize=2, mode=g.one_of(("DCR", "CRD")))


def space_to_depth(g):
    x = g.pick(("float32", "float64"), rank=4, where=lambda t: all(n % 2 == 0 for n in t.dims[2] + t.dims[3]))
    g.node("SpaceToDepth", [x], kind=EXACT, blocksize=2)


def center_crop_pad(g):
    g.need(g.opset >= 18)
    x = g.pick(FLOATS, rank=(1, 4), where=lambda t: t.rank > 0)
    axes = some_axes(g, x.rank, 1)
    g.node("CenterCropPad", [x, g.const([g.between(1, 6) for _ in axes])], kind=EXACT, axes=axes)


FAMILY = [("Reshape", 4, reshape), ("Reshape (computed)", 3, reshape_like), ("Reshape (counted)", 1, reshape_counted),
          ("Expand", 2, expand), ("Expand (computed)", 2, expand_like), ("Transpose", 4, transpose),
          ("Squeeze", 2, squeeze), ("Unsqueeze", 2, unsqueeze), ("Flatten", 1, flatten), ("Tile", 2, tile),
          ("Slice", 4, slice_), ("Pad", 3, pad), ("Concat", 4, concat), ("Split", 3, split), ("Shape", 2, shape),
          ("ConstantOfShape, Range", 2, of_shape), ("Trilu", 1, trilu), ("EyeLike", 0.7, eye_like),
          ("DepthToSpace", 1, depth_to_space), ("SpaceToDepth", 1, space_to_depth),
          ("CenterCropPad", 0.7, center_crop_pad)]
