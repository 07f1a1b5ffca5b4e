"""Converters as torch-tensorrt's: each adds the layers of one operator, and numpy says what it gives.

They take x [batch, 4] or image [batch, 2, 6, 6], whose batches are known at run time only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import tensorrt as trt

Array = np.ndarray
KERNEL = np.linspace(-1, 1, 3 * 2 * 3 * 3, dtype=np.float32).reshape(3, 2, 3, 3)
BIAS = np.array([0.5, 0, -0.5], np.float32)
SCALE, SHIFT = np.array([2, 0.5], np.float32), np.array([-1, 1], np.float32)
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3) / 8


class Converter(NamedTuple):
    target: str
    input: str  # "x" or "image"
    convert: Callable[[trt.INetworkDefinition, trt.ITensor], trt.ITensor]
    compute: Callable[[Array], Array]


def constant(net: trt.INetworkDefinition, value: Array) -> trt.ITensor:
    return net.add_constant(value.shape, trt.Weights(np.ascontiguousarray(value))).get_output(0)


def sizes_of(net: trt.INetworkDefinition, x: trt.ITensor) -> list[trt.ITensor]:
    """Every size of a tensor, each of rank 1, as shapes are put together from them."""
    shape = net.add_cast(net.add_shape(x).get_output(0), trt.int32).get_output(0)
    return [net.add_slice(shape, start=(i,), shape=(1,), stride=(1,)).get_output(0) for i in range(len(x.shape))]


def activation(kind: trt.ActivationType, alpha: float = 0,
               beta: float = 0) -> Callable[[trt.INetworkDefinition, trt.ITensor], trt.ITensor]:
    def convert(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
        layer = net.add_activation(x, kind)
        layer.alpha, layer.beta = alpha, beta
        return layer.get_output(0)

    return convert


def unary(kind: trt.UnaryOperation) -> Callable[[trt.INetworkDefinition, trt.ITensor], trt.ITensor]:
    return lambda net, x: net.add_unary(x, kind).get_output(0)


def broadcast(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    """x as [batch, 3, 4]: a reshape to sizes of a tensor, and strides of zero."""
    batch, width = sizes_of(net, x)
    shuffle = net.add_shuffle(x)
    shape = net.add_concatenation([batch, constant(net, np.array([1], np.int32)), width])
    shuffle.set_input(1, shape.get_output(0))
    wide = net.add_concatenation([batch, constant(net, np.array([3], np.int32)), width])
    wide.axis = 0
    layer = net.add_slice(shuffle.get_output(0), start=(0, 0, 0), shape=(), stride=(1, 0, 1))
    layer.set_input(2, wide.get_output(0))
    return layer.get_output(0)


def padded(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    layer = net.add_slice(image, start=(0, 0, -1, -2), shape=(), stride=(1, 1, 1, 1))
    grown = net.add_elementwise(net.add_cast(net.add_shape(image).get_output(0), trt.int32).get_output(0),
                                constant(net, np.array([0, 0, 2, 4], np.int32)), trt.ElementWiseOperation.SUM)
    layer.set_input(2, grown.get_output(0))
    layer.mode = trt.SampleMode.FILL
    layer.set_input(4, constant(net, np.array(7, np.float32)))
    return layer.get_output(0)


def convolution(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    layer = net.add_convolution_nd(image, num_output_maps=3, kernel_shape=(3, 3), kernel=trt.Weights(KERNEL),
                                   bias=trt.Weights(BIAS))
    layer.stride_nd, layer.padding_nd, layer.dilation_nd, layer.num_groups = (1, 1), (1, 1), (1, 1), 1
    return layer.get_output(0)


def convolved(image: Array) -> Array:
    grown = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(grown, (3, 3), (2, 3))
    return np.asarray(np.einsum("bchwij,mcij->bmhw", windows, KERNEL) + BIAS[:, None, None])


def deconvolution(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    layer = net.add_deconvolution_nd(image, 2, (1, 1), trt.Weights(KERNEL[:2, :, :1, :1].copy()))
    layer.stride_nd, layer.padding_nd, layer.num_groups = (1, 1), (0, 0), 1
    return layer.get_output(0)


def pooled(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    layer = net.add_pooling_nd(image, trt.PoolingType.AVERAGE, window_size=(2, 2))
    layer.stride_nd, layer.padding_nd, layer.average_count_excludes_padding = (2, 2), (0, 0), False
    layer.padding_mode = trt.PaddingMode.EXPLICIT_ROUND_UP
    return layer.get_output(0)


def resized(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    layer = net.add_resize(image)
    layer.scales = [1, 1, 2, 2]
    layer.resize_mode = trt.InterpolationMode.NEAREST
    layer.coordinate_transformation = trt.ResizeCoordinateTransformation.ASYMMETRIC
    layer.nearest_rounding = trt.ResizeRoundMode.FLOOR
    return layer.get_output(0)


def sampled(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    """The centres of the pixels, in the coordinates of a grid: the image again."""
    line = (np.arange(6, dtype=np.float32) * 2 + 1) / 6 - 1
    grid = constant(net, np.stack(np.meshgrid(line, line), -1)[None])
    sizes = net.add_concatenation([sizes_of(net, image)[0], constant(net, np.array([6, 6, 2], np.int32))])
    wide = net.add_slice(grid, start=(0, 0, 0, 0), shape=(), stride=(0, 1, 1, 1))
    wide.set_input(2, sizes.get_output(0))
    layer = net.add_grid_sample(image, wide.get_output(0))
    layer.interpolation_mode, layer.sample_mode = trt.InterpolationMode.LINEAR, trt.SampleMode.CLAMP
    layer.align_corners = False
    return layer.get_output(0)


def normalized(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    """Instance norm: an axis of its own for each channel."""
    scale, bias = (constant(net, value[None, :, None, None]) for value in (SCALE, SHIFT))
    layer = net.add_normalization(image, scale, bias, 1 << 2 | 1 << 3)
    layer.epsilon = 1e-5
    return layer.get_output(0)


def normalized_by_numpy(image: Array) -> Array:
    mean, var = image.mean((2, 3), keepdims=True), image.var((2, 3), keepdims=True)
    return np.asarray((image - mean) / np.sqrt(var + 1e-5) * SCALE[:, None, None] + SHIFT[:, None, None])


def scaled(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    power = trt.Weights(np.ones(2, np.float32))
    return net.add_scale_nd(image, trt.ScaleMode.CHANNEL, trt.Weights(SHIFT), trt.Weights(SCALE), power,
                            1).get_output(0)


def quantized(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    scale = constant(net, np.array(1 / 8, np.float32))
    layer = net.add_quantize(x, scale, trt.int8)
    return net.add_dequantize(layer.get_output(0), scale, trt.float32).get_output(0)


def counted(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    """The number of each row, [batch], as floats."""
    layer = net.add_fill((1,), trt.FillOperation.LINSPACE, trt.float32)
    layer.set_input(0, net.add_cast(sizes_of(net, x)[0], trt.int64).get_output(0))
    layer.set_input(1, constant(net, np.array(0, np.float32)))
    layer.set_input(2, constant(net, np.array([1], np.float32)))
    return layer.get_output(0)


def gathered(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    """The greatest of each row, by its index."""
    top = net.add_topk(x, trt.TopKOperation.MAX, 1, 1 << 1)
    layer = net.add_gather_v2(x, top.get_output(1), trt.GatherMode.ELEMENT)
    layer.axis = 1
    return layer.get_output(0)


def scattered(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    """Zero where each row is greatest."""
    top = net.add_topk(x, trt.TopKOperation.MAX, 1, 1 << 1)
    zero = net.add_elementwise(top.get_output(0), top.get_output(0), trt.ElementWiseOperation.SUB)
    layer = net.add_scatter(x, top.get_output(1), zero.get_output(0), trt.ScatterMode.ELEMENT)
    layer.axis = 1
    return layer.get_output(0)


def selected(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    zero = constant(net, np.zeros((1, 1), np.float32))
    positive = net.add_elementwise(x, zero, trt.ElementWiseOperation.GREATER).get_output(0)
    opposite = net.add_unary(positive, trt.UnaryOperation.NOT).get_output(0)
    return net.add_select(opposite, zero, x).get_output(0)


def conditional(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    """Twice x where the batch is greater than 2, else x."""
    two = constant(net, np.array([2], np.int32))
    is_greater = net.add_elementwise(sizes_of(net, x)[0], two, trt.ElementWiseOperation.GREATER).get_output(0)
    shuffle = net.add_shuffle(is_greater)
    shuffle.reshape_dims = ()
    block = net.add_if_conditional()
    block.set_condition(shuffle.get_output(0))
    inside = block.add_input(x).get_output(0)
    twice = net.add_elementwise(inside, inside, trt.ElementWiseOperation.SUM).get_output(0)
    return block.add_output(twice, net.add_identity(inside).get_output(0)).get_output(0)


def looped(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    """Running sums over the columns, as cumsum: an iterator, a recurrence, and all of its values."""
    loop = net.add_loop()
    loop.add_trip_limit(constant(net, np.array(4, np.int32)), trt.TripLimit.COUNT)
    column = loop.add_iterator(x, 1, False).get_output(0)
    first = net.add_slice(x, start=(0, 0), shape=(), stride=(1, 1))
    column_sizes = net.add_concatenation([sizes_of(net, x)[0], constant(net, np.array([1], np.int32))])
    first.set_input(2, column_sizes.get_output(0))
    start = net.add_shuffle(first.get_output(0))
    start.reshape_dims = (-1,)
    zero = net.add_elementwise(start.get_output(0), start.get_output(0), trt.ElementWiseOperation.SUB)
    total = loop.add_recurrence(zero.get_output(0))
    added = net.add_elementwise(total.get_output(0), column, trt.ElementWiseOperation.SUM).get_output(0)
    total.set_input(1, added)
    values = loop.add_loop_output(added, trt.LoopOutput.CONCATENATE, 1)
    values.set_input(1, constant(net, np.array(4, np.int32)))
    return values.get_output(0)


def attended(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    """Two heads of six rows that attend to those before them, and to themselves."""
    layer = net.add_attention_v2(image, image, image, trt.AttentionNormalizationOp.SOFTMAX,
                                 trt.CausalMaskKind.LOWER_RIGHT)
    layer.decomposable = True
    return layer.get_output(0)


def attended_by_numpy(image: Array) -> Array:
    scores = np.where(np.tril(np.ones((6, 6), bool)), image @ image.swapaxes(2, 3), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True) @ image)


def softmax_by_numpy(x: Array) -> Array:
    exponents = np.exp(x - x.max(1, keepdims=True))
    return np.asarray(exponents / exponents.sum(1, keepdims=True))


def softmax(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    layer = net.add_softmax(x)
    layer.axes = 1 << 1
    return layer.get_output(0)


def turned(net: trt.INetworkDefinition, image: trt.ITensor) -> trt.ITensor:
    layer = net.add_shuffle(image)
    layer.first_transpose = trt.Permutation([0, 2, 3, 1])
    layer.reshape_dims = (0, 0, -1)
    return layer.get_output(0)


def unsqueezed(net: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    return net.add_unsqueeze(x, constant(net, np.array([1], np.int64))).get_output(0)


CONVERTERS = [
    Converter("relu", "x", activation(trt.ActivationType.RELU), lambda x: np.maximum(x, 0)),
    Converter("hardtanh", "x", activation(trt.ActivationType.CLIP, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
    Converter("leaky_relu", "x", activation(trt.ActivationType.LEAKY_RELU, 0.25), lambda x: np.where(x < 0, x / 4, x)),
    Converter("elu", "x", activation(trt.ActivationType.ELU, 1), lambda x: np.where(x < 0, np.expm1(x), x)),
    Converter("softplus", "x", activation(trt.ActivationType.SOFTPLUS, 1, 1), lambda x: np.log1p(np.exp(x))),
    Converter("gelu", "x", activation(trt.ActivationType.GELU_ERF),
              lambda x: x * np.vectorize(lambda v: (1 + math.erf(v / math.sqrt(2))) / 2)(x)),
    Converter("abs", "x", unary(trt.UnaryOperation.ABS), np.abs),
    Converter("floor", "x", unary(trt.UnaryOperation.FLOOR), np.floor),
    Converter("sign", "x", unary(trt.UnaryOperation.SIGN), np.sign),
    Converter("prelu", "x", lambda net, x: net.add_parametric_relu(
        x, constant(net, np.full((1, 4), 0.5, np.float32))).get_output(0), lambda x: np.where(x < 0, x / 2, x)),
    Converter("mm", "x", lambda net, x: net.add_matrix_multiply(
        x, trt.MatrixOperation.NONE, constant(net, MATRIX), trt.MatrixOperation.NONE).get_output(0),
        lambda x: x @ MATRIX),
    Converter("einsum", "x", lambda net, x: net.add_einsum([x, constant(net, MATRIX)], "bi,ij->bj").get_output(0),
              lambda x: x @ MATRIX),
    Converter("floor_div", "x", lambda net, x: net.add_elementwise(
        x, constant(net, np.full((1, 1), 0.3, np.float32)), trt.ElementWiseOperation.FLOOR_DIV).get_output(0),
        lambda x: np.floor_divide(x, np.float32(0.3))),
    Converter("softmax", "x", softmax, softmax_by_numpy),
    Converter("mean", "x", lambda net, x: net.add_reduce(
        x, trt.ReduceOperation.AVG, axes=1 << 1, keep_dims=True).get_output(0), lambda x: x.mean(1, keepdims=True)),
    Converter("expand", "x", broadcast, lambda x: np.repeat(x[:, None], 3, 1)),
    Converter("gather", "x", gathered, lambda x: x.max(1, keepdims=True)),
    Converter("index_select", "x", lambda net, x: net.add_gather(
        x, constant(net, np.array([3, 0], np.int32)), axis=1).get_output(0), lambda x: x[:, [3, 0]]),
    Converter("scatter", "x", scattered, lambda x: np.where(x == x.max(1, keepdims=True), 0, x)),
    Converter("where", "x", selected, lambda x: np.maximum(x, 0)),
    Converter("cond", "x", conditional, lambda x: 2 * x if len(x) > 2 else x),
    Converter("cumsum", "x", looped, lambda x: np.cumsum(x, 1)),
    Converter("arange", "x", counted, lambda x: np.arange(len(x), dtype=np.float32)),
    Converter("fake_quantize", "x", quantized, lambda x: np.clip(np.rint(x * 8), -128, 127) / 8),
    Converter("unsqueeze", "x", unsqueezed, lambda x: x[:, None]),
    Converter("all_reduce", "x", lambda net, x: net.add_dist_collective(
        x, trt.CollectiveOperation.ALL_REDUCE, trt.ReduceOperation.SUM, -1, None).get_output(0), lambda x: x),
    Converter("constant_pad", "image", padded,
              lambda image: np.pad(image, ((0, 0), (0, 0), (1, 1), (2, 2)), constant_values=7)),
    Converter("convolution", "image", convolution, convolved),
    Converter("conv_transpose", "image", deconvolution,
              lambda image: np.einsum("bchw,cm->bmhw", image, KERNEL[:2, :, 0, 0])),
    Converter("avg_pool2d", "image", pooled, lambda image: image.reshape(-1, 2, 3, 2, 3, 2).mean((3, 5))),
    Converter("upsample", "image", resized, lambda image: image.repeat(2, 2).repeat(2, 3)),
    Converter("grid_sampler", "image", sampled, lambda image: image),
    Converter("native_group_norm", "image", normalized, normalized_by_numpy),
    Converter("batch_norm", "image", scaled, lambda image: image * SCALE[:, None, None] + SHIFT[:, None, None]),
    Converter("permute", "image", turned, lambda image: image.transpose(0, 2, 3, 1).reshape(len(image), 6, -1)),
    Converter("scaled_dot_product_attention", "image", attended, attended_by_numpy),
]
