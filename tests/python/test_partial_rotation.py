"""Attention that rotates the first elements of each head alone, as GPT-NeoX and Phi do, agrees with ONNX Runtime, on
the CPU and on the GPU, which the emulated CUDA backend stands in for.

The library opens its CUDA backend once per process, so the GPU's turn is in one of its own.
"""

import os
import pathlib
import subprocess
import sys

import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import camshaft

EMULATED = pathlib.Path(camshaft.__file__).parents[2] / "lib" / "libcamshaft_cuda_emulated.so"
ON_EMULATOR = {"CAMSHAFT_CUDA_LIBRARY": str(EMULATED), "CAMSHAFT_TRIALS": "none",
               "PYTHONPATH": os.pathsep.join(sys.path)}
HEADS, SIZE, ROTATED = 2, 24, 16  # of a head, and what is rotated of it


def rotation(name):
    """Nodes that rotate the first elements of `name`, [batch, heads, length, size], to `name`_z."""
    node, half = helper.make_node, f"{name}_half"
    return [
        node("Slice", [name, "at_0", "at_rotated", "last"], [f"{name}_p"]),
        node("Slice", [name, "at_rotated", "at_end", "last"], [f"{name}_r"]),
        node("Slice", [f"{name}_p", "at_0", "at_half", "last"], [f"{name}_a"]),
        node("Slice", [f"{name}_p", "at_half", "at_end", "last"], [f"{name}_b"]),
        node("Neg", [f"{name}_b"], [f"{name}_c"]),
        node("Concat", [f"{name}_c", f"{name}_a"], [half], axis=-1),
        node("Mul", [f"{name}_p", "cos"], [f"{name}_u"]),
        node("Mul", [half, "sin"], [f"{name}_v"]),
        node("Add", [f"{name}_u", f"{name}_v"], [f"{name}_y"]),
        node("Concat", [f"{name}_y", f"{name}_r"], [f"{name}_z"], axis=-1)]


def model(scales):
    """`scales`: keys and queries are multiplied as a whole once they are rotated."""
    node, random = helper.make_node, numpy.random.default_rng(7)
    width = HEADS * SIZE
    normal = lambda *shape: random.standard_normal(shape, dtype=numpy.float32) / 4
    weights = {"w": normal(width, 3 * width), "o": normal(width, width), "scale": normal(SIZE) + 1}
    integers = {"at_0": [0], "at_half": [ROTATED // 2], "at_rotated": [ROTATED], "at_end": [2 ** 31], "last": [-1],
                "heads": [0, 0, 3 * HEADS, SIZE], "flat": [0, 0, width]}
    weights |= {name: numpy.array(numbers, numpy.int64) for name, numbers in integers.items()}
    turned = "t" if scales else "z"
    nodes = [node("MatMul", ["x", "w"], ["xw"]), node("Reshape", ["xw", "heads"], ["h"]),
             node("Transpose", ["h"], ["all"], perm=[0, 2, 1, 3]),
             node("Split", ["all"], ["q", "k", "v"], axis=1, num_outputs=3),
             *rotation("q"), *rotation("k"),
             *(node("Mul", [f"{name}_z", "scale"], [f"{name}_t"]) for name in ("q", "k") if scales),
             node("Transpose", [f"k_{turned}"], ["kt"], perm=[0, 1, 3, 2]),
             node("MatMul", [f"q_{turned}", "kt"], ["s"]), node("Softmax", ["s"], ["p"], axis=-1),
             node("MatMul", ["p", "v"], ["a"]), node("Transpose", ["a"], ["at"], perm=[0, 2, 1, 3]),
             node("Reshape", ["at", "flat"], ["f"]), node("MatMul", ["f", "o"], ["y"])]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "partial", [value("x", TensorProto.FLOAT, ["batch", "length", width]),
                           *(value(name, TensorProto.FLOAT, ["length", ROTATED]) for name in ("cos", "sin"))],
        [value("y", TensorProto.FLOAT, ["batch", "length", width])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(made)
    return made


def feeds(batch, length):
    angles = numpy.arange(length)[:, None] / 10 ** (numpy.arange(ROTATED) % (ROTATED // 2))
    x = numpy.random.default_rng(8).standard_normal((batch, length, HEADS * SIZE), dtype=numpy.float32)
    return {"x": x, "cos": numpy.cos(angles).astype(numpy.float32), "sin": numpy.sin(angles).astype(numpy.float32)}


def agrees(device):
    # Timing kernels of an emulated GPU takes long and says nothing.
    level = 0 if device == "gpu" else 3
    bounds = {"min": feeds(1, 1), "opt": feeds(2, 5), "max": feeds(3, 9)}
    shapes = {name: {which: arrays[name].shape for which, arrays in bounds.items()} for name in bounds["opt"]}
    for scales in (False, True):
        made = model(scales)
        engine = camshaft.load(camshaft.build(made, device=device, shapes=shapes, optimization_level=level))
        session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        for given in bounds.values():
            numpy.testing.assert_allclose(engine(given)["y"], session.run(["y"], given)[0], rtol=1e-4, atol=1e-4)


def test_on_the_cpu():
    agrees("cpu")


@pytest.mark.skipif(not EMULATED.exists(), reason="the emulated GPU is not built")
def test_on_a_gpu():
    done = subprocess.run([sys.executable, __file__, "gpu"], capture_output=True, text=True,
                          env=os.environ | ON_EMULATOR, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    agrees(sys.argv[1])
