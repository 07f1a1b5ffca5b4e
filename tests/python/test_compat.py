"""camshaft.compat: the module named tensorrt, which fails as TensorRT does."""

import pathlib
import subprocess
import sys

import pytest

import camshaft

FOLDER = pathlib.Path(camshaft.__file__).parent

PROGRAM = """
import sys
import numpy
import tensorrt as trt
import tensorrt.tensorrt
import tensorrt.plugin as trtp
from tensorrt.plugin._lib import QDP_REGISTRY
from tensorrt import Builder
import importlib.util, importlib
assert importlib.util.find_spec("tensorrt") is not None
assert trt.__file__.endswith("__init__.py") and trt.__path__ and trt.__loader__ and trt.nptype(trt.float32)
try:
    trt.Bulider
except AttributeError as error:
    assert str(error) == "module 'tensorrt' has no attribute 'Bulider'"
assert trt.__version__.startswith("10.16.") and tensorrt.tensorrt.ITensor is trt.ITensor
assert trtp.register and trt.plugin is trtp and isinstance(trt.Logger.WARNING, trt.ILogger.Severity)

@trtp.register("compat::same")
def describe(x: trtp.TensorDesc) -> trtp.TensorDesc:
    return x.like()

assert QDP_REGISTRY["compat::same"] is trtp.op.compat.same

assert issubclass(trt.Logger, trt.ILogger) and isinstance(trt.Logger(), trt.ILogger)

class Log(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)
        self.errors = []
    def log(self, severity, msg):
        if severity <= trt.ILogger.ERROR:
            self.errors.append(msg)

log = Log()
builder = Builder(log)
network = builder.create_network()
x = network.add_input("x", trt.float32, (2, 3))
assert network.add_input("x", trt.float32, (2, 3)) is None  # the name is taken
assert network.add_constant((3,), trt.Weights()) is None
config = builder.create_builder_config()
config.default_device_type = trt.DeviceType.CPU
assert builder.build_serialized_network(network, config) is None  # no output
assert trt.Runtime(log).deserialize_cuda_engine(b"nonsense") is None
assert config.set_tactic_sources(1 << 20) is False
config.DLA_core = 3  # refused, and nothing is raised
relu = network.add_activation(x, trt.ActivationType.RELU)
network.mark_output(relu.get_output(0))
engine = trt.Runtime(log).deserialize_cuda_engine(builder.build_serialized_network(network, config))
context = engine.create_execution_context()
assert context.set_input_shape("x", (5, 5)) is False and engine.get_tensor_name(9) is None
assert context.execute_async_v3(0) is False  # no addresses
assert trt.Refitter(engine, log) is None  # it was not built to be refitted
config.flags = 1 << int(trt.BuilderFlag.REFIT) | 1 << int(trt.BuilderFlag.STRIP_PLAN)
weights = network.add_constant((2, 3), numpy.ones((2, 3), numpy.float32))
total = network.add_elementwise(relu.get_output(0), weights.get_output(0), trt.ElementWiseOperation.SUM)
network.mark_output(total.get_output(0))
engine = trt.Runtime(log).deserialize_cuda_engine(builder.build_serialized_network(network, config))
assert trt.Refitter(engine, log).refit_cuda_engine() is False  # weights are missing
assert trt.init_libnvinfer_plugins(log, "")
assert "EfficientNMS_TRT" in [creator.name for creator in trt.get_plugin_registry().plugin_creator_list]
assert len(log.errors) >= 10, log.errors
print("as TensorRT", *sys.argv[1:])
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def run(*arguments, **environment):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True,
                          env={"PYTHONPATH": str(FOLDER.parent), **environment})


def test_a_program_runs_as_it_is(program):
    done = run("-m", "camshaft.compat", program, "and", "arguments")
    assert (done.stdout, done.stderr) == ("as TensorRT and arguments\n", "")


def test_a_module_runs_as_it_is(program):
    done = run("-m", "camshaft.compat", "-m", "program", "again", PYTHONPATH=f"{FOLDER.parent}:{program.parent}")
    assert (done.stdout, done.stderr) == ("as TensorRT again\n", "")


def test_a_folder_on_the_path_does_it_too(program):
    folder = run("-m", "camshaft.compat", "--path").stdout.strip()
    done = run(program, "once", "more", PYTHONPATH=f"{FOLDER.parent}:{folder}")
    assert (done.stdout, done.stderr) == ("as TensorRT once more\n", "")


def test_without_a_program_it_says_how():
    done = run("-m", "camshaft.compat")
    assert done.returncode == 1 and "usage" in done.stderr


def test_camshaft_still_raises_beside_it():
    done = run("-c", "import camshaft.compat, camshaft, tensorrt\n"
                     "for trt in (tensorrt, camshaft):\n"
                     "    runtime = trt.Runtime(trt.Logger(trt.Logger.INTERNAL_ERROR))\n"
                     "    try: print(runtime.deserialize_cuda_engine(b'nonsense'))\n"
                     "    except camshaft.Error: print('raised')\n")
    assert (done.stdout, done.stderr) == ("None\nraised\n", "")
