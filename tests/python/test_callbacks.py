"""What the user implements: readers, writers, listeners and allocators, called by the library."""

import ctypes
import io

import numpy
import pytest
from small_models import perceptron

import camshaft as trt

X = numpy.arange(8, dtype=numpy.float32).reshape(2, 4)


class Writer(trt.IStreamWriter):
    def __init__(self, most=1 << 30):
        trt.IStreamWriter.__init__(self)
        self.most, self.written = most, b""

    def write(self, data):
        taken = min(len(data), self.most)
        self.written += data[:taken]
        return taken


class Reader(trt.IStreamReader):
    def __init__(self, data):
        trt.IStreamReader.__init__(self)
        self.file = io.BytesIO(data)

    def read(self, size):
        return self.file.read(size)


class ReaderV2(trt.IStreamReaderV2):
    def __init__(self, data):
        trt.IStreamReaderV2.__init__(self)
        self.file = io.BytesIO(data)

    def read(self, num_bytes, stream):
        return self.file.read(num_bytes)

    def seek(self, offset, where):
        return self.file.seek(offset, where)


@pytest.fixture
def plan(builder, config, parsed):
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 4), (2, 4), (4, 4))
    config.add_optimization_profile(profile)
    return bytes(builder.build_serialized_network(parsed, config))


@pytest.mark.parametrize("make", [Reader, ReaderV2])
def test_engines_are_read_from_streams(logger, plan, make):
    engine = trt.Runtime(logger).deserialize_cuda_engine(make(plan))
    numpy.testing.assert_allclose(trt.infer(engine, {"x": X})["y"], perceptron()[1](X), rtol=1e-4, atol=1e-5)
    with pytest.raises(trt.Error):
        trt.Runtime(logger).deserialize_cuda_engine(make(plan[:100]))


@pytest.mark.parametrize("most", [1 << 30, 1000])
def test_engines_are_written_to_streams(builder, config, parsed, plan, logger, most):
    writer = Writer(most)
    assert builder.build_serialized_network_to_stream(parsed, config, writer)
    engine = trt.Runtime(logger).deserialize_cuda_engine(writer.written)
    assert engine.num_io_tensors == 2


def test_a_writer_that_raises_ends_the_build(builder, config, parsed, plan, monkeypatch, capsys):
    monkeypatch.setattr("sys.unraisablehook", lambda caught: print("caught", caught.exc_value))
    with pytest.raises(trt.Error, match="stream writer failed"):
        builder.build_serialized_network_to_stream(parsed, config, trt.IStreamWriter())
    assert "write() is for the class of the user" in capsys.readouterr().out


class Listener(trt.IDebugListener):
    def __init__(self):
        trt.IDebugListener.__init__(self)
        self.seen = {}

    def process_debug_tensor(self, addr, location, type, shape, name, stream):
        assert type is trt.float32 and location is trt.TensorLocation.HOST
        size = int(numpy.prod(tuple(shape)))
        values = numpy.ctypeslib.as_array((ctypes.c_float * size).from_address(addr))
        self.seen[name] = values.reshape(tuple(shape)).copy()  # and nothing is returned


def test_listeners_see_marked_tensors(network, build):
    x = network.add_input("x", trt.float32, (2, 4))
    middle = network.add_elementwise(x, x, trt.ElementWiseOperation.SUM).get_output(0)
    middle.name = "middle"
    y = network.add_unary(middle, trt.UnaryOperation.NEG).get_output(0)
    y.name = "y"
    network.mark_output(y)
    assert network.mark_debug(middle) and network.is_debug_tensor(middle)
    engine = build(network)
    context, listener = engine.create_execution_context(), Listener()
    assert engine.is_debug_tensor("middle") and context.set_debug_listener(listener)
    assert context.get_debug_listener() is listener and context.set_all_tensors_debug_state(True)
    numpy.testing.assert_array_equal(trt.infer(context, {"x": X})["y"], -2 * X)
    numpy.testing.assert_array_equal(listener.seen["middle"], 2 * X)


class AsyncOutput(trt.IOutputAllocator):
    """Defines the asynchronous call alone."""

    def __init__(self):
        trt.IOutputAllocator.__init__(self)
        self.memory, self.shape = numpy.empty(0, numpy.uint8), ()

    def reallocate_output_async(self, tensor_name, memory, size, alignment, stream):
        self.memory = numpy.zeros(size + alignment, numpy.uint8)
        return self.memory.ctypes.data + -self.memory.ctypes.data % alignment

    def notify_shape(self, tensor_name, shape):
        self.shape = tuple(shape)


def test_output_allocators_may_be_asynchronous_alone(engine):
    context, output = engine.create_execution_context(), AsyncOutput()
    context.set_input_shape("x", X.shape)
    context.set_tensor_address("x", X.ctypes.data)
    assert context.set_output_allocator("y", output) and context.execute_async_v3(0)
    assert output.shape == (2, 3)


def test_recorders_are_told(builder):
    class Recorder(trt.IErrorRecorder):
        def __init__(self):
            trt.IErrorRecorder.__init__(self)
            self.errors = []

        def report_error(self, error_code, description):
            self.errors.append((error_code, description))
            return False

    builder.error_recorder = recorder = Recorder()
    network = builder.create_network()
    network.error_recorder = recorder
    with pytest.raises(trt.Error):
        network.add_constant((3,), numpy.zeros(2, numpy.float32))
    assert recorder.errors and isinstance(recorder.errors[0][0], trt.ErrorCodeTRT)


def test_interfaces_say_whose_they_are():
    class Allocator(trt.IGpuAllocator):
        pass

    for made in (Allocator(), Writer(), Listener(), AsyncOutput()):
        assert made.api_language is trt.APILanguage.PYTHON and made.interface_info.major == 1
    assert Writer().interface_info.kind == "IStreamWriter"
