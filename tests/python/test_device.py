"""Engines for a GPU, which the emulated CUDA backend stands in for: infer() and engine.device.

The library opens its CUDA backend once per process, so the checks run in one of their own.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

EMULATED = pathlib.Path(__file__).parents[2] / "build/lib/libcamshaft_cuda_emulated.so"
X = np.array([[1, 2, 3], [-1, -2, -3]], np.float32)


@pytest.mark.skipif(not EMULATED.exists(), reason="built without CUDA's headers")
@pytest.mark.parametrize("check", ["arrays", "device"])
def test_on_an_emulated_gpu(check):
    done = subprocess.run([sys.executable, __file__, check], capture_output=True, text=True,
                          env=os.environ | {"CAMSHAFT_CUDA_LIBRARY": str(EMULATED)}, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def model():
    """relu(x @ w), and the same in a shape that only the values of an input decide."""
    weights = helper.make_tensor("w", TensorProto.FLOAT, [3, 2], [1, -1, 2, -2, 3, -3])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("Relu", ["xw"], ["y"]),
         helper.make_node("Reshape", ["y", "shape"], ["z"])],
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3]),
         helper.make_tensor_value_info("shape", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 2]),
         helper.make_tensor_value_info("z", TensorProto.FLOAT, ["rows", "columns"])],
        [weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def engine():
    import camshaft as trt

    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network()
    assert trt.OnnxParser(network, logger).parse(model().SerializeToString())
    config = builder.create_builder_config()
    config.builder_optimization_level = 0
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 3), (2, 3), (8, 3))
    config.add_optimization_profile(profile)
    return trt.Runtime(logger).deserialize_cuda_engine(
        builder.build_serialized_network(network, config))


def arrays():
    """infer() copies there and back: runs that are launched, recorded and replayed agree."""
    import camshaft as trt

    built = engine()
    assert built.get_tensor_location("x") == trt.TensorLocation.DEVICE
    assert built.get_tensor_location("shape") == trt.TensorLocation.HOST
    context = built.create_execution_context()
    for run in range(6):
        batch, shape = (2, (4, 1)) if run % 3 else (1, (1, 2))
        found = trt.infer(context, {"x": X[:batch] * (run + 1), "shape": np.array(shape)})
        expected = np.array([[14, 0], [0, 14]], np.float32)[:batch] * (run + 1)
        np.testing.assert_array_equal(found["y"], expected)
        np.testing.assert_array_equal(found["z"], expected.reshape(shape))


def device():
    """Memory, copies and marks by address."""
    gpu = engine().device
    assert "GPU" in gpu.name
    stream, memory, pinned = gpu.create_stream(), gpu.allocate(X.nbytes), gpu.allocate_host(8)
    begin = gpu.mark(stream)
    found = np.zeros_like(X)
    gpu.copy(memory, X.ctypes.data, X.nbytes, stream)
    gpu.copy(found.ctypes.data, memory, X.nbytes, stream)
    end = gpu.mark(stream)
    gpu.synchronize(stream)
    np.testing.assert_array_equal(found, X)
    assert gpu.milliseconds_between(begin, end) >= 0
    gpu.release(memory)
    gpu.release_host(pinned)
    gpu.destroy_stream(stream)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
