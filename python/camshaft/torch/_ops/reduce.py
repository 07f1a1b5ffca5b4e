"""Operators that reduce, sort and sum along dimensions."""

import torch

from .._translate import Refusal, axis, converts, expression, rank, value_of
from .pointwise import result_type


def _axes(x, dims):
    """None stands for all of them."""
    dims = [dims] if isinstance(dims, int) else list(dims or [])
    return [axis(x, dim) for dim in dims] or list(range(rank(x)))


def reduced(t, op, name, axes, keepdim):
    return t.add(op, name, t.ints(axes), keepdims=int(keepdim)) if axes else name


def _reduction(op):
    def convert(t, node, x, dim=None, keepdim=False, dtype=None):
        return reduced(t, op, t.tensor(x, result_type(node)), _axes(x, dim), keepdim)

    return convert


for _name, _op in {"sum.dim_IntList": "ReduceSum", "sum.default": "ReduceSum", "mean.dim": "ReduceMean",
                   "mean.default": "ReduceMean", "amax": "ReduceMax", "amin": "ReduceMin",
                   "max.default": "ReduceMax", "min.default": "ReduceMin",
                   "prod.dim_int": "ReduceProd", "prod.default": "ReduceProd",
                   "logsumexp": "ReduceLogSumExp"}.items():
    converts(_name)(_reduction(_op))


@converts("any.dim", "any.dims", "any.default", "all.dim", "all.dims", "all.default")
def any_or_all(t, node, x, dim=None, keepdim=False):
    op = "ReduceMax" if "any" in str(node.target) else "ReduceMin"
    is_set = t.cast(t.tensor(x, torch.bool), torch.bool, torch.uint8)
    return t.cast(reduced(t, op, is_set, _axes(x, dim), keepdim), torch.uint8, torch.bool)


@converts("argmax", "argmin")
def arg_extreme(t, node, x, dim=None, keepdim=False):
    op = "ArgMax" if "argmax" in str(node.target) else "ArgMin"
    if dim is None:
        if keepdim:
            raise Refusal("an index over all dimensions that keeps them has no translation")
        flat = t.add("Reshape", t.tensor(x), t.ints([-1]))
        return t.add(op, flat, axis=0, keepdims=0)
    return t.add(op, t.tensor(x), axis=axis(x, dim), keepdims=int(keepdim))


@converts("max.dim", "min.dim")
def extreme_and_index(t, node, x, dim, keepdim=False):
    op = "Max" if "max" in str(node.target) else "Min"
    name, at = t.tensor(x), axis(x, dim)
    return [reduced(t, f"Reduce{op}", name, [at], keepdim),
            t.add(f"Arg{op}", name, axis=at, keepdims=int(keepdim))]


def variance(t, node, x, dim, correction, keepdim):
    """(variance, mean)"""
    dtype = value_of(x).dtype
    name, axes = t.tensor(x), _axes(x, dim)
    mean = reduced(t, "ReduceMean", name, axes, True)
    distance = t.add("Sub", name, mean)
    squares = t.add("Mul", distance, distance)
    correction = 1 if correction is None else correction
    result = reduced(t, "ReduceMean", squares, axes, keepdim)
    if correction:
        sizes = [expression(value_of(x).shape[at]) for at in axes]
        if not all(isinstance(size, int) for size in sizes):
            raise Refusal("a corrected variance over sizes of the run has no translation")
        number = 1
        for size in sizes:
            number *= size
        if number <= correction:
            raise Refusal("a corrected variance of so few numbers is not a number")
        result = t.add("Mul", result, t.constant(number / (number - correction), dtype))
    return result, mean if keepdim else t.add("Squeeze", mean, t.ints(axes))


@converts("var.correction", "var.dim", "std.correction")
def var_or_std(t, node, x, dim=None, *, correction=None, keepdim=False):
    result = variance(t, node, x, dim, correction, keepdim)[0]
    return t.add("Sqrt", result) if "std" in str(node.target) else result


@converts("var_mean.correction")
def var_mean(t, node, x, dim=None, *, correction=None, keepdim=False):
    return list(variance(t, node, x, dim, correction, keepdim))


@converts("linalg_vector_norm")
def vector_norm(t, node, x, order=2, dim=None, keepdim=False, dtype=None):
    name, axes = t.tensor(x, result_type(node)), _axes(x, dim)
    if order in (1, 2):
        return reduced(t, f"ReduceL{int(order)}", name, axes, keepdim)
    if order in (float("inf"), float("-inf")):
        op = "ReduceMax" if order > 0 else "ReduceMin"
        return reduced(t, op, t.add("Abs", name), axes, keepdim)
    raise Refusal(f"a norm of order {order} has no translation")


@converts("cumsum")
def cumsum(t, node, x, dim, dtype=None):
    return t.add("CumSum", t.tensor(x, result_type(node)), t.constant(axis(x, dim)))


@converts("topk")
def topk(t, node, x, k, dim=-1, largest=True, sorted=True):  # noqa: A002 - PyTorch's name
    return t.add("TopK", t.tensor(x), t.sizes([k]), outputs=2, axis=axis(x, dim),
                 largest=int(largest), sorted=1)


@converts("sort")
def sort(t, node, x, dim=-1, descending=False):
    size = value_of(x).shape[dim]
    return t.add("TopK", t.tensor(x), t.sizes([size]), outputs=2, axis=axis(x, dim),
                 largest=int(descending), sorted=1)
