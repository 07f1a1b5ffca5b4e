"""Caches of keys and values: updated in place where past and present are one buffer, and right where they are two."""

import ml_dtypes
import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import camshaft as trt

random = numpy.random.default_rng(5)
HEADS, SIZE, ROOM = 4, 16, 37


def floats(*shape):
    return random.standard_normal(shape, numpy.float32)


def group_query_attention(kv_heads):
    """Attention over a cache of ROOM tokens, as ONNX Runtime's model builder writes it."""
    value, width = helper.make_tensor_value_info, kv_heads * SIZE
    cache = ["b", kv_heads, "past", SIZE]
    node = helper.make_node(
        "GroupQueryAttention", ["q", "k", "v", "past_key", "past_value", "last", "total"],
        ["y", "present_key", "present_value"], domain="com.microsoft", num_heads=HEADS, kv_num_heads=kv_heads)
    grown = ["b", kv_heads, "room", SIZE]
    graph = helper.make_graph(
        [node], "attention",
        [value("q", TensorProto.FLOAT, ["b", "n", HEADS * SIZE]), value("k", TensorProto.FLOAT, ["b", "n", width]),
         value("v", TensorProto.FLOAT, ["b", "n", width]), value("past_key", TensorProto.FLOAT, cache),
         value("past_value", TensorProto.FLOAT, cache), value("last", TensorProto.INT32, ["b"]),
         value("total", TensorProto.INT32, [])],
        [value("y", TensorProto.FLOAT, ["b", "n", HEADS * SIZE]), value("present_key", TensorProto.FLOAT, grown),
         value("present_value", TensorProto.FLOAT, grown)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def quantised(model, kind, element=TensorProto.INT8):
    """The same with caches of 8 bits, and scales as inputs `k_scale` and `v_scale`."""
    model = onnx.load_from_string(model)
    node = model.graph.node[0]
    node.input.extend([""] * 5 + ["k_scale", "v_scale"])
    node.attribute.extend(helper.make_attribute(name, kind) for name in ("k_quant_type", "v_quant_type"))
    node.attribute.append(helper.make_attribute("kv_cache_bit_width", 8))
    for described in [*model.graph.input, *model.graph.output]:
        if described.name.startswith(("past", "present")):
            described.type.tensor_type.elem_type = element
    heads = model.graph.input[3].type.tensor_type.shape.dim[1].dim_value
    count = heads * SIZE if kind == "PER_CHANNEL" else 1
    model.graph.input.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, [count])
                             for name in ("k_scale", "v_scale"))
    return model.SerializeToString(), count


def build(model, batch, kv_heads, room):
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(model)
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    profile = builder.create_optimization_profile()
    for name, width in (("q", HEADS * SIZE), ("k", kv_heads * SIZE), ("v", kv_heads * SIZE)):
        profile.set_shape(name, (batch, 1, width), (batch, 1, width), (batch, 8, width))
    for name in ("past_key", "past_value"):
        profile.set_shape(name, *((batch, kv_heads, size, SIZE) for size in room))
    profile.set_shape("last", (batch,), (batch,), (batch,))
    profile.set_shape_input("total", [1], [ROOM], [ROOM])
    config.add_optimization_profile(profile)
    return trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))


def run(context, feeds, outputs):
    for name, array in feeds.items():
        assert context.set_input_shape(name, array.shape)
        assert context.set_tensor_address(name, array.ctypes.data)
    for name, array in outputs.items():
        assert tuple(context.get_tensor_shape(name)) == array.shape
        assert context.set_tensor_address(name, array.ctypes.data)
    assert context.execute_async_v3(0)


