"""Whether an engine computes what ONNX Runtime computes, for whole models."""

import time

import numpy
import onnx
import onnxruntime
from building import build

import camshaft as trt

TOLERANCE = 1e-4  # relative L2


def check(model, feeds, tf32=False, tolerance=TOLERANCE):
    """Builds one engine of `model` (bytes) for all `feeds` and fails unless each run agrees.

    Returns the largest relative error and the seconds that the build took.
    """
    shapes = [{name: array.shape for name, array in feed.items()} for feed in feeds]
    start = time.perf_counter()
    engine = build(model, shapes, tf32=tf32)
    seconds = time.perf_counter() - start
    context = engine.create_execution_context()
    session = peer(model)
    names = [output.name for output in session.get_outputs()]
    largest = 0
    for feed in [*feeds, feeds[0]]:  # the first shape again: nothing of the others may linger
        ours = run_poisoned(context, feed)
        expected = dict(zip(names, session.run(names, feed)))
        errors = relative_errors(ours, expected)
        largest = max(largest, *errors.values())
        if max(errors.values()) >= tolerance:
            tolerance = max(tolerance, 2 * amplified_rounding(model, session, names, feed, expected))
        worst = {name: error for name, error in errors.items() if error >= tolerance}
        assert not worst, f"{worst}, allowed are {tolerance:.1e}"
    return largest, seconds


def amplified_rounding(model, session, names, feed, expected):
    """How far ONNX Runtime is from itself without its optimisations and on inputs that differ by a
    millionth: some networks amplify rounding, quantised ones above all."""
    others = [peer(model, optimise=False).run(names, feed)]
    random = numpy.random.default_rng(0)
    for _ in range(3):
        nudged = {name: (array * (1 + 1e-6 * random.standard_normal(array.shape))).astype(array.dtype)
                  if array.dtype.kind == "f" else array for name, array in feed.items()}
        others.append(session.run(names, nudged))
    return max(max(relative_errors(dict(zip(names, other)), expected).values()) for other in others)


def tf32_error(model, feed):
    """What it changes in ONNX Runtime to round the operands of products to TF32's ten bits.

    f16 has as many; its range is enough for these networks.
    """
    rounded = onnx.ModelProto()
    rounded.CopyFrom(model)
    del rounded.graph.node[:]
    for node in model.graph.node:
        kept = onnx.NodeProto()
        kept.CopyFrom(node)
        if node.op_type in ("Conv", "Gemm", "MatMul"):
            for i in range(2):
                short = f"{node.output[0]}_operand{i}"
                kept.input[i] = short + "_rounded"
                rounded.graph.node.extend([
                    onnx.helper.make_node("Cast", [node.input[i]], [short],
                                          to=onnx.TensorProto.FLOAT16),
                    onnx.helper.make_node("Cast", [short], [kept.input[i]],
                                          to=onnx.TensorProto.FLOAT)])
        rounded.graph.node.append(kept)
    sessions = [peer(m.SerializeToString(), optimise=False) for m in (model, rounded)]
    names = [output.name for output in sessions[0].get_outputs()]
    exact, short = (dict(zip(names, session.run(names, feed))) for session in sessions)
    return max(relative_errors(short, exact).values())


def run_poisoned(context, feed):
    """The outputs, each written over a pattern that no model would leave unnoticed."""
    engine = context.engine
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    memories, outputs = {}, {}
    for name in names:
        if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
            array = numpy.require(feed[name], requirements="C")
            assert context.set_input_shape(name, array.shape)
            memories[name] = Placed(context, name, array)
    if any(-1 in context.get_tensor_shape(name) for name in names):
        return trt.infer(context, feed)  # the run decides sizes
    for name in names:
        if engine.get_tensor_mode(name) == trt.TensorIOMode.OUTPUT:
            outputs[name] = numpy.empty(context.get_tensor_shape(name),
                                        trt.nptype(engine.get_tensor_dtype(name)))
            outputs[name].reshape(-1).view(numpy.uint8).fill(0xFF)  # NaN in floats, -1 in integers
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
            errors[name] = distance / max(numpy.linalg.norm(expected), 1e-30)
        else:
            numpy.testing.assert_array_equal(ours[name], expected, err_msg=name)
            errors[name] = 0
    return {name: numpy.nan_to_num(error, nan=numpy.inf) for name, error in errors.items()}
