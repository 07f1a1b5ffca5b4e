"""A Llama whose caches are of 8 bits, token by token, on the CPU and on the GPU, which the emulated CUDA backend stands
in for: logits beside ONNX Runtime's, whose INT8 caches grow, and those of FP8 beside the CPU's.

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

import camshaft

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples/text_generation"))

import language_models  # noqa: E402

EMULATED = pathlib.Path(camshaft.__file__).parents[2] / "lib" / "libcamshaft_cuda_emulated.so"
ON_EMULATOR = {"CAMSHAFT_CUDA_LIBRARY": str(EMULATED), "CAMSHAFT_TRIALS": "none",
               "PYTHONPATH": os.pathsep.join(sys.path)}
TOKENS, ROOM = (5, 77, 3, 21, 9), 40


def step_model(caches):
    """Of one token, with caches that have room for all."""
    model = language_models.llama(language_models.Config(caches=caches, positions=64), seed=5)
    for described in [*model.graph.input, *model.graph.output]:
        for dim in described.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = {"batch": 1, "length": 1}.get(dim.dim_param, ROOM)
    model.graph.input.remove(next(described for described in model.graph.input if described.name == "total"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.array(ROOM, numpy.int32), "total"))
    return model


def our_logits(caches, device, precision):
    # Timing kernels of an emulated GPU takes long and says nothing.
    engine = camshaft.load(camshaft.build(step_model(caches), device=device, precision=precision,
                                          optimization_level=0 if device == "gpu" else 3))
    names, logits, held = language_models.cache_names(2), [], None
    for place, token in enumerate(TOKENS):
        held = held or {past: numpy.zeros((1, 2, ROOM, 16), numpy.int8) for past, _ in names}
        if caches == "float8":
            held = {name: array.view(camshaft.nptype(camshaft.DataType.FP8)) for name, array in held.items()}
        outputs = engine({"tokens": numpy.array([[token]]), "last": numpy.array([place], numpy.int32), **held})
        logits.append(numpy.asarray(outputs["logits"], numpy.float32).ravel())
        held = {past: numpy.asarray(outputs[present]) for past, present in names}
    return numpy.stack(logits)


def their_logits():
    model = language_models.llama(language_models.Config(caches="int8", positions=64), seed=5)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names, logits = language_models.cache_names(2), []
    held = {past: numpy.zeros((1, 2, 0, 16), numpy.int8) for past, _ in names}
    for place, token in enumerate(TOKENS):
        first, *grown = session.run(None, {"tokens": numpy.array([[token]]), "last": numpy.array([place], numpy.int32),
                                           "total": numpy.array(place + 1, numpy.int32), **held})
        logits.append(first.ravel())
        held = dict(zip(held, grown, strict=True))
    return numpy.stack(logits)


def agrees(device, caches, precision):
    wanted = their_logits() if caches == "int8" else our_logits(caches, "cpu", "fp32")
    error = our_logits(caches, device, precision) - wanted
    # A key that rounds to the next byte is 1/100 of the largest; f16 has many of those.
    assert numpy.linalg.norm(error) / numpy.linalg.norm(wanted) < (2e-2 if precision == "fp16" else 5e-3)


def test_on_the_cpu():
    agrees("cpu", "int8", "fp32")


@pytest.mark.skipif(not EMULATED.exists(), reason="the emulated GPU is not built")
@pytest.mark.parametrize("caches", ["int8", "float8"])
def test_on_a_gpu(caches):
    done = subprocess.run([sys.executable, __file__, caches], capture_output=True, text=True,
                          env=os.environ | ON_EMULATOR, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    for own in ("fp32", "fp16"):
        agrees("gpu", sys.argv[1], own)
