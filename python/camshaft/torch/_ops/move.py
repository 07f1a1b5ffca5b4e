"""Operators that move elements: views, joins, parts, padding."""

import math

import torch

from .._translate import Refusal, axis, converts, count, expression, fixed, rank, value_of
from .pointwise import result_type

_END = 2**63 - 1


@converts("clone", "alias", "detach", "lift_fresh_copy", "lift_fresh", "contiguous", "copy.default",
          "view.dtype", "_to_copy", "to.dtype", "native_dropout", "dropout", "type_as", "_conj",
          "resolve_conj", "resolve_neg")
def same_elements(t, node, x, *others, **options):
    """Copies, and changes of the element type."""
    kind = node.target._schema.name.removeprefix("aten::")
    if kind == "view":
        raise Refusal("bytes read as another type have no translation")
    if kind in ("native_dropout", "dropout"):
        if others[1] is not False:
            raise Refusal("dropout while training is random")
        return t.tensor(x) if kind == "dropout" else [t.tensor(x), None]
    if kind == "copy":
        source = t.tensor(others[0], result_type(node))
        return t.add("Expand", source, t.sizes(value_of(node).shape))
    return t.tensor(x, result_type(node))


@converts("view", "_unsafe_view", "reshape", "view_copy", "flatten.using_ints", "squeeze.dim",
          "squeeze.dims", "squeeze.default", "unsqueeze", "squeeze_copy.dims", "unsqueeze_copy",
          "_reshape_copy", "unflatten.int")
def reshape(t, node, x, *_, **__):
    """Whatever has the same elements in the same order."""
    sizes = [expression(size) for size in value_of(node).shape]
    before = [expression(size) for size in value_of(x).shape]
    if sizes == before:
        return t.tensor(x)
    unknown = [at for at, size in enumerate(sizes) if not isinstance(size, int)]
    if len(unknown) == 1:
        sizes[unknown[0]] = -1  # needs no arithmetic
        return t.add("Reshape", t.tensor(x), t.ints(sizes))
    return t.add("Reshape", t.tensor(x), t.sizes(value_of(node).shape))


@converts("permute", "permute_copy")
def permute(t, node, x, dims):
    return t.add("Transpose", t.tensor(x), perm=[axis(x, dim) for dim in dims])


@converts("transpose.int", "t", "transpose_copy.int", "numpy_T", "mT")
def transpose(t, node, x, a=-2, b=-1):
    order = list(range(rank(x)))
    if rank(x) > 1:
        a, b = axis(x, a), axis(x, b)
        order[a], order[b] = order[b], order[a]
    return t.add("Transpose", t.tensor(x), perm=order)


@converts("expand", "expand_copy", "broadcast_to", "expand_as")
def expand(t, node, x, *_, **__):
    return t.add("Expand", t.tensor(x), t.sizes(value_of(node).shape))


def sliced(t, name, at, start, end, step=1):
    return t.add("Slice", name, t.sizes([start]), t.sizes([end]), t.ints([at]), t.ints([step]))


@converts("slice.Tensor", "slice_copy.Tensor")
def slice_(t, node, x, dim=0, start=None, end=None, step=1):
    start, end = 0 if start is None else start, _END if end is None else end
    if expression(start) == 0 and expression(end) == _END and step == 1:
        return t.tensor(x)
    return sliced(t, t.tensor(x), axis(x, dim), start, end, fixed(step))


@converts("select.int", "select_copy.int")
def select(t, node, x, dim, index):
    index = t.add("Squeeze", t.sizes([index]), t.ints([0]))
    return t.add("Gather", t.tensor(x), index, axis=axis(x, dim))


@converts("narrow", "narrow_copy")
def narrow(t, node, x, dim, start, length):
    start, length = value_of(start), value_of(length)
    return sliced(t, t.tensor(x), axis(x, dim), start, start + length)


@converts("cat", "concat", "concatenate")
def cat(t, node, tensors, dim=0):
    dtype = result_type(node)
    # PyTorch joins a tensor of shape (0,) with anything.
    parts = [x for x in tensors if not (rank(x) == 1 and count(x) == 0)]
    return t.add("Concat", *[t.tensor(x, dtype) for x in parts], axis=axis(parts[0], dim))


