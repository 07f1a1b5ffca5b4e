"""Building and running again and again must not grow the process, and a build has weights twice at most."""

import gc
import pathlib
import subprocess
import sys

import numpy
from building import build
from onnx import TensorProto, helper, numpy_helper
from small_models import perceptron

import camshaft as trt


def resident_bytes():
    pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


def test_two_hundred_engines_leave_nothing_behind(logger):
    model, reference = perceptron()
    x = numpy.ones((2, 4), numpy.float32)

    def one():
        engine = build(model, [{"x": (2, 4)}], level=0, threads=1, logger=logger)
        return trt.infer(engine.create_execution_context(), {"x": x})["y"]

    for _ in range(50):  # allocators and caches reach their size
        numpy.testing.assert_allclose(one(), reference(x), rtol=1e-4, atol=1e-5)
    gc.collect()
    before = resident_bytes()
    for _ in range(200):
        one()
    gc.collect()
    assert resident_bytes() - before < 4 << 20


PEAK = """
import pathlib
import camshaft
def most(): # bytes that were resident at most
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10
SETTINGS = dict(device="cpu", optimization_level=0, threads=1)
camshaft.load(camshaft.build("small.onnx", "small.engine", shapes=dict(x=(2, 4)), **SETTINGS))  # all that is imported
before = most()
{}
print(most() - before)
"""


def test_a_build_has_the_weights_as_they_came_and_packed(tmp_path):
    """Neither all candidates at once, nor the engine as bytes, nor pages of the model that were copied."""
    size, layers = 1536, 8
    weights = [numpy_helper.from_array(numpy.random.default_rng(i).random((size, size), numpy.float32), f"w{i}")
               for i in range(layers)]
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(layers)]
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, size])] for name in ("x0", f"x{layers}")]
    model = helper.make_model(helper.make_graph(nodes, "products", *ends, weights), ir_version=10,
                              opset_imports=[helper.make_opsetid("", 20)])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "small.onnx").write_bytes(perceptron()[0])
    weight_bytes = layers * size * size * 4

    def peak(work):
        done = subprocess.run([sys.executable, "-c", PEAK.format(work)], cwd=tmp_path, capture_output=True, text=True,
                              check=True)
        return int(done.stdout) / weight_bytes

    assert peak("camshaft.build('m.onnx', 'm.engine', **SETTINGS)") < 2.4
    assert peak("camshaft.load('m.engine', threads=1)") < 0.2  # weights come when they are used


def test_loggers_live_as_long_as_what_reports_to_them():
    dead = []

    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)

        def log(self, severity, text):
            pass

        def __del__(self):
            dead.append(self)

    network = trt.Builder(trt.Logger()).create_network()
    for user in (trt.Runtime(Logger()), trt.Builder(Logger()), trt.OnnxParser(network, Logger())):
        gc.collect()
        assert not dead, type(user)
