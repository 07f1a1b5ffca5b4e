"""Layers of language models added call by call, compared with numpy."""

import numpy
import pytest

import camshaft as trt

random = numpy.random.default_rng(9)
SOFTMAX, PLAIN = trt.AttentionNormalizationOp.SOFTMAX, trt.AttentionNormalizationOp.NONE
CAUSAL = trt.CausalMaskKind


def normal(*shape):
    return random.standard_normal(shape, dtype=numpy.float32)


def run(build, network, **inputs):
    engine = build(network)
    (result,) = trt.infer(engine.create_execution_context(), inputs).values()
    return result


def add_inputs(network, **arrays):
    types = {numpy.float32: trt.float32, numpy.int32: trt.int32, numpy.bool_: trt.bool}
    return [network.add_input(name, types[array.dtype.type], array.shape)
            for name, array in arrays.items()]


def attention(q, k, v, normalize=True, visible=None, bias=0):
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat(group, 1), v.repeat(group, 1)
    scores = q @ k.swapaxes(2, 3) + bias
    if not normalize:
        return (scores if visible is None else numpy.where(visible, scores, 0)) @ v
    if visible is not None:
        scores = numpy.where(visible, scores, -numpy.inf)
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def triangle(kind, queries, keys):
    if kind == CAUSAL.NONE:
        return None
    offset = keys - queries if kind == CAUSAL.LOWER_RIGHT else 0
    return numpy.tril(numpy.ones((queries, keys), bool), offset)


@pytest.mark.parametrize("heads", [(4, 4), (4, 2), (4, 1)])
@pytest.mark.parametrize("kind", [CAUSAL.NONE, CAUSAL.UPPER_LEFT, CAUSAL.LOWER_RIGHT])
@pytest.mark.parametrize("op", [SOFTMAX, PLAIN])
def test_attention(network, build, heads, kind, op):
    q, k, v = normal(2, heads[0], 3, 8), normal(2, heads[1], 5, 8), normal(2, heads[1], 5, 8)
    layer = network.add_attention_v2(*add_inputs(network, q=q, k=k, v=v), op, kind)
    network.mark_output(layer.get_output(0))
    assert (layer.norm_op, layer.causal_kind, layer.causal) == (op, kind, kind != CAUSAL.NONE)
    expected = attention(q, k, v, op == SOFTMAX, triangle(kind, 3, 5))
    numpy.testing.assert_allclose(run(build, network, q=q, k=k, v=v), expected, rtol=1e-4,
                                  atol=1e-5)


@pytest.mark.parametrize("op", [SOFTMAX, PLAIN])
def test_attention_masks(network, build, op):
    q, k, v = normal(2, 2, 3, 8), normal(2, 2, 5, 8), normal(2, 2, 5, 8)
    chosen = random.random((2, 1, 3, 5)) < 0.7
    chosen[..., 0] = True
    inputs = add_inputs(network, q=q, k=k, v=v, mask=chosen)
    layer = network.add_attention(*inputs[:3], op, False)
    assert layer.mask is None
    layer.mask = inputs[3]
    assert layer.mask.name == "mask"
    network.mark_output(layer.get_output(0))
    kinds = [type(layer) for layer in network]
    assert kinds == [trt.IAttentionInputLayer, trt.IAttentionOutputLayer]
    assert network[0].attention.name == layer.name
    expected = attention(q, k, v, op == SOFTMAX, chosen)
    numpy.testing.assert_allclose(run(build, network, q=q, k=k, v=v, mask=chosen), expected,
                                  rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [CAUSAL.NONE, CAUSAL.UPPER_LEFT, CAUSAL.LOWER_RIGHT])
def test_attention_over_part_of_a_cache(network, build, kind):
    q, k, v, bias = normal(2, 2, 2, 8), normal(2, 2, 6, 8), normal(2, 2, 6, 8), normal(1, 2, 2, 6)
    lengths = numpy.array([3, 6], numpy.int32)
    inputs = add_inputs(network, q=q, k=k, v=v, bias=bias, lengths=lengths)
    layer = network.add_attention_v2(*inputs[:3], SOFTMAX, kind)
    layer.mask = inputs[3]
    layer.key_value_lengths = inputs[4]
    network.mark_output(layer.get_output(0))
    result = run(build, network, q=q, k=k, v=v, bias=bias, lengths=lengths)
    for batch, length in enumerate(lengths):
        one = slice(batch, batch + 1)
        expected = attention(q[one], k[one, :, :length], v[one, :, :length],
                             visible=triangle(kind, 2, length), bias=bias[..., :length])
        numpy.testing.assert_allclose(result[one], expected, rtol=1e-4, atol=1e-5)


def test_what_attention_lacks_is_refused_in_words(network):
    (x,) = add_inputs(network, x=normal(1, 1, 2, 2))
    layer = network.add_attention(x, x, x, SOFTMAX, True)
    with pytest.raises(trt.Error, match="not available yet"):
        layer.normalization_quantize_to_type = trt.fp8
    with pytest.raises(trt.Error, match="packed one after the other"):
        layer.query_form = trt.AttentionIOForm.PACKED_NHD
    with pytest.raises(trt.Error, match="several devices"):
        layer.num_ranks = 2


