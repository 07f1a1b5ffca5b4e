"""The style of TensorRT 8: buffers by number, as tutorials allocate them."""


import numpy
import pytest
from onnx import TensorProto, helper
from small_models import perceptron

import camshaft as trt


class Buffer:
    """Host memory in the place of a device's: int() is its address, as pycuda has it."""

    def __init__(self, shape, dtype):
        self.array = numpy.zeros(shape, dtype)

    def __int__(self):
        return self.array.ctypes.data


def allocate_buffers(engine, context=None):
    inputs, outputs, bindings = [], [], []
    for binding in engine:
        source = context or engine
        size = trt.volume(source.get_binding_shape(engine[binding])) * engine.max_batch_size
        buffer = Buffer(size, trt.nptype(engine.get_binding_dtype(binding)))
        bindings.append(int(buffer))
        (inputs if engine.binding_is_input(binding) else outputs).append(buffer)
    return inputs, outputs, bindings


class PyCudaStream:
    handle = 0


class CupyStream:
    ptr = 0


class TorchStream:
    cuda_stream = 0


class CudaStream:
    def __cuda_stream__(self):
        return (0, 0)


class CudaPythonStream:
    def __int__(self):
        return 0


@pytest.fixture
def older(builder, network, config, logger):
    """An engine, by the calls of tutorials."""
    with pytest.warns(DeprecationWarning, match="set_memory_pool_limit"):
        config.max_workspace_size = 1 << 28
    with pytest.warns(DeprecationWarning, match="profiles"):
        builder.max_batch_size = 4
    with pytest.warns(DeprecationWarning):
        assert (builder.max_batch_size, config.max_workspace_size) == (4, 1 << 28)
    assert config.get_memory_pool_limit(trt.MemoryPoolType.WORKSPACE) == 1 << 28
    assert trt.OnnxParser(network, logger).parse(perceptron()[0])
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 4), (2, 4), (4, 4))
    config.add_optimization_profile(profile)
    with pytest.warns(DeprecationWarning, match="build_serialized_network"):
        return builder.build_engine(network, config)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("stream", [0, PyCudaStream(), CupyStream(), TorchStream(), CudaStream(), CudaPythonStream()])
def test_tutorials_run(older, stream):
    context = older.create_execution_context()
    assert context.set_binding_shape(0, (3, 4))
    (x,), (y,), bindings = allocate_buffers(older, context)
    x.array[:] = numpy.arange(12)
    assert context.execute_async_v2(bindings=bindings, stream_handle=stream)
    expected = perceptron()[1](x.array.reshape(3, 4))
    numpy.testing.assert_allclose(y.array.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)
    y.array[:] = 0
    assert context.execute_async_v2(bindings=[x, y], stream=stream)
    numpy.testing.assert_allclose(y.array.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensors_have_numbers(older):
    assert not hasattr(older, "num_bindings")  # clients test for it
    assert list(older) == [older[0], older[1]] == ["x", "y"] and len(older) == 2
    assert [older["x"], older.get_binding_index("y"), older.get_binding_index("z")] == [0, 1, -1]
    assert older.get_binding_name(1) == "y" and older.binding_is_input(0) and not older.binding_is_input("y")
    assert older.get_binding_shape("x") == (-1, 4) and older.get_binding_dtype(1) is trt.float32
    assert older.get_profile_shape(0, "x")[2] == (4, 4)
    for wrong in (2, -1):
        with pytest.raises(IndexError, match="no number"):
            older.get_binding_shape(wrong)
    with pytest.raises(KeyError):
        older.get_binding_dtype("z")
    with pytest.raises(ValueError, match="1 addresses"):
        older.create_execution_context().execute_async_v2([0], 0)


@pytest.mark.parametrize("call", [
    lambda engine, context: list(engine),
    lambda engine, context: engine["x"],
    lambda engine, context: engine.get_binding_shape(0),
    lambda engine, context: engine.get_binding_dtype(0),
    lambda engine, context: engine.get_binding_name(0),
    lambda engine, context: engine.get_binding_index("x"),
    lambda engine, context: engine.binding_is_input(0),
    lambda engine, context: context.set_binding_shape(0, (1, 4)),
    lambda engine, context: context.get_binding_shape(0),
])
def test_each_call_warns_once(older, call, recwarn):
    context = older.create_execution_context()
    recwarn.clear()
    call(older, context)
    assert [str(w.message).count("\n") for w in recwarn] == [0] and "use " in str(recwarn[0].message)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_sizes_that_the_data_decides_are_their_bound(builder, network, config, logger):
    graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["places"])], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, (3, 5))],
                              [helper.make_tensor_value_info("places", TensorProto.INT64, (2, "n"))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    assert trt.OnnxParser(network, logger).parse(model.SerializeToString())
    engine = builder.build_engine(network, config)
    assert engine.get_tensor_shape("places") == (2, -1) and engine.get_binding_shape("places") == (2, 15)
    context = engine.create_execution_context()
    (x,), (places,), bindings = allocate_buffers(engine, context)
    x.array[[1, 7, 14]] = 1
    assert context.execute_async_v2(bindings, 0)
    count = context.get_tensor_shape("places")[1]
    expected = numpy.nonzero(x.array.reshape(3, 5))
    numpy.testing.assert_array_equal(places.array[:2 * 3].reshape(2, 3), expected)
    assert count in (3, -1)


def test_a_stream_of_no_kind_is_refused(engine):
    with pytest.raises(TypeError):
        engine.create_execution_context().execute_async_v3(stream_handle="stream")
