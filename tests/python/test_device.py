"""Engines for a GPU, which the emulated CUDA backend stands in for: infer() and engine.device.

The library opens its CUDA backend once per process, so the checks run in one of their own.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from small_models import reshaper

EMULATED = pathlib.Path(__file__).parents[2] / "build/lib/libcamshaft_cuda_emulated.so"
ON_EMULATOR = {"CAMSHAFT_CUDA_LIBRARY": str(EMULATED), "CAMSHAFT_TEST_ENGINES": "gpu",
               "PYTHONPATH": str(pathlib.Path(__file__).parents[1])}
X = np.array([[1, 2, 3], [-1, -2, -3]], np.float32)


@pytest.mark.skipif(not EMULATED.exists(), reason="built without CUDA's headers")
@pytest.mark.parametrize("check", ["arrays", "device"])
def test_on_an_emulated_gpu(check):
    done = subprocess.run([sys.executable, __file__, check], capture_output=True, text=True,
                          env=os.environ | ON_EMULATOR, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def engine():
    from building import build

    return build(reshaper(), [{"x": (batch, 3)} for batch in (2, 1, 8)], level=0)


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
