"""TensorRT's standard plugins as nodes of models, beside plain formulas of what each computes."""

import math

import numpy
import onnxruntime
import pytest
from onnx import helper
from plugin_models import floats, random, run

import camshaft as trt

# Regions


def test_roi_align():
    x, rois = floats(2, 3, 9, 11), numpy.array([[1, 1, 7, 6], [0, 2, 10, 8], [3, 3, 3.5, 4]], numpy.float32)
    images = numpy.array([0, 1, 1], numpy.int64)
    node = helper.make_node("RoiAlign", ["x", "r", "i"], ["y"], mode="avg", output_height=3, output_width=2,
                            sampling_ratio=2, spatial_scale=0.75, coordinate_transformation_mode="half_pixel")
    graph = helper.make_graph([node], "g", [
        helper.make_tensor_value_info("x", 1, x.shape), helper.make_tensor_value_info("r", 1, rois.shape),
        helper.make_tensor_value_info("i", 7, images.shape)], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {"x": x, "r": rois, "i": images})[0]
    found = run("ROIAlign_TRT", x, rois, images.astype(numpy.int32), mode=1, output_height=3, output_width=2,
                sampling_ratio=2, spatial_scale=0.75, coordinate_transformation_mode=1)
    numpy.testing.assert_allclose(found, wanted, atol=1e-5)


def bilinear(image, y, x):
    height, width = image.shape[1:]
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    a, b = y - top, x - left
    return ((image[:, top, left] * (1 - b) + image[:, top, right] * b) * (1 - a)
            + (image[:, bottom, left] * (1 - b) + image[:, bottom, right] * b) * a)


@pytest.mark.parametrize("height, width", [(3, 4), (1, 2)])
@pytest.mark.parametrize("name", ["CropAndResize", "CropAndResizeDynamic"])
def test_crop_and_resize(name, height, width):
    x = floats(2, 3, 6, 8)
    rois = numpy.array([[[0.1, 0.2, 0.7, 0.9], [-0.5, 0, 1, 1]], [[0.3, 0.3, 0.3, 0.6], [0, 0, 0.5, 2]]],
                       numpy.float32)
    found = run(name, x, rois[..., None], crop_height=height, crop_width=width)
    wanted = numpy.zeros((2, 2, 3, height, width), numpy.float32)
    for n, r, i, j in numpy.ndindex(2, 2, height, width):
        y1, x1, y2, x2 = rois[n, r]
        y = (y1 + (y2 - y1) * i / (height - 1) if height > 1 else (y1 + y2) / 2) * 5
        z = (x1 + (x2 - x1) * j / (width - 1) if width > 1 else (x1 + x2) / 2) * 7
        if 0 <= y <= 5 and 0 <= z <= 7:
            wanted[n, r, :, i, j] = bilinear(x[n], y, z)
    numpy.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("fields", [
    {"roi_coords_transform": 2, "sampling_ratio": 0}, {"roi_coords_transform": 1, "sampling_ratio": 2,
                                                       "roi_coords_plusone": 1},
    {"roi_coords_transform": 2, "sampling_ratio": 1, "roi_coords_absolute": 0, "roi_coords_swap": 1},
    {"legacy": 1}])
