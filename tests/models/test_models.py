"""Whole models against ONNX Runtime: one engine per model, several shapes each.

By default one variant of each architecture and axes; `pytest --all` takes every one, and
CAMSHAFT_TEST_ENGINES=gpu runs them on the GPU.
"""

import numpy
import onnxruntime
import pytest
from building import build
from models import inputs, regenerate, wheels

import camshaft as trt

# Chosen so that both exporters, old and new opsets, and dynamic and static axes are all there.
DEFAULT = {
    "bert_base-dynamo20-dynamic", "bert_base-legacy11-static",
    "convnext_tiny-dynamo18-dynamic",
    "efficientnet_b0-dynamo23-dynamic",
    "gpt2-legacy14-dynamic", "gpt2_past-dynamo20-dynamic",
    "mobilenet_v3_large-legacy15-dynamic-batchnorm",
    "resnet50-dynamo20-static", "resnet50-legacy13-dynamic",
    "swin_t-dynamo23-dynamic", "swin_t-legacy12-static",
    "vit_b_16-dynamo23-static", "vit_b_16-legacy17-dynamic",
}
# Where the faster products that TF32 allows are checked too, with what they may lose.
TF32 = ("bert_base-dynamo20-dynamic", "mobilenet_v3_large-legacy15-dynamic-batchnorm",
        "resnet50-dynamo20-static")
TOLERANCE, TF32_TOLERANCE = 1e-4, 1e-3  # relative L2


def pytest_generate_tests(metafunc):
    if "exported" in metafunc.fixturenames:
        everything = metafunc.config.getoption("--all")
        metafunc.parametrize("exported", [name for name in regenerate.names()
                                          if everything or name in DEFAULT])


def test_exported_model_agrees_with_onnxruntime(exported):
    model = regenerate.load(exported)
    feeds = [inputs.feeds(model, dims, seed) for seed, dims in enumerate(inputs.dims(exported))]
    check(model.SerializeToString(), feeds)


@pytest.mark.parametrize("exported_for_tf32", TF32)
def test_tf32_stays_close(exported_for_tf32):
    model = regenerate.load(exported_for_tf32)
    feeds = [inputs.feeds(model, dims) for dims in inputs.dims(exported_for_tf32)]
    check(model.SerializeToString(), feeds, tf32=True, tolerance=TF32_TOLERANCE)


@pytest.mark.parametrize("wheel", wheels.MODELS.values(), ids=wheels.MODELS)
def test_wheel_model_agrees_with_onnxruntime(wheel):
    feeds = [wheel.feeds(shape, seed) for seed, shape in enumerate(wheel.shapes)]
    check(wheel.path.read_bytes(), feeds)


def check(model, feeds, tf32=False, tolerance=TOLERANCE):
    shapes = [{name: array.shape for name, array in feed.items()} for feed in feeds]
    engine = build(model, shapes, tf32=tf32)
    context = engine.create_execution_context()
    session = peer(model)
    names = [output.name for output in session.get_outputs()]
    for feed in [*feeds, feeds[0]]:  # the first shape again: nothing of the others may linger
        ours = run_poisoned(context, feed)
        expected = dict(zip(names, session.run(names, feed)))
        errors = relative_errors(ours, expected)
        if max(errors.values()) >= tolerance:
            # Some seeded networks amplify rounding. ONNX Runtime's own optimisations show how much.
            plain = dict(zip(names, peer(model, optimise=False).run(names, feed)))
            tolerance = max(tolerance, 2 * max(relative_errors(plain, expected).values()))
        assert max(errors.values()) < tolerance, f"{errors}, allowed are {tolerance:.1e}"


def run_poisoned(context, feed):
    """The outputs, each written over a pattern that no model would leave unnoticed."""
    engine = context.engine
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    memories, outputs = {}, {}
    for name in names:
        if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
            array = numpy.ascontiguousarray(feed[name])
            assert context.set_input_shape(name, array.shape)
            memories[name] = Placed(context, name, array)
    for name in names:
        if engine.get_tensor_mode(name) == trt.TensorIOMode.OUTPUT:
            outputs[name] = numpy.empty(context.get_tensor_shape(name),
                                        trt.nptype(engine.get_tensor_dtype(name)))
            outputs[name].view(numpy.uint8).fill(0xFF)  # NaN in floats, -1 in integers
            memories[name] = Placed(context, name, outputs[name])
    assert context.execute_async_v3(0)
    for name in outputs:
        memories[name].fetch()
    return outputs


class Placed:
    """An array where the engine wants the tensor: itself, or a copy on the device."""

    def __init__(self, context, name, array):
        self.array, self.device = array, context.engine.device
        if context.engine.get_tensor_location(name) != trt.TensorLocation.DEVICE:
            self.device = None
        self.address = array.ctypes.data
        if self.device:
            self.address = self.device.allocate(array.nbytes)
            self.device.copy(self.address, array.ctypes.data, array.nbytes)
        assert context.set_tensor_address(name, self.address)

    def __del__(self):
        if self.device:
            self.device.release(self.address)

    def fetch(self):
        if self.device:
            self.device.copy(self.array.ctypes.data, self.address, self.array.nbytes)
            self.device.synchronize()


def peer(model, optimise=True):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    if not optimise:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def relative_errors(ours, theirs):
    """The relative L2 distance by output; integers must be equal."""
    errors = {}
    for name, expected in theirs.items():
        assert ours[name].shape == expected.shape and ours[name].dtype == expected.dtype, name
        if expected.dtype.kind == "f":
            distance = numpy.linalg.norm(ours[name].astype(numpy.float64) - expected)
            errors[name] = distance / numpy.linalg.norm(expected)
        else:
            numpy.testing.assert_array_equal(ours[name], expected, err_msg=name)
            errors[name] = 0
    return {name: numpy.nan_to_num(error, nan=numpy.inf) for name, error in errors.items()}