def rotated(x, angles, interleaved):
    """The first elements of each head turned in pairs, as complex numbers."""
    size = 2 * angles.shape[-1]
    front = x[..., :size]
    if interleaved:
        pairs = front[..., 0::2] + 1j * front[..., 1::2]
    else:
        pairs = front[..., :size // 2] + 1j * front[..., size // 2:]
    turned = pairs * numpy.exp(1j * angles)[:, None]
    result = x.copy()
    if interleaved:
        result[..., 0:size:2], result[..., 1:size:2] = turned.real, turned.imag
    else:
        result[..., :size] = numpy.concatenate([turned.real, turned.imag], -1)
    return result


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("size", [0, 4])
@pytest.mark.parametrize("by_position", [False, True])
def test_rotary_embedding(network, build, interleaved, size, by_position):
    x = normal(2, 3, 5, 8)
    half = (size or 8) // 2
    positions = random.integers(0, 16, (2, 5)).astype(numpy.int32)
    table = normal(16, half)
    angles = table[positions]
    source = table if by_position else angles
    arrays = {"x": x, "cosines": numpy.cos(source), "sines": numpy.sin(source)}
    layer = network.add_rotary_embedding(*add_inputs(network, **arrays), interleaved, size)
    if by_position:
        arrays["positions"] = positions
        layer.set_input(3, *add_inputs(network, positions=positions))
    network.mark_output(layer.get_output(0))
    assert (layer.interleaved, layer.rotary_embedding_dim) == (interleaved, size)
    assert layer.get_output(0).shape == x.shape
    numpy.testing.assert_allclose(run(build, network, **arrays), rotated(x, angles, interleaved),
                                  rtol=1e-4, atol=1e-5)


def test_kv_cache_update(network, build):
    cache, update = normal(3, 2, 8, 4), normal(3, 2, 3, 4)
    begin = numpy.array([0, 5, 2], numpy.int32)
    arrays = {"cache": cache, "update": update, "begin": begin}
    layer = network.add_kv_cache_update(*add_inputs(network, **arrays), trt.KVCacheMode.LINEAR)
    assert layer.cache_mode == trt.KVCacheMode.LINEAR
    network.mark_output(layer.get_output(0))
    expected = cache.copy()
    for batch, first in enumerate(begin):
        expected[batch, :, first:first + 3] = update[batch]
    numpy.testing.assert_array_equal(run(build, network, **arrays), expected)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("swiglu", [None, (1.5, 1.7, 1.0)])
def test_mixture_of_experts(network, build, biased, swiglu):
    hidden, scores = normal(2, 3, 4), random.random((2, 3, 2), numpy.float32)
    experts = numpy.array([[[0, 1], [2, 0], [1, 4]], [[3, 2], [4, 0], [2, 3]]], numpy.int32)
    weights = normal(5, 4, 6), normal(5, 4, 6), normal(5, 6, 4)
    biases = normal(5, 6), normal(5, 6), normal(5, 4)
    arrays = {"hidden": hidden, "experts": experts, "scores": scores}
    layer = network.add_moe(*add_inputs(network, **arrays))
    constants = [network.add_constant(w.shape, w).get_output(0) for w in weights + biases]
    layer.set_gated_weights(*constants[:3], trt.MoEActType.SILU)
    if biased:
        layer.set_gated_biases(*constants[3:])
    if swiglu:
        layer.set_swiglu_params(*swiglu)
    limit, alpha, beta = swiglu or (numpy.inf, 1, 0)
    assert layer.swiglu_param_limit == limit
    assert layer.activation_type == trt.MoEActType.SILU
    network.mark_output(layer.get_output(0))

    def expert(x, i):
        gate, up, down = [b[i] * biased for b in biases]
        gate = numpy.minimum(x @ weights[0][i] + gate, limit)
        up = numpy.clip(x @ weights[1][i] + up, -limit, limit)
        return (gate / (1 + numpy.exp(-alpha * gate)) * (up + beta)) @ weights[2][i] + down

    expected = numpy.zeros_like(hidden)
    for token in numpy.ndindex(2, 3):
        for i, score in zip(experts[token], scores[token]):
            expected[token] += score * expert(hidden[token], i)
    numpy.testing.assert_allclose(run(build, network, **arrays), expected, rtol=1e-4, atol=1e-5)


def test_collectives_on_one_rank(network, build):
    x = normal(2, 3)
    (tensor,) = add_inputs(network, x=x)
    for operation in (trt.CollectiveOperation.ALL_REDUCE, trt.CollectiveOperation.ALL_GATHER,
                      trt.CollectiveOperation.REDUCE_SCATTER):
        layer = network.add_dist_collective(tensor, operation, trt.ReduceOperation.SUM, -1, [])
        tensor = layer.get_output(0)
    network.mark_output(tensor)
    numpy.testing.assert_array_equal(run(build, network, x=x), x)
    with pytest.raises(trt.Error, match="of 2 ranks cannot be added"):
        network.add_dist_collective(tensor, trt.CollectiveOperation.ALL_REDUCE,
                                    trt.ReduceOperation.SUM, -1, [0, 1])
