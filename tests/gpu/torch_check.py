"""infer() on PyTorch tensors: in place on the GPU, on the stream of the moment, beside numpy.

    python3 tests/gpu/torch_check.py

Uses the GPU where there is one and the CPU otherwise. Exit status 0 when all agreed.
"""

import contextlib
import os
import pathlib
import sys

import numpy
import torch

import camshaft as trt

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
os.environ["CAMSHAFT_TEST_ENGINES"] = "gpu" if DEVICE == "cuda" else "cpu"
TESTS = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "python")]

from building import build  # noqa: E402
from small_models import reshaper  # noqa: E402

X = numpy.array([[1, 2, 3], [-1, -2, -3]], numpy.float32)


def new_stream():
    on_gpu = DEVICE == "cuda"
    return torch.cuda.stream(torch.cuda.Stream()) if on_gpu else contextlib.nullcontext()


def main():
    engine = build(reshaper(), [{"x": (batch, 3)} for batch in (2, 1, 8)], level=0)
    context = engine.create_execution_context()
    expected = torch.tensor([[14.0, 0.0], [0.0, 14.0]])
    for run in range(6):
        shape = (4, 1) if run % 2 else (1, 4)
        with new_stream():
            # Made by queued work of the same stream, so that a run on another would read too early.
            x = (torch.from_numpy(X).to(DEVICE).repeat(1, 1) * run).contiguous()
            found = trt.infer(context, {"x": x, "shape": torch.tensor(shape)})
            y, z = found["y"].cpu(), found["z"].cpu()
        assert found["y"].device.type == DEVICE and torch.equal(y, expected * run), y
        assert torch.equal(z, (expected * run).reshape(shape)), z
        arrays = trt.infer(context, {"x": X * run, "shape": numpy.array(shape)})
        assert numpy.array_equal(arrays["y"], y) and numpy.array_equal(arrays["z"], z)
    try:
        trt.infer(context, {"x": torch.from_numpy(X).double(), "shape": torch.tensor([4, 1])})
        raise SystemExit("a tensor of another type was taken")
    except TypeError as refused:
        assert "convert the tensor" in str(refused)
    print(f"SUMMARY tensors and arrays agree on {DEVICE}")


if __name__ == "__main__":
    main()
