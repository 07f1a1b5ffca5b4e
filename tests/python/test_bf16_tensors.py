"""Engines whose tensors are bf16 between nodes, as CPUs with AMX get them, beside ONNX Runtime in f32."""

import json

import numpy
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import camshaft as trt

random = numpy.random.default_rng(11)


def floats(*shape):
    return (random.standard_normal(shape) / numpy.sqrt(numpy.prod(shape[1:]))).astype(numpy.float32)


def saved(nodes, weights, shape):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "model", [value("x", TensorProto.FLOAT, shape)], [value("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def pictures():
    """A stem, a residual block with a depthwise convolution and a stride, pools, a resize and a
    concatenation; odd sizes."""
    node = helper.make_node
    nodes = [node("Conv", ["x", "stem", "b64"], ["s"], strides=[2, 2], pads=[3, 3, 3, 3]),
             node("Relu", ["s"], ["r"]), node("MaxPool", ["r"], ["m"], kernel_shape=[3, 3], strides=[2, 2]),
             node("Conv", ["m", "w1", "b64"], ["c1"], pads=[1, 1, 1, 1]), node("Relu", ["c1"], ["r1"]),
             node("Conv", ["r1", "depthwise", "b64"], ["d1"], pads=[1, 1, 1, 1], group=64),
             node("HardSwish", ["d1"], ["h1"]), node("Conv", ["h1", "w2"], ["c2"]), node("Add", ["c2", "m"], ["sum"]), node("Relu", ["sum"], ["r2"]),
             node("Conv", ["r2", "w3", "b40"], ["c3"], strides=[2, 2], pads=[1, 1, 1, 1]),
             node("Sigmoid", ["c3"], ["g"]), node("Mul", ["c3", "g"], ["silu"]),
             node("Conv", ["silu", "w4"], ["c4"], dilations=[2, 2], pads=[2, 2, 2, 2]),
             node("Resize", ["c4", "", "scales"], ["up"], mode="nearest"),
             node("AveragePool", ["r2"], ["a"], kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]),
             node("Slice", ["a", "zero", "size", "axes"], ["cut"]), node("Slice", ["up", "zero", "size", "axes"], ["part"]),
             node("Concat", ["part", "cut"], ["cat"], axis=1), node("ReduceMean", ["cat"], ["v"], axes=[2, 3], keepdims=0),
             node("MatMul", ["v", "w5"], ["logits"]), node("Softmax", ["logits"], ["y"])]
    weights = {"stem": floats(64, 3, 7, 7), "b64": floats(64), "w1": floats(64, 64, 3, 3),
               "depthwise": floats(64, 1, 3, 3), "w2": floats(64, 64, 1, 1),
               "w3": floats(40, 64, 3, 3), "b40": floats(40), "w4": floats(32, 40, 3, 3), "w5": 6 * floats(96, 10),
               "scales": numpy.array([1, 1, 2, 2], numpy.float32), "zero": numpy.zeros(2, numpy.int64),
               "size": numpy.array([7, 9]), "axes": numpy.array([2, 3])}
    return saved(nodes, weights, [2, 3, 37, 45])


def sentences():
    """Normalisation, products with an activation, a sum beside them, and a product of columns."""
    node = helper.make_node
    nodes = [node("LayerNormalization", ["x", "scale", "shift"], ["n"]), node("MatMul", ["n", "w1"], ["m"]),
             node("Add", ["m", "b1"], ["a"]), node("Div", ["a", "root"], ["d"]), node("Erf", ["d"], ["e"]),
             node("Add", ["e", "one"], ["p"]), node("Mul", ["a", "p"], ["q"]), node("Mul", ["q", "half"], ["gelu"]),
             node("MatMul", ["gelu", "w2"], ["back"]), node("Add", ["back", "x"], ["sum"]),
             node("MatMul", ["sum", "w3"], ["rows"]), node("Transpose", ["rows"], ["columns"], perm=[0, 2, 1]),
             node("MatMul", ["columns", "w4"], ["y"])]
    weights = {"scale": 1 + floats(64), "shift": floats(64), "w1": floats(64, 160), "b1": floats(160),
               "w2": floats(160, 64), "w3": floats(64, 33), "w4": floats(19, 21), "root": numpy.array(2 ** 0.5, numpy.float32),
               "one": numpy.array(1, numpy.float32), "half": numpy.array(0.5, numpy.float32)}
    return saved(nodes, weights, [3, 19, 64])


@pytest.mark.parametrize("model", [pictures, sentences])
def test_agrees_with_f32(model, monkeypatch, logger, builder, network, config):
    monkeypatch.setenv("CAMSHAFT_TEST_BF16_TENSORS", "1")
    model = model()
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(model)
    config.set_flag(trt.BuilderFlag.BF16)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    layers = json.loads(engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON))
    stored = [t["Format/Datatype"] for layer in layers["Layers"] for t in layer["Outputs"]]
    if not any("BF16" in form.upper() or "BFLOAT16" in form.upper() for form in stored):
        pytest.skip("this CPU multiplies no bf16")
    assert not [layer["Name"] for layer in layers["Layers"] if layer["TacticName"].startswith("reference")]
    x = random.standard_normal(engine.get_tensor_shape("x")).astype(numpy.float32)
    want = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    got = trt.infer(engine.create_execution_context(), {"x": x})["y"]
    assert got.dtype == numpy.float32
    assert numpy.linalg.norm(got - want) < 0.02 * numpy.linalg.norm(want)