def test_pyramid_roi_align(fields):
    image, pooled = (64, 96), 3
    maps = [floats(2, 2, image[0] // s, image[1] // s) for s in (4, 8, 16, 32)]
    legacy = fields.get("legacy", 0)
    absolute = not legacy and fields.get("roi_coords_absolute", 1)
    low, size = random.random((2, 7, 2)) * 0.5, numpy.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5])[None, :, None]
    rois = numpy.concatenate([low, low + size * (0.5 + random.random((2, 7, 2)))], -1).astype(numpy.float32)
    swap = legacy or fields.get("roi_coords_swap", 0)
    order = [0, 1, 2, 3] if swap else [1, 0, 3, 2]
    scale = numpy.array([*image, *image], numpy.float32) if absolute else numpy.ones(4, numpy.float32)
    given = (rois * scale)[..., order].astype(numpy.float32)
    found = run("PyramidROIAlign_TRT", given, *maps, pooled_size=pooled, image_size=list(image), fpn_scale=40, **fields)
    rois = numpy.clip(rois, 0, 1)

    threshold = 40 * 40 / (image[0] * image[1]) / 4 if not legacy else 224 * 224 * 2 / 1024 ** 2 / 16
    transform = -1 if legacy else fields["roi_coords_transform"]
    ratio = 1 if legacy else fields["sampling_ratio"]
    more = numpy.array([1 / image[0], 1 / image[1]]) if fields.get("roi_coords_plusone") else 0
    wanted, levels = numpy.zeros_like(found), set()
    for n, r in numpy.ndindex(2, 7):
        y1, x1, y2, x2 = (float(v) for v in rois[n, r])
        area = (numpy.array([y2 - y1, x2 - x1]) + more).prod()
        level = sum(area > threshold * 4 ** k for k in range(3))
        levels.add(int(level))
        features = maps[level][n]
        sizes = numpy.array(features.shape[1:])
        if transform == -1:
            start, end = numpy.array([y1, x1]) * (sizes - 1), numpy.array([y2, x2]) * (sizes - 1)
            delta, offset = (end - start) / (pooled - 1), 0
        else:
            shift = 0.5 if transform == 2 else 0
            start, end = numpy.array([y1, x1]) * sizes - shift, numpy.array([y2, x2]) * sizes - shift
            delta, offset = (end - start) / pooled, 0.5
        ratios = [ratio or max(1, math.ceil(extent / pooled)) for extent in end - start]
        for i, j in numpy.ndindex(pooled, pooled):
            samples = [bilinear(features, start[0] + delta[0] * (i + (k + offset) / ratios[0]),
                                start[1] + delta[1] * (j + (m + offset) / ratios[1]))
                       for k in range(ratios[0]) for m in range(ratios[1])]
            wanted[n, r, :, i, j] = numpy.mean(samples, axis=0)
    assert len(levels) > 1
    numpy.testing.assert_allclose(found, wanted, atol=1e-4)


# Normalisations


def instance_norm(x, scale, bias, epsilon):
    axes = tuple(range(2, x.ndim))
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    return (x - mean) / numpy.sqrt(variance + epsilon) * scale.reshape(shape) + bias.reshape(shape)


def test_instance_normalization():
    x, scale, bias = floats(2, 5, 3, 7), floats(5), floats(5)
    wanted = instance_norm(x, scale, bias, 1e-3)
    found = run("InstanceNormalization_TRT", x, scale, bias, epsilon=1e-3, plugin_version="2")
    numpy.testing.assert_allclose(found, wanted, atol=1e-4)
    found = run("InstanceNormalization_TRT", x, scales=scale, bias=bias, epsilon=1e-3, relu=1, alpha=0.1)
    numpy.testing.assert_allclose(found, numpy.where(wanted < 0, wanted * 0.1, wanted), atol=1e-4)


@pytest.mark.parametrize("name, fields, swish", [
    ("GroupNormalizationPlugin", {"eps": 1e-3, "num_groups": 2}, False),
    ("GroupNorm", {"epsilon": 1e-3, "num_groups": 3, "bSwish": 1}, True)])
def test_group_normalization(name, fields, swish):
    x, scale, bias = floats(2, 6, 3, 4), floats(6), floats(6)
    groups = fields["num_groups"]
    wanted = instance_norm(x.reshape(2, groups, -1), numpy.ones(groups), numpy.zeros(groups), 1e-3).reshape(x.shape)
    wanted = wanted * scale[:, None, None] + bias[:, None, None]
    if swish:
        wanted = wanted / (1 + numpy.exp(-wanted))
    numpy.testing.assert_allclose(run(name, x, scale, bias, **fields), wanted, atol=1e-4)


def layer_norm(x, scale, bias, epsilon=0.0, axis=-1):
    return (x - x.mean(axis, keepdims=True)) / numpy.sqrt(x.var(axis, keepdims=True) + epsilon) * scale + bias


def test_layer_norm():
    x, scale, bias = floats(2, 3, 8), floats(8), floats(8)
    numpy.testing.assert_allclose(run("LayerNorm", x, scale, bias, epsilon=1e-3),
                                  layer_norm(x, scale, bias, 1e-3), atol=1e-4)


