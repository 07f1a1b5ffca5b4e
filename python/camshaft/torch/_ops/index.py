"""Operators that read and write by index."""

import torch

from .._translate import Refusal, axis, converts, fixed, rank, value_of
from .pointwise import result_type


@converts("embedding")
def embedding(t, node, weight, indices, *_):
    return t.add("Gather", t.tensor(weight), t.tensor(indices), axis=0)


@converts("index_select")
def index_select(t, node, x, dim, index):
    return t.add("Gather", t.tensor(x), t.tensor(index), axis=axis(x, dim))


@converts("gather")
def gather(t, node, x, dim, index, sparse_grad=False):
    if rank(x) == 0:
        raise Refusal("gathering from one number has no translation")
    return t.add("GatherElements", t.tensor(x), t.tensor(index, torch.int64), axis=axis(x, dim))


def _indices(indices):
    """(the dimensions that are indexed, the tensors), none of them a mask."""
    given = [(at, index) for at, index in enumerate(indices) if index is not None]
    for _, index in given:
        if value_of(index).dtype in (torch.bool, torch.uint8):
            raise Refusal("how many elements a mask chooses follows from data")
    return [at for at, _ in given], [index for _, index in given]


def _stacked(t, tensors):
    """Tuples of indices along a new last dimension, and their rank without it."""
    shape = torch.broadcast_shapes(*[value_of(index).shape for index in tensors])
    parts = []
    for index in tensors:
        name = t.add("Expand", t.tensor(index, torch.int64), t.sizes(shape))
        parts.append(t.add("Unsqueeze", name, t.ints([len(shape)])))
    name = parts[0] if len(parts) == 1 else t.add("Concat", *parts, axis=len(shape))
    return name, len(shape)


@converts("index.Tensor", "_unsafe_index.Tensor")
def index_(t, node, x, indices):
    dims, tensors = _indices(indices)
    if len(dims) == 1:
        return t.add("Gather", t.tensor(x), t.tensor(tensors[0]), axis=dims[0])
    rest = [at for at in range(rank(x)) if at not in dims]
    name = t.tensor(x)
    if dims != list(range(len(dims))):
        name = t.add("Transpose", name, perm=dims + rest)
    tuples, tuple_rank = _stacked(t, tensors)
    result = t.add("GatherND", name, tuples)
    before = dims[0]
    if dims != list(range(before, before + len(dims))) or before == 0:
        return result  # what is indexed comes first
    order = [*range(tuple_rank, tuple_rank + before), *range(tuple_rank),
             *range(tuple_rank + before, tuple_rank + len(rest))]
    return t.add("Transpose", result, perm=order)


@converts("index_put", "_unsafe_index_put")
def index_put(t, node, x, indices, values, accumulate=False):
    if len(indices) == 1 and indices[0] is not None and value_of(indices[0]).dtype == torch.bool:
        return _masked_put(t, node, x, indices[0], values, accumulate)
    dims, tensors = _indices(indices)
    if dims != list(range(len(dims))):
        raise Refusal("writing by indices of later dimensions alone has no translation")
    tuples, _ = _stacked(t, tensors)
    shape = [*torch.broadcast_shapes(*[value_of(index).shape for index in tensors]),
             *value_of(x).shape[len(dims):]]
    updates = t.add("Expand", t.tensor(values, result_type(node)), t.sizes(shape))
    return t.add("ScatterND", t.tensor(x), tuples, updates, reduction="add" if accumulate else None)


def _masked_put(t, node, x, mask, values, accumulate):
    if value_of(values).numel() != 1 or accumulate:
        raise Refusal("how many elements a mask chooses follows from data")
    name = t.tensor(mask)
    if more := rank(x) - rank(mask):
        name = t.add("Unsqueeze", name, t.ints(range(rank(mask), rank(mask) + more)))
    value = t.add("Reshape", t.tensor(values, result_type(node)), t.ints([1]))
    return t.add("Where", name, value, t.tensor(x))


@converts("scatter.src", "scatter.value", "scatter_add", "scatter.reduce", "scatter_reduce.two")
def scatter(t, node, x, dim, index, source, reduce=None, include_self=True):
    kind = str(node.target)
    reductions = {None: None, "add": "add", "sum": "add", "multiply": "mul", "prod": "mul",
                  "amax": "max", "amin": "min"}
    reduce = "add" if "scatter_add" in kind else reduce
    if reduce not in reductions or not include_self:
        raise Refusal(f"scatter with reduction {reduce} has no translation")
    shape = value_of(index).shape
    if isinstance(source, torch.fx.Node) and value_of(source).dim():
        updates = t.tensor(source)
        if list(value_of(source).shape) != list(shape):
            ends, axes = t.sizes(shape), t.ints(range(len(shape)))
            updates = t.add("Slice", updates, t.ints([0] * len(shape)), ends, axes)
    else:
        updates = t.add("Expand", t.tensor(source, result_type(node)), t.sizes(shape))
    return t.add("ScatterElements", t.tensor(x), t.tensor(index, torch.int64), updates,
                 axis=axis(x, dim), reduction=reductions[reduce])


@converts("one_hot")
def one_hot(t, node, x, classes=-1):
    number = fixed(classes)
    if number < 0:
        raise Refusal("the number of classes follows from data")
    return t.add("OneHot", t.tensor(x), t.constant(number), t.ints([0, 1]), axis=-1)
