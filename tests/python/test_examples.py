"""The samples in Python, each of which fails where its result is not what it says; those that want a model."""

import pathlib
import subprocess
import sys

import numpy
import pytest
from PIL import Image
from small_models import bright_squares, perceptron

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


def test_faster_rcnn_tour(tmp_path):
    (tmp_path / "model.onnx").write_bytes(bright_squares())
    pixels = numpy.zeros((64, 96, 3), numpy.uint8)
    pixels[16:32, 48:64] = 255
    pixels[48:64, 0:16] = 204
    Image.fromarray(pixels).save(tmp_path / "picture.png")
    done = subprocess.run([sys.executable, EXAMPLES / "faster_rcnn" / "detect.py", tmp_path / "model.onnx",
                           tmp_path / "picture.png", tmp_path / "found.png"], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    *objects, count = done.stdout.splitlines()
    assert objects == ["1.00  class 7  at [48, 16, 64, 32]", "0.80  class 7  at [0, 48, 16, 64]"]
    assert count.startswith("2 objects")
    found = numpy.asarray(Image.open(tmp_path / "found.png"))
    for x, y, right, bottom in ((48, 16, 64, 32), (0, 48, 16, 63)):
        assert (found[y, x:right] == (255, 0, 0)).all() and (found[y:bottom, x] == (255, 0, 0)).all()
    assert (found[40:47, 20:40] == 0).all()