@converts("stack")
def stack(t, node, tensors, dim=0):
    dtype, at = result_type(node), axis(node, dim)
    parts = [t.add("Unsqueeze", t.tensor(x, dtype), t.ints([at])) for x in tensors]
    return t.add("Concat", *parts, axis=at)


@converts("split_with_sizes", "split.Tensor", "split_with_sizes_copy", "chunk", "split.sizes")
def split(t, node, x, sizes, dim=0):
    parts = value_of(node)
    if len(parts) == 1:
        return [t.tensor(x)]
    at = axis(x, dim)
    return t.add("Split", t.tensor(x), t.sizes([part.shape[at] for part in parts]),
                 outputs=len(parts), axis=at)


@converts("unbind.int", "unbind_copy.int")
def unbind(t, node, x, dim=0):
    at = axis(x, dim)
    return [t.add("Gather", t.tensor(x), t.constant(i), axis=at) for i in range(len(value_of(node)))]


@converts("constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d",
          "replication_pad1d", "replication_pad2d", "replication_pad3d", "pad")
def pad(t, node, x, sizes, value=0, mode=None):
    kind = node.target._schema.name.removeprefix("aten::")
    if kind == "pad":
        kind, value, mode = value or "constant", mode or 0, None
    mode = "reflect" if "reflect" in kind else "edge" if "replic" in kind else "constant"
    before, after = [0] * rank(x), [0] * rank(x)
    for i in range(len(sizes) // 2):  # the last dimension comes first
        before[-1 - i], after[-1 - i] = sizes[2 * i], sizes[2 * i + 1]
    value = t.tensor(value, result_type(node)) if mode == "constant" else None
    return t.add("Pad", t.tensor(x), t.sizes(before + after), value, mode=mode)


@converts("repeat", "tile")
def repeat(t, node, x, times):
    name, more = t.tensor(x), len(times) - rank(x)
    if more > 0:
        name = t.add("Unsqueeze", name, t.ints(range(more)))
    elif more < 0:
        times = [1] * -more + list(times)
    return t.add("Tile", name, t.sizes(times))


@converts("flip")
def flip(t, node, x, dims):
    axes = [axis(x, dim) for dim in dims]
    if not axes:
        return t.tensor(x)
    return t.add("Slice", t.tensor(x), t.ints([-1] * len(axes)), t.ints([-_END] * len(axes)),
                 t.ints(axes), t.ints([-1] * len(axes)))


@converts("roll")
def roll(t, node, x, shifts, dims=()):
    name = t.tensor(x)
    if not dims:
        raise Refusal("a roll over all dimensions has no translation")
    for shift, dim in zip(shifts, dims):
        at = axis(x, dim)
        cut = -fixed(shift) % fixed(value_of(x).shape[at], "the size that is rolled")
        if cut:
            parts = sliced(t, name, at, cut, _END), sliced(t, name, at, 0, cut)
            name = t.add("Concat", *parts, axis=at)
    return name


@converts("pixel_shuffle", "pixel_unshuffle")
def pixel_shuffle(t, node, x, factor):
    if rank(x) != 4:
        raise Refusal("only batches of pictures are shuffled")
    if "unshuffle" not in str(node.target):
        return t.add("DepthToSpace", t.tensor(x), blocksize=factor, mode="CRD")
    batch, channels, height, width = value_of(x).shape
    inner = t.add("Reshape", t.tensor(x), t.sizes(
        [batch, channels, height // factor, factor, width // factor, factor]))
    moved = t.add("Transpose", inner, perm=[0, 1, 3, 5, 2, 4])
    return t.add("Reshape", moved, t.sizes(value_of(node).shape))


@converts("slice_scatter")
def slice_scatter(t, node, x, source, dim=0, start=None, end=None, step=1):
    """What lies before, the part, and what lies behind it, joined."""
    at = axis(x, dim)
    size = fixed(value_of(x).shape[at], "the size that is written into")
    start, end, _ = slice(start, end).indices(size)
    if step != 1:
        raise Refusal("writing with a stride has no translation")
    name = t.tensor(x)
    parts = [t.tensor(source, result_type(node))]
    if start > 0:
        parts.insert(0, sliced(t, name, at, 0, start))
    if end < size:
        parts.append(sliced(t, name, at, max(start, end), size))
    return parts[0] if len(parts) == 1 else t.add("Concat", *parts, axis=at)


@converts("select_scatter")
def select_scatter(t, node, x, source, dim, index):
    at = axis(x, dim)
    size = fixed(value_of(x).shape[at], "the size that is written into")
    start = fixed(index) % size
    part = t.add("Unsqueeze", t.tensor(source, result_type(node)), t.ints([at]))
    parts = [part]
    if start > 0:
        parts.insert(0, sliced(t, t.tensor(x), at, 0, start))
    if start + 1 < size:
        parts.append(sliced(t, t.tensor(x), at, start + 1, size))
    return parts[0] if len(parts) == 1 else t.add("Concat", *parts, axis=at)


@converts("tril", "triu")
def triangle(t, node, x, diagonal=0):
    upper = int("triu" in str(node.target))
    return t.add("Trilu", t.tensor(x), t.tensor(diagonal, torch.int64), upper=upper)


@converts("diagonal", "diagonal_copy")
def diagonal(t, node, x, offset=0, dim1=0, dim2=1):
    """The elements at (i, i) of the two dimensions, gathered from their product."""
    first, second = axis(x, dim1), axis(x, dim2)
    sizes = [fixed(value_of(x).shape[at], "a size") for at in (first, second)]
    rest = [at for at in range(rank(x)) if at not in (first, second)]
    number = fixed(value_of(node).shape[-1], "the diagonal's size")
    row, column = max(-offset, 0), max(offset, 0)
    moved = t.add("Transpose", t.tensor(x), perm=[*rest, first, second])
    flat = t.add("Reshape", moved,
                 t.sizes([value_of(x).shape[at] for at in rest] + [sizes[0] * sizes[1]]))
    indices = [(row + i) * sizes[1] + column + i for i in range(number)]
    return t.add("Gather", flat, t.ints(indices), axis=len(rest))


@converts("as_strided", "as_strided_copy")
def as_strided(t, node, x, size, stride, offset=None):
    """Elements by where they lie in memory: those of a dense tensor, wherever it has them."""
    tensor = value_of(x)
    shape = [fixed(part, "a size of as_strided") for part in tensor.shape]
    size, stride = [fixed(part) for part in size], [fixed(part) for part in stride]
    places = torch.zeros(shape, dtype=torch.int64)
    for at, step in enumerate(tensor.stride()):
        steps = torch.arange(shape[at]) * fixed(step)
        places += steps.reshape([-1] + [1] * (len(shape) - at - 1))
    logical = {place: i for i, place in enumerate(places.flatten().tolist())}
    start = fixed(offset or 0) - fixed(tensor.storage_offset())
    wanted = torch.full(size, start, dtype=torch.int64)
    for at, step in enumerate(stride):
        wanted += (torch.arange(size[at]) * step).reshape([-1] + [1] * (len(size) - at - 1))
    indices = [logical.get(place) for place in wanted.flatten().tolist()]
    if None in indices:
        raise Refusal("as_strided reads memory that is not the tensor's")
    if indices == list(range(math.prod(shape))):
        return t.add("Reshape", t.tensor(x), t.ints(size))
    flat = t.add("Reshape", t.tensor(x), t.ints([-1]))
    return t.add("Reshape", t.add("Gather", flat, t.ints(indices), axis=0), t.ints(size))


@converts("unfold")
def unfold(t, node, x, dim, size, step):
    """Windows along one dimension, the last of the result."""
    at = axis(x, dim)
    windows = fixed(value_of(node).shape[at], "the number of windows")
    indices = [[first * step + i for i in range(size)] for first in range(windows)]
    gathered = t.add("Gather", t.tensor(x), t.constant(indices), axis=at)
    order = [i for i in range(rank(x) + 1) if i != at + 1] + [at + 1]
    return t.add("Transpose", gathered, perm=order)
