"""Engines that are given other weights: each equals ONNX Runtime on the model it was refitted from."""

import numpy as np
import onnx
import onnxruntime
import pytest
from building import DEVICE, loaded
from onnx import TensorProto, helper, numpy_helper

import camshaft as trt

LOGGER = trt.Logger(trt.Logger.ERROR)


def model_of(nodes, inputs, weights):
    """A model whose weights are drawn from a seed; `weights` is {name: shape} with a floor for variances."""
    def made(seed):
        random = np.random.default_rng(seed)
        tensors = []
        for name, shape in weights.items():
            low = 0.5 if name == "variance" else -1
            values = random.uniform(low, 1, shape) if seed else np.zeros(shape)
            tensors.append(numpy_helper.from_array(values.astype(np.float32), name))
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model).SerializeToString()

    made.inputs = inputs
    return made


node = helper.make_node
CLASSIFIER = model_of(
    [node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1]),
     node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], ["n"]), node("Relu", ["n"], ["r"]),
     node("Flatten", ["r"], ["f"]), node("Gemm", ["f", "m", "k"], ["y"], transB=1)],
    {"x": (2, 3, 8, 8)},
    {"w": (8, 3, 3, 3), "b": (8,), "scale": (8,), "shift": (8,), "mean": (8,), "variance": (8,), "m": (5, 512),
     "k": (5,)})
LSTM = model_of(
    [node("LSTM", ["x", "w", "r", "b"], ["s"], hidden_size=6), node("Squeeze", ["s"], ["t"]),
     node("MatMul", ["t", "m"], ["y"])],
    {"x": (4, 2, 3)}, {"w": (1, 24, 3), "r": (1, 24, 6), "b": (1, 48), "m": (6, 5)})
ATTENTION = model_of(
    [node("MatMul", ["x", "wq"], ["q"]), node("MatMul", ["x", "wk"], ["k"]), node("MatMul", ["x", "wv"], ["v"]),
     node("Transpose", ["k"], ["t"], perm=[0, 2, 1]), node("MatMul", ["q", "t"], ["s"]),
     node("Softmax", ["s"], ["p"], axis=-1), node("MatMul", ["p", "v"], ["a"]), node("Add", ["a", "x"], ["u"]),
     node("LayerNormalization", ["u", "scale", "shift"], ["y"], axis=-1)],
    {"x": (2, 5, 8)}, {"wq": (8, 8), "wk": (8, 8), "wv": (8, 8), "scale": (8,), "shift": (8,)})
MODELS = {"classifier": CLASSIFIER, "lstm": LSTM, "attention": ATTENTION}


def build(model, *flags, level=0):
    builder = trt.Builder(LOGGER)
    network = builder.create_network()
    assert trt.OnnxParser(network, LOGGER).parse(model)
    config = builder.create_builder_config()
    config.default_device_type = DEVICE
    config.builder_optimization_level = level
    config.clear_flag(trt.BuilderFlag.TF32)
    for flag in flags:
        config.set_flag(flag)
    return loaded(builder.build_serialized_network(network, config), 2, LOGGER)


def arrays(model):
    random = np.random.default_rng(9)
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in model.inputs.items()}


def check(engine_or_context, model, seed):
    inputs = arrays(model)
    (expected,) = onnxruntime.InferenceSession(model(seed), providers=["CPUExecutionProvider"]).run(None, inputs)
    found = trt.infer(engine_or_context, inputs)["y"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def refit(engine, model):
    refitter = trt.Refitter(engine, LOGGER)
    parser = trt.OnnxParserRefitter(refitter, LOGGER)
    assert parser.refit_from_bytes(model), [parser.get_error(i).desc() for i in range(parser.num_errors)]
    assert refitter.get_missing_weights() == []
    assert refitter.refit_cuda_engine()


@pytest.mark.parametrize("first", [1, 0], ids=["from weights", "from zeros"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("level", [0, 3])
def test_engine_computes_with_new_weights(name, first, level):
    model = MODELS[name]
    engine = build(model(first), trt.BuilderFlag.REFIT, level=level)
    assert engine.refittable
    context = engine.create_execution_context()
    check(context, model, first)
    refit(engine, model(2))
    check(context, model, 2)
    check(engine.create_execution_context(), model, 2)


@pytest.mark.parametrize("name", MODELS)
def test_stripped_engine(name):
    model = MODELS[name]
    engine = build(model(1), trt.BuilderFlag.STRIP_PLAN)
    with pytest.raises(trt.Error, match="stripped of its weights"):
        engine.create_execution_context()
    refitter = trt.Refitter(engine, LOGGER)
    assert refitter.get_missing_weights() == refitter.get_all_weights() != []
    with pytest.raises(trt.Error, match="still to be set"):
        refitter.refit_cuda_engine()
    refit(engine, model(1))
    check(engine.create_execution_context(), model, 1)


def test_weights_by_name_and_layer():
    engine = build(CLASSIFIER(1), trt.BuilderFlag.REFIT)
    refitter = trt.Refitter(engine, LOGGER)
    wanted = {t.name: numpy_helper.to_array(t) for t in onnx.load_from_string(CLASSIFIER(2)).graph.initializer}
    assert set(refitter.get_all_weights()) == set(wanted)
    layers, roles = refitter.get_all()
    assert ("conv", trt.WeightsRole.KERNEL) in zip(layers, roles)
    assert refitter.get_weights_prototype("w").size == 216
    refitter.set_weights("conv", trt.WeightsRole.KERNEL, wanted.pop("w"))
    for name, values in wanted.items():
        assert refitter.set_named_weights(name, values.copy())  # which nobody else keeps
    np.testing.assert_array_equal(refitter.get_named_weights("b").numpy(), wanted["b"])
    assert refitter.refit_cuda_engine()
    check(engine.create_execution_context(), CLASSIFIER, 2)


@pytest.mark.parametrize("name, weights, reason", [
    ("b", np.zeros(7, np.float32), "need 8 elements of type f32 and were given 7"),
    ("b", np.zeros(8, np.float16), "were given 8 of type f16"),
    ("c", np.zeros(8, np.float32), "are no weights"),
])
def test_wrong_weights(name, weights, reason):
    refitter = trt.Refitter(build(CLASSIFIER(1), trt.BuilderFlag.REFIT), LOGGER)
    with pytest.raises(trt.Error, match=reason):
        refitter.set_named_weights(name, weights)


def test_plain_engine():
    with pytest.raises(trt.Error, match="cannot be refitted; build it with BuilderFlag::kREFIT"):
        trt.Refitter(build(CLASSIFIER(1)), LOGGER)
