"""The samples in Python, each of which fails where its result is not what it says, and the classifier in C++."""

import pathlib
import subprocess
import sys

import numpy
import pytest
from small_models import perceptron

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
PROGRAMS = EXAMPLES.parent / "build/bin"


@pytest.mark.parametrize("sample", sorted((EXAMPLES / "python").glob("*.py")), ids=lambda path: path.stem)
def test_sample(sample):
    done = subprocess.run([sys.executable, sample], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_classifier(tmp_path):
    program = PROGRAMS / "sample_classify"
    if not program.exists():
        pytest.skip("the samples in C++ are not built")
    model, compute = perceptron()
    (tmp_path / "model.onnx").write_bytes(model)
    image = numpy.linspace(-1, 1, 4, dtype=numpy.float32)[None]
    image.tofile(tmp_path / "image.f32")
    done = subprocess.run([program, tmp_path / "model.onnx", tmp_path / "image.f32"], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    best = int(done.stdout.split()[1])
    assert best == int(numpy.argmax(compute(image)))
