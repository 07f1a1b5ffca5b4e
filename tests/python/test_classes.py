"""Classes of objects: what they are from the start, and what assigning another can do."""

import pathlib
import subprocess
import sys

import numpy
import pytest

import camshaft as trt


@pytest.fixture
def x(network):
    return network.add_input("x", trt.float32, (1, 2, 4, 4))


@pytest.fixture
def layers(network, x):
    """An activation, a pooling and a softmax."""
    relu = network.add_activation(x, trt.ActivationType.RELU)
    pooling = network.add_pooling_nd(relu.get_output(0), trt.PoolingType.MAX, (2, 2))
    return relu, pooling, network.add_softmax(pooling.get_output(0))


CLASSES = (trt.IActivationLayer, trt.IPoolingLayer, trt.ISoftMaxLayer)
TYPES = (trt.LayerType.ACTIVATION, trt.LayerType.POOLING, trt.LayerType.SOFTMAX)


def test_layers_of_a_network_are_of_their_class_and_type(network, layers):
    for listed, layer, cls, kind in zip(network, layers, CLASSES, TYPES):
        assert isinstance(listed, cls) and listed.type is kind
        assert listed == layer and hash(listed) == hash(layer) and listed.name == layer.name
    assert layers[0].type is trt.ActivationType.RELU and layers[1].type is trt.PoolingType.MAX
    assert network.get_layer(0) != network.get_layer(1)


def test_the_class_that_clients_assign_is_the_one_it_is(network, layers):
    for i, cls in enumerate(CLASSES):
        listed = network.get_layer(i)
        listed.__class__ = cls
        assert type(listed) is cls
    relu = network.get_layer(0)
    relu.__class__ = trt.IActivationLayer
    assert relu.type is trt.ActivationType.RELU
    relu.type = trt.ActivationType.TANH
    relu.__class__ = trt.ILayer
    assert relu.type is trt.LayerType.ACTIVATION and layers[0].type is trt.ActivationType.TANH


@pytest.mark.parametrize("index", range(3))
def test_another_class_is_refused(network, layers, index):
    for listed in (network.get_layer(index), layers[index]):
        for name in dir(trt):
            cls = getattr(trt, name)
            if not isinstance(cls, type) or issubclass(CLASSES[index], cls):
                continue
            with pytest.raises(TypeError):
                listed.__class__ = cls
            with pytest.raises(TypeError):
                object.__setattr__(listed, "__class__", cls)


@pytest.mark.parametrize("make, other", [
    (lambda builder: builder, trt.Runtime),
    (lambda builder: builder.create_network(), trt.Builder),
    (lambda builder: trt.Logger(), trt.ILogger),
    (lambda builder: trt.Weights(), trt.Logger),
    (lambda builder: type("A", (trt.IGpuAllocator,), {})(), trt.IGpuAsyncAllocator),
    (lambda builder: type("A", (trt.IProfiler,), {"__slots__": ()})(), trt.Profiler),
    (lambda builder: trt.IInt8EntropyCalibrator(), trt.IInt8MinMaxCalibrator),
])
def test_so_is_it_for_other_objects(builder, make, other):
    thing = make(builder)
    before = type(thing)
    try:
        thing.__class__ = other
    except TypeError:
        pass
    assert type(thing) is before and thing.__class__ is before


def test_classes_of_the_user_can_change(builder):
    class First(trt.ILogger):
        def log(self, severity, msg):
            self.said = msg

    class Second(First):
        def log(self, severity, msg):
            self.said = "second"

    logger = First()
    logger.__class__ = Second
    logger.log(trt.Logger.ERROR, "first")
    assert logger.said == "second"


def test_methods_for_the_user_to_define_say_so():
    for cls, method in ((trt.ILogger, "log"), (trt.IProfiler, "report_layer_time"), (trt.IStreamReaderV2, "read"),
                        (trt.IGpuAllocator, "allocate"), (trt.IInt8Calibrator, "get_batch")):
        with pytest.raises(NotImplementedError, match=method):
            getattr(cls(), method)()


@pytest.mark.filterwarnings("ignore:nanobind")
def test_objects_that_were_never_initialised_are_refused():
    for cls in (trt.ILayer, trt.IActivationLayer, trt.ITensor, trt.ICudaEngine):
        empty = cls.__new__(cls)
        with pytest.raises(TypeError):
            empty.name
    layer = trt.ILayer.__new__(trt.ILayer)
    with pytest.raises(TypeError, match="never initialised"):
        layer.__class__ = trt.IActivationLayer
    with pytest.raises(BufferError):
        memoryview(trt.IHostMemory.__new__(trt.IHostMemory))


AT_EXIT = """
import camshaft as trt
logger = trt.Logger(trt.Logger.ERROR)
class Monitor(trt.IProgressMonitor): pass
class Log(trt.ILogger):
    def log(self, severity, msg): pass
builder = trt.Builder(Log())
network = builder.create_network()
config = builder.create_builder_config()
config.default_device_type = trt.DeviceType.CPU
config.progress_monitor = Monitor()
tensor = network.add_input("x", trt.float32, (2, 3))
layer = network.add_activation(tensor, trt.ActivationType.RELU)
network.mark_output(layer.get_output(0))
listed = list(network)
config.progress_monitor = None
engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
context = engine.create_execution_context()
cycle = [context, config]; cycle.append(cycle)
trt.kept = (listed, cycle, engine, tensor)
"""


LATER = """
import sys
import camshaft
assert "numpy" not in sys.modules, "it takes longer than all the rest"
assert camshaft.nptype(camshaft.float16) is sys.modules["numpy"].float16
from camshaft import infer, slim
"""


@pytest.mark.parametrize("program, arguments", [(AT_EXIT, ["-X", "dev"]), (LATER, [])], ids=["at exit", "later"])
def test_programs_run_in_silence(program, arguments):
    folder = pathlib.Path(trt.__file__).parent.parent
    done = subprocess.run([sys.executable, *arguments, "-c", program], capture_output=True, text=True,
                          env={"PYTHONPATH": str(folder)})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_parts_keep_the_whole_alive(logger):
    tensor = trt.Builder(logger).create_network().add_input("x", trt.float32, (3,))
    assert tensor.name == "x"
    layer = trt.Builder(logger).create_network().add_constant((1,), numpy.ones(1, numpy.float32))
    assert layer.get_output(0).shape == (1,) and layer.weights == 1
    assert trt.Builder(logger).create_network().builder.max_threads > 0