@pytest.mark.parametrize("kv_heads", [4, 1])
@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize(("batch", "lengths"), [(2, (5, 1, 1, 1)), (1, (5, 1, 3, 1, 7, 1))])
def test_steps_write_their_rows_alone(kv_heads, in_place, batch, lengths):
    """A prompt, then further tokens, in caches that hold NaN where nothing was written yet."""
    model = group_query_attention(kv_heads)
    engine = build(model, batch, kv_heads, (ROOM, ROOM, ROOM))
    assert engine.get_aliased_input_tensor("present_key") == "past_key"
    context = engine.create_execution_context()
    caches = {name: numpy.full((batch, kv_heads, ROOM, SIZE), numpy.nan, numpy.float32) for name in ("key", "value")}
    kept = {name: numpy.zeros((batch, kv_heads, 0, SIZE), numpy.float32) for name in caches}
    session = onnxruntime.InferenceSession(model)
    before = 0
    for length in lengths:
        step = {"q": floats(batch, length, HEADS * SIZE), "k": floats(batch, length, kv_heads * SIZE),
                "v": floats(batch, length, kv_heads * SIZE),
                "last": numpy.full(batch, before + length - 1, numpy.int32),
                "total": numpy.array(before + length, numpy.int32)}
        results = {"y": numpy.full((batch, length, HEADS * SIZE), numpy.nan, numpy.float32)}
        written = {name: cache if in_place else numpy.full_like(cache, 7) for name, cache in caches.items()}
        results |= {f"present_{name}": cache for name, cache in written.items()}
        run(context, step | {f"past_{name}": cache for name, cache in caches.items()}, results)
        wanted = session.run(None, step | {f"past_{name}": cache for name, cache in kept.items()})
        kept = dict(zip(kept, wanted[1:], strict=True))
        before += length
        numpy.testing.assert_allclose(results["y"], wanted[0], atol=1e-5, rtol=1e-4)
        for name, cache in written.items():
            numpy.testing.assert_array_equal(cache[:, :, :before], kept[name])
            assert numpy.isnan(cache[:, :, before:]).all()
        caches = written


def test_caches_that_grow_are_as_in_onnx_runtime():
    batch, kv_heads, model = 1, 2, group_query_attention(2)
    context = build(model, batch, kv_heads, (0, 8, ROOM)).create_execution_context()
    session, before = onnxruntime.InferenceSession(model), 0
    kept = {name: numpy.zeros((batch, kv_heads, 0, SIZE), numpy.float32) for name in ("key", "value")}
    for length in (3, 1, 1, 2):
        step = {"q": floats(batch, length, HEADS * SIZE), "k": floats(batch, length, kv_heads * SIZE),
                "v": floats(batch, length, kv_heads * SIZE),
                "last": numpy.full(batch, before + length - 1, numpy.int32),
                "total": numpy.array(before + length, numpy.int32)}
        step |= {f"past_{name}": cache for name, cache in kept.items()}
        before += length
        results = {"y": numpy.full((batch, length, HEADS * SIZE), numpy.nan, numpy.float32)}
        results |= {f"present_{name}": numpy.full((batch, kv_heads, before, SIZE), numpy.nan, numpy.float32)
                    for name in kept}
        run(context, step, results)
        wanted = session.run(None, step)
        for result, expected in zip(results.values(), wanted, strict=True):
            numpy.testing.assert_allclose(result, expected, atol=1e-5, rtol=1e-4)
        kept = {name: results[f"present_{name}"] for name in kept}


