"""Quantised models give the bytes of the integer definition (integer_definition.py), on the CPU and on the GPU, which
the emulated CUDA backend stands in for: every tensor that is quantised is an output, and is compared byte by byte.

The library opens its CUDA backend once per process, so models are built for the GPU in one of their own.
"""

import os
import pathlib
import subprocess
import sys

import integer_definition
import numpy
import onnx
import pytest
from models import inputs, regenerate
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process
from test_quantised import pictures, sequences

import camshaft

EMULATED = pathlib.Path(camshaft.__file__).parents[2] / "lib" / "libcamshaft_cuda_emulated.so"
ON_EMULATOR = {"CAMSHAFT_CUDA_LIBRARY": str(EMULATED), "CAMSHAFT_TRIALS": "none",
               "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parents[1]), *sys.path])}
U8, I8 = quantization.QuantType.QUInt8, quantization.QuantType.QInt8


def random_of(seed):
    return numpy.random.default_rng(seed)


class Samples(quantization.CalibrationDataReader):
    def __init__(self, samples):
        self.left = list(samples)

    def get_next(self):
        return self.left.pop() if self.left else None


def static(path, samples, folder, **options):
    """As ONNX Runtime's quantiser writes it."""
    quantization.quantize_static(path, folder / "static.onnx", Samples(samples), **options)
    return onnx.load(folder / "static.onnx"), samples[0]


def some_pictures(folder, **options):
    random = random_of(3)
    samples = [{"x": (random.standard_normal((2, 3, 12, 12)) * 4).astype(numpy.float32)} for _ in range(3)]
    return static(pictures(folder), samples, folder, quant_format=quantization.QuantFormat.QDQ, **options)


def network(folder, name, **dims):
    """A whole network with small pictures, a scale for each channel of weights."""
    model = regenerate.load(name)
    onnx.save(model, folder / "whole.onnx")
    quant_pre_process(str(folder / "whole.onnx"), str(folder / "prepared.onnx"), skip_symbolic_shape=True)
    return static(folder / "prepared.onnx", [inputs.feeds(model, dims)], folder,
                  quant_format=quantization.QuantFormat.QDQ, per_channel=True, activation_type=U8, weight_type=I8)


def dynamic(folder):
    """The first product alone: what the LSTM in front gives is no matter of bytes."""
    quantization.quantize_dynamic(sequences(folder), folder / "dynamic.onnx", weight_type=I8)
    model = onnx.load(folder / "dynamic.onnx")
    onnx.save(onnx.utils.Extractor(onnx.shape_inference.infer_shapes(model)).extract_model(["h"], ["y"]),
              folder / "product.onnx")
    return onnx.load(folder / "product.onnx"), {"h": random_of(5).standard_normal((6, 3, 16)).astype(numpy.float32)}


class Exporter:
    """Graphs as PyTorch's exporter writes quantised modules: a pair behind each operator, f32 biases."""

    def __init__(self, kind):
        self.kind, self.nodes, self.weights, self.random = kind, [], {}, random_of(11)

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights[name] = array
        return name

    def add(self, op, names, **attributes):
        self.nodes.append(helper.make_node(op, names, [f"t{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def pair(self, x, scale, zero):
        at = [self.constant(numpy.float32(scale)), self.constant(self.kind(zero))]
        return self.add("DequantizeLinear", [self.add("QuantizeLinear", [x, *at]), *at])

    def product(self, op, x, shape, scale, **attributes):
        values = self.random.integers(-127, 128, shape).astype(numpy.int8)
        scales = (scale * self.random.uniform(0.5, 1, shape[0])).astype(numpy.float32)
        weights = self.add("DequantizeLinear", [self.constant(values), self.constant(scales),
                                                self.constant(numpy.zeros(shape[0], numpy.int8))], axis=0)
        bias = self.constant(self.random.standard_normal(shape[0]).astype(numpy.float32))
        return self.add(op, [x, weights, bias], **attributes)


def exported(folder, kind):
    at = Exporter(kind)
    zero = 0 if kind is numpy.int8 else 128
    relu_zero = -128 if kind is numpy.int8 else 0
    x = at.pair("x", 0.025, zero + 3)
    first = at.pair(at.add("Relu", [at.product("Conv", x, (16, 3, 3, 3), 0.004, pads=[1] * 4)]), 0.03, relu_zero)
    each = at.pair(at.add("Clip", [at.product("Conv", first, (16, 1, 5, 5), 0.003, pads=[2] * 4, strides=[2, 2],
                                              group=16),
                                   at.constant(numpy.float32(0)), at.constant(numpy.float32(6))]), 6 / 255, relu_zero)
    inner = at.pair(at.product("Conv", each, (16, 16, 1, 1), 0.004), 0.06, zero - 5)
    joined = at.pair(at.add("Relu", [at.add("Add", [inner, each])]), 0.04, relu_zero)
    gate = at.pair(at.add("HardSigmoid", [joined], alpha=1 / 6), 1 / 256, relu_zero)
    gated = at.pair(at.add("Mul", [joined, gate]), 0.03, relu_zero)
    both = at.pair(at.add("Concat", [gated, each], axis=1), 0.03, relu_zero)
    mean = at.pair(at.add("GlobalAveragePool", [both]), 0.02, relu_zero)
    flat = at.add("Flatten", [mean])
    at.pair(at.product("Gemm", flat, (10, 32), 0.005, transB=1), 0.05, zero + 1)
    value = helper.make_tensor_value_info
    graph = helper.make_graph(at.nodes, "exported", [value("x", TensorProto.FLOAT, [2, 3, 14, 14])],
                              [value(at.nodes[-1].output[0], TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(numpy.asarray(array), name)
                               for name, array in at.weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model, {"x": random_of(2).uniform(-3, 3, (2, 3, 14, 14)).astype(numpy.float32)}


MODELS = {
    "u8": lambda folder: some_pictures(folder, activation_type=U8, weight_type=I8),
    "u8, by channel": lambda folder: some_pictures(folder, activation_type=U8, weight_type=I8, per_channel=True),
    "u8 weights": lambda folder: some_pictures(folder, activation_type=U8, weight_type=U8),
    "i8, by channel": lambda folder: some_pictures(folder, activation_type=I8, weight_type=I8, per_channel=True),
    "i8 around zero": lambda folder: some_pictures(folder, activation_type=I8, weight_type=I8,
                                                   extra_options={"ActivationSymmetric": True}),
    "dynamic": dynamic,
    "exported u8": lambda folder: exported(folder, numpy.uint8),
    "exported i8": lambda folder: exported(folder, numpy.int8),
}
# On the CPU alone: emulation takes too long.
NETWORKS = {
    "mobilenet_v3_large": lambda folder: network(folder, "mobilenet_v3_large-dynamo18-dynamic", batch=1, height=64,
                                                 width=64),
    "resnet50": lambda folder: network(folder, "resnet50-legacy13-dynamic", batch=1, height=64, width=64),
}


def showing_bytes(model):
    """The model with every quantised tensor as an output too."""
    zeros = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    shown = {output.name for output in model.graph.output}
    for node in model.graph.node:
        if node.op_type == "QuantizeLinear" and node.output[0] not in shown:
            model.graph.output.append(helper.make_tensor_value_info(node.output[0], zeros[node.input[2]], None))
    return model


def run(model, feeds, device):
    shapes = {name: array.shape for name, array in feeds.items()}
    # Timing kernels of an emulated GPU takes long and says nothing.
    level = 0 if device == "gpu" else 3
    return camshaft.load(camshaft.build(model, device=device, shapes=shapes, optimization_level=level))(feeds)


def assert_same(found, wanted, who):
    for name, array in wanted.items():
        differ = int(numpy.count_nonzero(found[name] != array))
        assert differ == 0, f"{name}: {differ} of {array.size} elements are not {who}"


@pytest.mark.parametrize("name", MODELS | NETWORKS)
@pytest.mark.parametrize("shows", [True, False], ids=["tensors", "results"])
def test_bytes_are_those_of_the_definition(tmp_path, name, shows):
    model, feeds = (MODELS | NETWORKS)[name](tmp_path)
    if shows:
        model = showing_bytes(model)
    assert_same(run(model, feeds, "cpu"), integer_definition.run(model, feeds), "the definition's")


@pytest.mark.skipif(not EMULATED.exists(), reason="the emulated GPU is not built")
@pytest.mark.parametrize("name", MODELS)
def test_bytes_are_the_same_on_a_gpu(tmp_path, name):
    model, feeds = MODELS[name](tmp_path)
    model = showing_bytes(model)
    onnx.save(model, tmp_path / "model.onnx")
    numpy.savez(tmp_path / "feeds.npz", **feeds)
    done = subprocess.run([sys.executable, __file__, str(tmp_path)], capture_output=True, text=True,
                          env=os.environ | ON_EMULATOR, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    with numpy.load(tmp_path / "gpu.npz") as stored:
        assert_same(run(model, feeds, "cpu"), dict(stored), "the GPU's")


if __name__ == "__main__":
    place = pathlib.Path(sys.argv[1])
    with numpy.load(place / "feeds.npz") as stored:
        numpy.savez(place / "gpu.npz", **run(str(place / "model.onnx"), dict(stored), "gpu"))
