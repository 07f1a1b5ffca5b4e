"""Calibrators of Python's: engines in 8-bit integers beside ONNX Runtime's f32, and what is kept of them."""

import re
import struct

import numpy
import onnx
import onnxruntime
import pytest
from building import DEVICE
from onnx import TensorProto, helper, numpy_helper

import camshaft as trt

SHAPE = (2, 3, 16, 16)
random = numpy.random.default_rng(3)


def pictures(count):
    return [random.standard_normal(SHAPE).astype(numpy.float32) for _ in range(count)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Convolutions, plain and depthwise, whose activations reach to one side and to both, with a residual sum, a
    concatenation and a classifier."""

    def weights(*shape):
        return (random.standard_normal(shape) / numpy.sqrt(numpy.prod(shape[1:]))).astype(numpy.float32)

    node, pads = helper.make_node, [1, 1, 1, 1]
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], "first", pads=pads), node("Relu", ["c1"], ["r1"]),
        node("Conv", ["r1", "w2"], ["c2"], "depthwise", pads=pads, group=8), node("HardSwish", ["c2"], ["h"]),
        node("Conv", ["h", "w3"], ["c3"], "pixel"), node("Add", ["c3", "r1"], ["s"]),
        node("Concat", ["s", "r1"], ["cat"], axis=1),
        node("MaxPool", ["cat"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["m", "w4"], ["c4"], "joined", pads=pads), node("Tanh", ["c4"], ["t"]),
        node("GlobalAveragePool", ["t"], ["v"]), node("Flatten", ["v"], ["f"]),
        node("Gemm", ["f", "w5", "b5"], ["y"], "classifier", transB=1)]
    constants = {"w1": weights(8, 3, 3, 3), "b1": weights(8), "w2": weights(8, 1, 3, 3), "w3": weights(8, 8, 1, 1),
                 "w4": weights(12, 16, 3, 3), "w5": weights(5, 12), "b5": weights(5)}
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "model", [value("x", TensorProto.FLOAT, ["n", *SHAPE[1:]])], [value("y", TensorProto.FLOAT, ["n", 5])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


class Log(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)
        self.lines = []

    def log(self, severity, message):
        self.lines.append((severity, message))

    def of(self, severity):
        return [message for level, message in self.lines if level == severity]


def calibrator(base, batches, **methods):
    """One of `base` over arrays on the host, with what it was asked for."""

    class Calibrator(base):
        def __init__(self):
            base.__init__(self)
            self.batches, self.names, self.cache, self.kept = list(batches), [], None, None

        def get_batch_size(self):
            return SHAPE[0]

        def get_batch(self, names):
            self.names.append(names)
            if not self.batches:
                return None
            self.kept = self.batches.pop()  # until the next call
            return [self.kept.ctypes.data]

        def read_calibration_cache(self):
            return self.cache

        def write_calibration_cache(self, cache):
            self.cache = cache.tobytes()

    for name, method in methods.items():
        setattr(Calibrator, name, method)
    return Calibrator()


class Build:
    """What it takes to build the model's engine."""

    def __init__(self, model, calibrator=None):
        self.log = Log()
        self.builder = trt.Builder(self.log)
        self.network = self.builder.create_network()
        self.parser = trt.OnnxParser(self.network, self.log)
        assert self.parser.parse_from_file(str(model))
        self.config = self.builder.create_builder_config()
        self.config.default_device_type = DEVICE
        self.config.builder_optimization_level = 0
        self.config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        self.config.set_flag(trt.BuilderFlag.INT8)
        self.profile = self.builder.create_optimization_profile()
        self.profile.set_shape("x", (1, *SHAPE[1:]), SHAPE, (4, *SHAPE[1:]))
        self.config.add_optimization_profile(self.profile)
        if calibrator:
            self.config.int8_calibrator = calibrator

    def engine(self):
        return trt.Runtime(self.log).deserialize_cuda_engine(
            self.builder.build_serialized_network(self.network, self.config))


def products_of_integers(engine):
    inspector = engine.create_engine_inspector()
    layers = [inspector.get_layer_information(i, trt.LayerInformationFormat.JSON) for i in range(engine.num_layers)]
    return sum("ConvInteger" in layer or "MatMulInteger" in layer for layer in layers)


def error(engine, model):
    """‖ours - f32‖ / ‖f32‖ on another picture."""
    x = pictures(1)[0]
    expected = onnxruntime.InferenceSession(model).run(None, {"x": x})[0]
    actual = trt.infer(engine, {"x": x})["y"]
    return numpy.linalg.norm(actual - expected) / numpy.linalg.norm(expected)


LEGACY = {"get_quantile": lambda self: 0.9999, "get_regression_cutoff": lambda self: 0.5,
          "read_histogram_cache": lambda self, length: None, "write_histogram_cache": lambda self, ptr, length: None}
CALIBRATORS = [
    (trt.IInt8EntropyCalibrator2, {}, "EntropyCalibration2"),
    (trt.IInt8EntropyCalibrator, {}, "EntropyCalibration"),
    (trt.IInt8MinMaxCalibrator, {}, "MinMaxCalibration"),
    (trt.IInt8LegacyCalibrator, LEGACY, "LegacyCalibration"),
    (trt.IInt8Calibrator, {"get_algorithm": lambda self: trt.CalibrationAlgoType.MINMAX_CALIBRATION},
     "MinMaxCalibration"),
    (trt.IInt8Calibrator, {"get_algorithm": lambda self: trt.CalibrationAlgoType.LEGACY_CALIBRATION},
     "LegacyCalibration"),
]


@pytest.mark.parametrize("base, methods, algorithm", CALIBRATORS)
def test_engines_agree_with_f32(model, base, methods, algorithm):
    source = calibrator(base, pictures(3), **methods)
    build = Build(model, source)
    engine = build.engine()
    assert products_of_integers(engine) == 5
    assert error(engine, model) < 0.05
    assert source.names == [["x"]] * 4
    assert not build.log.of(trt.ILogger.WARNING)

    header, *lines = source.cache.decode().splitlines()
    assert header == f"TRT-101600-{algorithm}"
    scales = dict(re.fullmatch(r"(.*): ([0-9a-f]{8})", line).groups() for line in lines)
    assert {"x", "c1", "r1", "h", "s", "cat", "m", "t", "f", "y"} <= set(scales)
    assert 0 < struct.unpack(">f", bytes.fromhex(scales["r1"]))[0] < 1

    again = Build(model, source).engine()  # from the cache: there is no data any more
    x = pictures(1)[0]
    numpy.testing.assert_array_equal(trt.infer(again, {"x": x})["y"], trt.infer(engine, {"x": x})["y"])


def test_more_data_than_one_range(model):
    """Batches that differ by far are one distribution, whatever their order."""
    batches = [batch * scale for batch, scale in zip(pictures(3), (0.01, 10, 1))]
    caches = []
    for order in (batches, batches[::-1]):
        source = calibrator(trt.IInt8MinMaxCalibrator, order)
        Build(model, source).engine()
        caches.append(source.cache)
    assert caches[0] == caches[1]
    largest = max(numpy.abs(batch).max() for batch in batches)
    assert f"x: {struct.pack('>f', largest / 127).hex()}" in caches[0].decode()


def test_what_python_raises_ends_the_build(model):
    def broken(self, names):
        raise KeyError("no such picture")

    source = calibrator(trt.IInt8EntropyCalibrator2, [], get_batch=broken)
    with pytest.raises(trt.Error, match="gave no batch"):
        Build(model, source).engine()


def test_ranges_instead_of_calibrators(model):
    build = Build(model)
    tensor = build.network.get_input(0)
    assert tensor.dynamic_range is None
    tensor.dynamic_range = (-4, 4)
    assert tensor.dynamic_range == (-4, 4)
    engine = build.engine()
    assert products_of_integers(engine) == 1
    (warning,) = build.log.of(trt.ILogger.WARNING)
    assert "layers that read r1, h, m, f stay in floating point" in warning
    for layer in build.network:
        for i in range(layer.num_outputs):
            layer.get_output(i).set_dynamic_range(-8, 8)
    engine = build.engine()
    assert products_of_integers(engine) == 5
    assert error(engine, model) < 0.1
    tensor.reset_dynamic_range()
    assert tensor.dynamic_range is None


def test_layers_that_stay_in_floating_point(model):
    build = Build(model, calibrator(trt.IInt8EntropyCalibrator2, pictures(1)))
    build.config.set_flag(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS)
    for layer in build.network:
        if layer.name in ("depthwise", "joined"):
            layer.precision = trt.float32
    assert products_of_integers(build.engine()) == 3


def test_layers_are_timed(model):
    """Whatever is found to be faster, results stay what they are."""
    build = Build(model, calibrator(trt.IInt8EntropyCalibrator2, pictures(2)))
    build.config.builder_optimization_level = 3
    engine = build.engine()
    (line,) = [line for line in build.log.of(trt.ILogger.INFO) if "products read 8-bit integers" in line]
    chosen, slower = map(int, re.findall(r"\d+ (?=products|are)", line))
    assert products_of_integers(engine) == chosen and chosen + slower == 5
    assert error(engine, model) < 0.05
