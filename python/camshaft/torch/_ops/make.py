"""Operators that make tensors."""

import torch

from .._translate import Refusal, converts, expression, value_of
from .pointwise import result_type


def filled(t, node, value):
    dtype = result_type(node)
    return t.add("Expand", t.tensor(value, dtype), t.sizes(value_of(node).shape))


@converts("full", "full_like", "new_full", "fill.Scalar", "fill.Tensor")
def full(t, node, *arguments, **_):
    return filled(t, node, arguments[2] if "new_full" in str(node.target) else arguments[1])


@converts("zeros", "zeros_like", "new_zeros", "empty.memory_format", "empty_like", "new_empty",
          "empty_strided", "new_empty_strided", "zero")
def zeros(t, node, *_, **__):
    return filled(t, node, 0)


@converts("ones", "ones_like", "new_ones")
def ones(t, node, *_, **__):
    return filled(t, node, 1)


@converts("scalar_tensor")
def scalar_tensor(t, node, value, **_):
    return t.tensor(value, result_type(node))


@converts("arange", "arange.start", "arange.start_step")
def arange(t, node, *numbers, **_):
    dtype = result_type(node)
    start, end, step = {1: (0, *numbers, 1), 2: (*numbers, 1), 3: numbers}[len(numbers)]
    if dtype.is_floating_point and any(isinstance(number, float) for number in (start, end, step)):
        # As many as PyTorch says, each computed from its index.
        index = t.add("Range", t.constant(0), _scalar(t, value_of(node).shape[0]), t.constant(1))
        scaled = t.add("Mul", t.cast(index, torch.int64, dtype), t.tensor(step, dtype))
        return t.add("Add", scaled, t.tensor(start, dtype))
    numbers = [_scalar(t, number) for number in (start, end, step)]
    return t.cast(t.add("Range", *numbers), torch.int64, dtype)


def _scalar(t, number):
    if isinstance(value_of(number), float):
        number = int(number)
    size = expression(number)
    if isinstance(size, int):
        return t.constant(size)
    return t.add("Squeeze", t.sizes([number]), t.ints([0]))


@converts("eye", "eye.m")
def eye(t, node, *_, **__):
    sizes = [expression(size) for size in value_of(node).shape]
    if not all(isinstance(size, int) for size in sizes):
        raise Refusal("an identity of a size that only a run knows has no translation")
    return t.constant(torch.eye(*sizes).tolist(), result_type(node))
