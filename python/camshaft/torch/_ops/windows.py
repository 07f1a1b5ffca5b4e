"""Pooling, resizing and sampling of pictures."""

import torch

from .._translate import Refusal, converts, fixed, rank, value_of
from .pointwise import result_type


def _each(values, spatial):
    values = [values] if isinstance(values, int) else list(values)
    return values * spatial if len(values) == 1 else values


def _batched(t, x, spatial):
    if rank(x) != spatial + 2:
        raise Refusal("pooling of one picture without a batch has no translation")
    return t.tensor(x)


@converts("max_pool1d", "max_pool2d", "max_pool3d", "max_pool2d_with_indices",
          "max_pool3d_with_indices")
def max_pool(t, node, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
    spatial = rank(x) - 2
    result = t.add("MaxPool", _batched(t, x, spatial), kernel_shape=_each(kernel, spatial),
                   strides=_each(stride or kernel, spatial), pads=_each(padding, spatial) * 2,
                   dilations=_each(dilation, spatial), ceil_mode=int(ceil_mode))
    return [result, None] if "with_indices" in str(node.target) else result


@converts("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(t, node, x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True,
             divisor_override=None):
    if divisor_override is not None:
        raise Refusal("an average with a divisor of its own has no translation")
    spatial = rank(x) - 2
    return t.add("AveragePool", _batched(t, x, spatial), kernel_shape=_each(kernel, spatial),
                 strides=_each(stride or kernel, spatial), pads=_each(padding, spatial) * 2,
                 ceil_mode=int(ceil_mode), count_include_pad=int(count_include_pad))


def _even_windows(x, sizes):
    """The window of an adaptive pool whose windows are all alike."""
    before = [fixed(size, "a pooled size") for size in value_of(x).shape[-len(sizes):]]
    windows = [old // new for old, new in zip(before, sizes)]
    return windows if all(old % new == 0 for old, new in zip(before, sizes)) else None


@converts("adaptive_avg_pool1d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d",
          "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def adaptive_avg_pool(t, node, x, sizes):
    """Windows that are alike are a pool; others are products with a matrix for each dimension."""
    sizes = [fixed(size) for size in sizes]
    spatial = len(sizes)
    if all(size == 1 for size in sizes):
        return t.add("ReduceMean", t.tensor(x), t.ints(range(-spatial, 0)), keepdims=1)
    if (windows := _even_windows(x, sizes)) and rank(x) == spatial + 2:
        return t.add("AveragePool", t.tensor(x), kernel_shape=windows, strides=windows)
    name = t.tensor(x)
    for i, new in enumerate(sizes):
        at = rank(x) - spatial + i
        old = fixed(value_of(x).shape[at], "a pooled size")
        matrix = torch.zeros(old, new, dtype=torch.float64)
        for j in range(new):
            first, last = j * old // new, -(-(j + 1) * old // new)
            matrix[first:last, j] = 1 / (last - first)
        order = [dim for dim in range(rank(x)) if dim != at] + [at]
        back = [order.index(dim) for dim in range(rank(x))]
        averages = t.constant(matrix.tolist(), result_type(node))
        name = t.add("MatMul", t.add("Transpose", name, perm=order), averages)
        name = t.add("Transpose", name, perm=back)
    return name


@converts("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(t, node, x, sizes):
    sizes = [fixed(size) for size in sizes]
    windows = _even_windows(x, sizes)
    if not windows:
        raise Refusal("a maximum over windows of different sizes has no translation")
    name = _batched(t, x, len(sizes))
    return [t.add("MaxPool", name, kernel_shape=windows, strides=windows), None]


def _resized(t, node, x, scales, **attributes):
    """By the scales where they were given: PyTorch samples by them, and by the sizes otherwise."""
    if scales and all(scale is not None for scale in scales):
        factors = t.constant([1.0, 1.0, *map(float, scales)], torch.float32)
        spatial = [fixed(size, "a resized size") for size in value_of(x).shape[2:]]
        wanted = [fixed(size, "a resized size") for size in value_of(node).shape[2:]]
        if wanted == [int(size * scale) for size, scale in zip(spatial, scales)]:
            return t.add("Resize", t.tensor(x), None, factors, **attributes)
    return t.add("Resize", t.tensor(x), None, None, t.sizes(value_of(node).shape), **attributes)


@converts("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_nearest1d.vec",
          "upsample_nearest2d.vec", "upsample_nearest3d.vec")
def upsample_nearest(t, node, x, size=None, *scales):
    return _resized(t, node, x, _scales(scales), mode="nearest", nearest_mode="floor",
                    coordinate_transformation_mode="asymmetric")


@converts("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
          "upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_trilinear3d.vec",
          "upsample_bicubic2d.vec")
def upsample_linear(t, node, x, size, align_corners, *scales):
    mode = "align_corners" if align_corners else "pytorch_half_pixel"
    kind = "cubic" if "bicubic" in str(node.target) else "linear"
    scales = () if align_corners else _scales(scales)
    return _resized(t, node, x, scales, mode=kind, coordinate_transformation_mode=mode,
                    cubic_coeff_a=-0.75 if kind == "cubic" else None)


def _scales(given):
    """Of the forms ``(a, b)`` and ``([a, b],)``."""
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        return list(given[0])
    return [scale for scale in given if scale is not None]


@converts("grid_sampler_2d", "grid_sampler", "grid_sampler_3d")
def grid_sampler(t, node, x, grid, interpolation, padding, align_corners):
    modes, paddings = ["linear", "nearest", "cubic"], ["zeros", "border", "reflection"]
    return t.add("GridSample", t.tensor(x), t.tensor(grid), mode=modes[interpolation],
                 padding_mode=paddings[padding], align_corners=int(align_corners))