@pytest.mark.parametrize("kind", ["PER_TENSOR", "PER_CHANNEL"])
@pytest.mark.parametrize("kv_heads", [4, 2])
def test_caches_of_8_bits(kind, kv_heads):
    """In place, beside ONNX Runtime's, which grow; numbers halfway between two integers may go either way."""
    batch = 2
    model, count = quantised(group_query_attention(kv_heads), kind)
    engine = build(model, batch, kv_heads, (ROOM, ROOM, ROOM))
    assert engine.get_aliased_input_tensor("present_key") == "past_key"
    context, session, before = engine.create_execution_context(), onnxruntime.InferenceSession(model), 0
    caches = {name: numpy.full((batch, kv_heads, ROOM, SIZE), 77, numpy.int8) for name in ("key", "value")}
    kept = {name: numpy.zeros((batch, kv_heads, 0, SIZE), numpy.int8) for name in caches}
    scales = {name: random.uniform(0.015, 0.03, count).astype(numpy.float32) for name in ("k_scale", "v_scale")}
    for length in (5, 1, 1, 1):
        step = {"q": floats(batch, length, HEADS * SIZE), "k": floats(batch, length, kv_heads * SIZE),
                "v": floats(batch, length, kv_heads * SIZE),
                "last": numpy.full(batch, before + length - 1, numpy.int32),
                "total": numpy.array(before + length, numpy.int32)} | scales
        results = {"y": numpy.full((batch, length, HEADS * SIZE), numpy.nan, numpy.float32)}
        results |= {f"present_{name}": cache for name, cache in caches.items()}
        run(context, step | {f"past_{name}": cache for name, cache in caches.items()}, results)
        wanted = session.run(None, step | {f"past_{name}": cache for name, cache in kept.items()})
        kept = dict(zip(kept, wanted[1:], strict=True))
        before += length
        numpy.testing.assert_allclose(results["y"], wanted[0], atol=1e-4, rtol=1e-3)
        for name, cache in caches.items():
            numpy.testing.assert_array_equal(cache[:, :, :before], kept[name])
            assert (cache[:, :, before:] == 77).all()


def test_caches_of_float8():
    """By the definition: ONNX Runtime has these on GPUs alone."""
    heads, length = HEADS, 5
    model, _ = quantised(group_query_attention(heads), "PER_TENSOR", TensorProto.FLOAT8E4M3FN)
    context = build(model, 1, heads, (ROOM, ROOM, ROOM)).create_execution_context()
    caches = {name: numpy.zeros((1, heads, ROOM, SIZE), ml_dtypes.float8_e4m3fn) for name in ("key", "value")}
    step = {name: floats(1, length, heads * SIZE) for name in "qkv"}
    step |= {"last": numpy.array([length - 1], numpy.int32), "total": numpy.array(length, numpy.int32)}
    step |= {"k_scale": numpy.array([0.02], numpy.float32), "v_scale": numpy.array([0.01], numpy.float32)}
    y = numpy.full((1, length, heads * SIZE), numpy.nan, numpy.float32)
    run(context, step | {f"past_{name}": cache for name, cache in caches.items()},
        {"y": y} | {f"present_{name}": cache for name, cache in caches.items()})
    q, k, v = (step[name].reshape(length, heads, SIZE).transpose(1, 0, 2) for name in "qkv")
    held = [(numbers / step[scale]).astype(ml_dtypes.float8_e4m3fn)
            for numbers, scale in ((k, "k_scale"), (v, "v_scale"))]
    for cache, numbers in zip(caches.values(), held, strict=True):
        numpy.testing.assert_array_equal(cache[0, :, :length].view(numpy.uint8), numbers.view(numpy.uint8))
    k, v = (numbers.astype(numpy.float32) * step[scale] for numbers, scale in zip(held, ("k_scale", "v_scale")))
    scores = numpy.where(numpy.tri(length, dtype=bool), q @ k.transpose(0, 2, 1) / SIZE**0.5, -numpy.inf)
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    expected = (weights / weights.sum(-1, keepdims=True)) @ v
    numpy.testing.assert_allclose(y[0], expected.transpose(1, 0, 2).reshape(length, -1), atol=1e-4, rtol=1e-3)


