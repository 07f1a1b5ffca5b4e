"""Building and running again and again must not grow the process."""

import gc
import pathlib

import numpy
from building import build
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