@pytest.mark.parametrize("spatial, shared", [(0, 0), (1, 1)])
def test_normalize(spatial, shared):
    x, weights = floats(2, 4, 3, 5), numpy.abs(floats(1 if shared else 4))
    axes = (1, 2, 3) if spatial else 1
    wanted = x / numpy.sqrt((x * x).sum(axes, keepdims=True) + 1e-4) * weights.reshape(1, -1, 1, 1)
    found = run("Normalize_TRT", x, weights=weights, acrossSpatial=spatial, channelShared=shared, eps=1e-4)
    numpy.testing.assert_allclose(found, wanted, atol=1e-5)


# Detectors of darknet, moves and activations


def test_region():
    x = floats(2, 2 * (5 + 3), 4, 3)
    found = run("Region_TRT", x, num=2, coords=4, classes=3).reshape(2, 2, 8, 4, 3)
    split = x.reshape(found.shape)
    wanted = split.copy()
    for i in (0, 1, 4):
        wanted[:, :, i] = 1 / (1 + numpy.exp(-split[:, :, i]))
    powers = numpy.exp(split[:, :, 5:])
    wanted[:, :, 5:] = powers / powers.sum(2, keepdims=True)
    numpy.testing.assert_allclose(found, wanted, atol=1e-5)


def test_reorg():
    """Element by element, as darknet's loops have it."""
    n, c, h, w, s = 2, 8, 6, 4, 2
    x = floats(n, c, h, w)
    flat, wanted = x.reshape(-1), numpy.zeros(x.size, numpy.float32)
    for at, (b, k, j, i) in enumerate(numpy.ndindex(n, c, h, w)):
        channel, offset = k % (c // (s * s)), k // (c // (s * s))
        column, row = i * s + offset % s, j * s + offset // s
        wanted[at] = flat[column + w * s * (row + h * s * (channel + c // (s * s) * b))]
    found = run("Reorg_TRT", x, stride=s)
    assert found.shape == (n, c * s * s, h // s, w // s)
    numpy.testing.assert_array_equal(found.reshape(-1), wanted)


def test_moves():
    x = floats(2, 3, 4, 5)
    numpy.testing.assert_array_equal(run("ResizeNearest_TRT", x, scale=2.0), x.repeat(2, 2).repeat(2, 3))
    found = run("CoordConvAC", x)
    assert found.shape == (2, 5, 4, 5)
    numpy.testing.assert_array_equal(found[:, :3], x)
    numpy.testing.assert_allclose(found[1, 3], numpy.linspace(-1, 1, 4)[:, None].repeat(5, 1), atol=1e-6)
    numpy.testing.assert_allclose(found[0, 4], numpy.linspace(-1, 1, 5)[None].repeat(4, 0), atol=1e-6)
    y = floats(2, 7)
    numpy.testing.assert_array_equal(run("FlattenConcat_TRT", x, y, axis=1, dynamic=False).reshape(2, -1),
                                     numpy.concatenate([x.reshape(2, -1), y], 1))
    tile = floats(1, 2, 3, 1)
    numpy.testing.assert_array_equal(run("BatchTilePlugin_TRT", x, tile, dynamic=False), tile.repeat(2, 0))
    tokens, bias, residual = floats(2, 20, 3), floats(3), floats(2, 20, 3)
    wanted = (tokens + bias + residual).reshape(2, 4, 5, 3).transpose(0, 3, 1, 2)
    numpy.testing.assert_allclose(run("SeqLen2Spatial", tokens, bias, residual, x, dynamic=False), wanted, atol=1e-6)


def gelu(x):
    return 0.5 * x * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def test_activations():
    x = floats(2, 3, 8)
    numpy.testing.assert_allclose(run("LReLU_TRT", x, negSlope=0.2), numpy.where(x < 0, x * 0.2, x), rtol=1e-6)
    numpy.testing.assert_array_equal(run("Clip_TRT", x, clipMin=-0.5, clipMax=0.75), x.clip(-0.5, 0.75))
    numpy.testing.assert_allclose(run("SplitGeLU", x), x[..., :4] * gelu(x[..., 4:]), atol=1e-5)
    for largest in (0, 1):
        values, indices = run("TopkLastDim", x, outputs=2, k=2, is_largest=largest, axis=1, type_id=0)
        order = numpy.argsort(-x if largest else x, 1)[:, :2]
        numpy.testing.assert_array_equal(values, numpy.take_along_axis(x, order, 1))
        assert indices.dtype == numpy.int32 and (indices == order).all()
    bias = floats(8)
    numpy.testing.assert_allclose(run("CustomGeluPluginDynamic", x, type_id=0, bias=bias), gelu_tanh(x + bias),
                                  atol=1e-5)


# Convolution and attention


@pytest.mark.parametrize("name, fields", [
    ("ModulatedDeformConv2d", {"group": 2, "deformable_group": 2}),
    ("MMCVModulatedDeformConv2d", {"groups": 1, "deform_groups": 2}), ("TRTMMCVModulatedDeformConv2d", {})])
def test_modulated_deform_conv(name, fields):
    groups = fields.get("group", fields.get("groups", 1))
    deform = fields.get("deformable_group", fields.get("deform_groups", 1))
    x, weights, bias = floats(2, 4, 6, 7), floats(6, 4 // groups, 3, 2), floats(6)
    stride, padding, dilation = (2, 1), (1, 2), (1, 2)
    rows = (6 + 2 * padding[0] - dilation[0] * 2 - 1) // stride[0] + 1
    columns = (7 + 2 * padding[1] - dilation[1] - 1) // stride[1] + 1
    offsets, mask = floats(2, deform * 12, rows, columns), floats(2, deform * 6, rows, columns)

    def convolve(mask):
        return run(name, x, offsets, mask, weights, bias, stride=stride, padding=padding, dilation=dilation,
                   dynamic=False, **fields)

    def pixel(n, c, y, z):
        top, left = math.floor(y), math.floor(z)
        return sum(x[n, c, i, j] * (1 - abs(y - i)) * (1 - abs(z - j)) for i in (top, top + 1) for j in (left, left + 1)
                   if 0 <= i < 6 and 0 <= j < 7)

    wanted = numpy.zeros((2, 6, rows, columns)) + bias[:, None, None]
    for n, m, i, j, c, ky, kx in numpy.ndindex(2, 6, rows, columns, 4 // groups, 3, 2):
        channel = m // (6 // groups) * (4 // groups) + c
        at = (channel // (4 // deform)) * 6 + ky * 2 + kx
        y = i * stride[0] - padding[0] + ky * dilation[0] + offsets[n, 2 * at, i, j]
        z = j * stride[1] - padding[1] + kx * dilation[1] + offsets[n, 2 * at + 1, i, j]
        wanted[n, m, i, j] += weights[m, c, ky, kx] * mask[n, at, i, j] * pixel(n, channel, y, z)
    found = convolve(mask)
    assert found.shape == wanted.shape
    numpy.testing.assert_allclose(found, wanted, atol=1e-3)
    numpy.testing.assert_array_equal(convolve(numpy.ones_like(offsets)), convolve(numpy.ones_like(mask)))


def test_disentangled_attention():
    length, span, factor = 23, 8, 0.125
    content, c2p, p2c = floats(6, length, length), floats(6, length, 2 * span), floats(6, length, 2 * span)
    middle = span // 2
    step = (middle - 1) / (math.log(2 * span - 1) - math.log(middle)) * (1 - 1e-7)
    wanted = numpy.zeros_like(content)
    for j, k in numpy.ndindex(length, length):
        distance = j - k
        bucket = distance
        if abs(distance) > middle:
            bucket = math.ceil((math.log(abs(distance)) - math.log(middle)) * step) + middle
            bucket = -bucket if distance < 0 else bucket
        at = min(max(bucket + span, 0), 2 * span - 1)
        wanted[:, j, k] = (content[:, j, k] + c2p[:, j, at] + p2c[:, k, at]) * factor
    found = run("DisentangledAttention_TRT", content, c2p, p2c, span=span, factor=factor, plugin_version="1")
    numpy.testing.assert_allclose(found, wanted, atol=1e-5)


def attention(q, k, v):
    """Heads before words."""
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    chances = numpy.exp(scores - scores.max(-1, keepdims=True))
    return chances / chances.sum(-1, keepdims=True) @ v


def test_attention_of_diffusion_models():
    packed = floats(2, 7, 3, 3, 8)
    parts = [packed[:, :, :, i].swapaxes(1, 2) for i in range(3)]
    numpy.testing.assert_allclose(run("fMHA_V2", packed), attention(*parts).swapaxes(1, 2), atol=1e-5)
    query, others = floats(2, 7, 3, 8), floats(2, 5, 3, 2, 8)
    wanted = attention(query.swapaxes(1, 2), *(others[:, :, :, i].swapaxes(1, 2) for i in range(2)))
    numpy.testing.assert_allclose(run("fMHCA", query, others, dynamic=False), wanted.swapaxes(1, 2), atol=1e-5)


def test_layers_of_bert():
    words, batch, width, heads = 5, 2, 8, 2
    x, skip = floats(words, batch, width, 1, 1), floats(words, batch, width, 1, 1)
    scale, shift, bias = floats(width), floats(width), floats(width)

    def flat(value):
        return value.reshape(words, batch, -1)

    found = run("CustomSkipLayerNormPluginDynamic", x, skip, gamma=scale, beta=shift, bias=bias, ld=width, type_id=0)
    numpy.testing.assert_allclose(flat(found), layer_norm(flat(x) + flat(skip) + bias, scale, shift), atol=1e-4)

    weights = floats(width, 6)
    found = run("CustomFCPluginDynamic", x, W=weights.reshape(-1), out_dims=6, type_id=0)
    assert found.shape == (words, batch, 6, 1, 1)
    numpy.testing.assert_allclose(flat(found), flat(x) @ weights, atol=1e-4)

    qkv, counts = floats(words, batch, 3 * width, 1, 1), numpy.array([5, 3], numpy.int32)
    found = run("CustomQKVToContextPluginDynamic", qkv, counts, num_heads=heads, hidden_size=width, has_mask=1,
                type_id=0, dynamic=False)
    split = qkv.reshape(words, batch, heads, 3, width // heads)
    wanted = numpy.zeros((words, batch, heads, width // heads))
    for b, h in numpy.ndindex(batch, heads):
        q, k, v = (split[:, b, h, i] for i in range(3))
        wanted[:, b, h] = attention(q, k[:counts[b]], v[:counts[b]])
    numpy.testing.assert_allclose(flat(found), wanted.reshape(words, batch, width), atol=1e-4)

    tables = {"word": floats(11, width), "token_type": floats(2, width), "position": floats(7, width)}
    ids = random.integers(0, 11, (words, batch)).astype(numpy.int32)
    kinds = random.integers(0, 2, (words, batch)).astype(numpy.int32)
    mask = numpy.array([[1, 1], [1, 1], [1, 0], [1, 0], [0, 0]], numpy.int32)
    fields = {f"bert_embeddings_{name}_embeddings": table.reshape(-1) for name, table in tables.items()}
    found, lengths = run("CustomEmbLayerNormPluginDynamic", ids, kinds, mask, outputs=2, output_fp16=0,
                         bert_embeddings_layernorm_beta=shift, bert_embeddings_layernorm_gamma=scale,
                         dynamic=False, **fields)
    total = tables["word"][ids] + tables["token_type"][kinds] + tables["position"][:words, None]
    numpy.testing.assert_allclose(found, layer_norm(total, scale, shift), atol=1e-4)
    assert lengths.tolist() == [4, 2]


def test_layers_of_bert_on_packed_sequences():
    """Sequences one after the other, whose beginnings are an input."""
    words, width, heads = 9, 8, 2
    begins, longest = numpy.array([0, 4, 4, 9], numpy.int32), numpy.zeros(5, numpy.int32)
    places = numpy.array([0, 1, 2, 3, 0, 1, 2, 3, 4])
    scale, shift, bias = floats(width), floats(width), floats(width)
    tables = {"word": floats(11, width), "token_type": floats(2, width), "position": floats(7, width)}
    ids, kinds = (random.integers(0, most, words).astype(numpy.int32) for most in (11, 2))
    fields = {f"bert_embeddings_{name}_embeddings": table.reshape(-1) for name, table in tables.items()}
    total = tables["word"][ids] + tables["token_type"][kinds] + tables["position"][places]
    for version in "23":
        found, second = run("CustomEmbLayerNormPluginDynamic", ids, kinds, begins, longest, outputs=2, output_fp16=0,
                            bert_embeddings_layernorm_beta=shift, bert_embeddings_layernorm_gamma=scale,
                            plugin_version=version, dynamic=False, **fields)
        assert found.shape == (words, width, 1, 1)
        numpy.testing.assert_allclose(found[:, :, 0, 0], layer_norm(total, scale, shift), atol=1e-4)
        if version == "3":
            numpy.testing.assert_allclose(second[:, :, 0, 0], total, atol=1e-5)
        else:
            assert second.shape == ()

    x, skip = floats(words, width, 1, 1), floats(words, width, 1, 1)
    found = run("CustomSkipLayerNormPluginDynamic", x, skip, gamma=scale, beta=shift, bias=bias, type_id=0)
    numpy.testing.assert_allclose(found[:, :, 0, 0], layer_norm((x + skip)[:, :, 0, 0] + bias, scale, shift), atol=1e-4)

    qkv, mask = floats(words, 3 * width, 1, 1), numpy.zeros(1, numpy.float32)
    found = run("CustomQKVToContextPluginDynamic", qkv, mask, begins, longest, num_heads=heads, hidden_size=width,
                has_mask=1, type_id=0, var_seqlen=1, plugin_version="2", dynamic=False)
    split, wanted = qkv.reshape(words, heads, 3, width // heads), numpy.zeros((words, heads, width // heads))
    for begin, end in ((0, 4), (4, 9)):
        for h in range(heads):
            wanted[begin:end, h] = attention(*(split[begin:end, h, i] for i in range(3)))
    numpy.testing.assert_allclose(found.reshape(words, -1), wanted.reshape(words, -1), atol=1e-4)


# Refusals


@pytest.mark.parametrize("operator, inputs, fields, reason", [
    ("SomeLayer_TRT", 1, {}, "EfficientNMS_TRT, "),
    ("Reorg_TRT", 1, {"stride": 5}, "strides of 5"),
    ("Reorg_TRT", 1, {"stride": 0.5}, "whole numbers"),
    ("Region_TRT", 1, {"num": 1, "classes": 3, "smTree": 1}, "trees of classes"),
    ("InstanceNormalization_TRT", 1, {"scales": [1.0]}, "'scales' has 1 numbers where it needs 6"),
    ("PyramidROIAlign_TRT", 2, {"roi_coords_transform": 0}, "half_pixel"),
    ("CustomSkipLayerNormPluginDynamic", 2, {}, "lacks its required field 'gamma'"),
    ("CustomQKVToContextPluginDynamic", 1, {"use_explicit_int8": 1}, "use version 2 or 5 between"),
    ("GridAnchor_TRT", 0, {"aspectRatios": [1.0, 2.0, 0.5], "variance": [0.1] * 4, "numLayers": 2,
                           "featureMapShapes": [4]}, "has 1 sizes for 2 layers"),
    ("NMS_TRT", 3, {"codeType": 7, "numClasses": 1}, "tensors of priors"),
    ("PriorBox_TRT", 2, {"variance": [0.1] * 4}, "lacks its required field 'minSize'"),
    ("Proposal", 2, {"input_height": 9, "input_width": 9}, "lacks its fields 'anchor_sizes'"),
    ("ProposalLayer_TRT", 2, {"image_size": [3, 64]}, "channels, height and width"),
    ("RPROI_TRT", 4, {"anchorsRatios": [1.0], "anchorsRatioCount": 2}, "has 1 numbers, where 'anchorsRatioCount' is 2"),
    ("VoxelGeneratorPlugin", 2, {"point_cloud_range": [0.0] * 6, "voxel_size": [1.0] * 3}, "make 0 voxels"),
    ("DecodeBbox3DPlugin", 3, {}, "lacks its required field 'anchor_bottom_height'"),
])
def test_refusals(network, logger, operator, inputs, fields, reason):
    names = [f"i{k}" for k in range(inputs)]
    node = helper.make_node(operator, names, ["o"], name="node", domain="trt.plugins", **fields)
    shape = (2, 3, 4) if operator[:2] in ("Py", "Cu") else (2, 6, 4, 4)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(name, 1, shape) for name in names],
                              [helper.make_empty_tensor_value_info("o")])
    parser = trt.OnnxParser(network, logger)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert not parser.parse(model.SerializeToString())
    assert reason in parser.get_error(0).desc()