def single(operator, inputs, outputs, opset, **attributes):
    """A context of one node, whose inputs have one shape each."""
    named = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items() if name]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph([helper.make_node(operator, list(inputs), outputs, **attributes)], "one", named, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return trt.load(trt.build(model.SerializeToString(), device="cpu")).engine.create_execution_context()


GROWING = {
    "Concat": lambda: single("Concat", {"past": (1, 2, 8, 4), "new": (1, 2, 1, 4)}, ["present"], 17, axis=2),
    "Attention": lambda: single(
        "Attention", {"q": (1, 2, 1, 4), "k": (1, 2, 1, 4), "v": (1, 2, 1, 4), "": (), "past": (1, 2, 8, 4),
                      "past_value": (1, 2, 8, 4)}, ["y", "present", "present_value"], 23),
}


@pytest.mark.parametrize("growing", GROWING)
@pytest.mark.parametrize("offset", [0, 64, -64])
def test_caches_that_grow_do_not_share_memory(growing, offset):
    """Whatever is written before it is read would be read wrong; so it is refused, and both tensors are named."""
    context = GROWING[growing]()
    engine = context.engine
    memory = {name: numpy.zeros(1024, numpy.float32) for name in (engine.get_tensor_name(i)
                                                                  for i in range(engine.num_io_tensors))}
    for name, array in memory.items():
        context.set_tensor_address(name, array[256:].ctypes.data)
    assert context.execute_async_v3(0)
    context.set_tensor_address("present", memory["past"][256:].ctypes.data + offset)
    with pytest.raises(trt.Error, match="output 'present' lies on memory of input 'past'"):
        context.execute_async_v3(0)
    context.set_tensor_address("present", memory["present"].ctypes.data)
    assert context.execute_async_v3(0)


def test_fixed_caches_hold_no_more_than_their_room():
    """A model that grows its cache, parsed with caches of fixed room: rows go behind those that are there."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Concat", ["past", "rows"], ["present"], axis=2)], "grow",
        [value("past", TensorProto.FLOAT, [2, 3, "n", SIZE]), value("rows", TensorProto.FLOAT, [2, 3, 2, SIZE])],
        [value("present", TensorProto.FLOAT, [2, 3, "m", SIZE])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    profile = {"shapes": {"past": (2, 3, ROOM, SIZE)},
               "values": {"past_length": {"min": [0], "opt": [4], "max": [ROOM]}}}
    engine = trt.load(trt.build(model, device="cpu", fixed_caches=True, profiles=[profile])).engine
    assert engine.get_aliased_input_tensor("present") == "past"
    cache, rows, context = floats(2, 3, ROOM, SIZE), floats(2, 3, 2, SIZE), engine.create_execution_context()
    for before in (0, 4, ROOM - 2):
        wanted = cache.copy()
        wanted[:, :, before:before + 2] = rows
        run(context, {"past": cache, "rows": rows, "past_length": numpy.array(before)}, {"present": cache})
        numpy.testing.assert_array_equal(cache, wanted)
    with pytest.raises(trt.Error, match="'past' has room for 37 rows where 38 are to be held"):
        run(context, {"past": cache, "rows": rows, "past_length": numpy.array(ROOM - 1)}, {"present": cache})
    numpy.testing.assert_array_equal(cache, wanted)


def test_outputs_do_not_share_memory():
    context = single("Split", {"x": (4, 6)}, ["low", "high"], 17, axis=1)
    x, y = floats(4, 6), numpy.zeros(24, numpy.float32)
    for low, high, apart in ((0, 12, True), (0, 11, False), (12, 0, True), (0, 0, False)):
        addresses = [x.ctypes.data, y[low:].ctypes.data, y[high:].ctypes.data]
        if apart:
            assert context.execute_v2(addresses)
        else:
            with pytest.raises(trt.Error, match="outputs 'low' and 'high' lie on the same memory"):
                context.execute_v2(addresses)


def test_tensor_scatter_writes_in_place():
    """Of opset 24, as models with caches of fixed room have it."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("TensorScatter", ["past", "rows", "at"], ["present"], axis=2)], "scatter",
        [value("past", TensorProto.FLOAT, [2, 3, ROOM, SIZE]), value("rows", TensorProto.FLOAT, [2, 3, 2, SIZE]),
         value("at", TensorProto.INT64, [2])], [value("present", TensorProto.FLOAT, [2, 3, ROOM, SIZE])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11).SerializeToString()
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network()
    assert trt.OnnxParser(network, logger).parse(model)
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    assert engine.get_aliased_input_tensor("present") == "past"
    cache, rows = floats(2, 3, ROOM, SIZE), floats(2, 3, 2, SIZE)
    wanted = cache.copy()
    wanted[0, :, 4:6], wanted[1, :, 35:37] = rows[0], rows[1]
    run(engine.create_execution_context(), {"past": cache, "rows": rows, "at": numpy.array([4, 35])},
        {"present": cache})
    numpy.testing.assert_array_equal(cache, wanted)
