"""The stubs: mypy accepts the examples and programs that make the calls of three clients, which run."""

import os
import pathlib
import subprocess
import sys

import numpy
import pytest
from small_models import perceptron

import camshaft

FOLDER = pathlib.Path(__file__).parent
CLIENTS = sorted((FOLDER / "clients").glob("*_calls.py"))
PACKAGE = pathlib.Path(camshaft.__file__).parent
STAND_IN = PACKAGE / "compat" / "path"


def mypy(*arguments):
    return subprocess.run([sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir", os.devnull, *arguments],
                          capture_output=True, text=True,
                          env={**os.environ, "MYPYPATH": f"{PACKAGE.parent}:{STAND_IN}"})


def test_mypy_accepts_clients_and_examples():
    examples = sorted((FOLDER.parents[1] / "examples").rglob("*.py"))
    done = mypy("--strict", "--follow-imports=silent", "--disable-error-code=type-arg", *map(str, CLIENTS))
    assert done.returncode == 0, done.stdout
    done = mypy("--check-untyped-defs", "--ignore-missing-imports", "--follow-imports=silent",
                "--disable-error-code=var-annotated", "--disable-error-code=index", "--disable-error-code=assignment",
                *map(str, examples))
    assert done.returncode == 0, done.stdout


def test_mypy_finds_mistakes(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import tensorrt as trt\n"
                    "builder = trt.Builder(trt.Logger())\n"
                    "builder.create_netwrok()\n"
                    "config = builder.create_builder_config()\n"
                    "config.set_flag(3)\n")
    errors = [line for line in mypy("--follow-imports=silent", str(path)).stdout.splitlines() if ": error: " in line]
    assert [line.split(":")[1] for line in errors] == ["3", "5"]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda path: path.stem)
def test_clients_run(client, tmp_path):
    model, compute = perceptron()
    (tmp_path / "model.onnx").write_bytes(model)
    (tmp_path / "static.onnx").write_bytes(perceptron(batch=2)[0])
    x = numpy.linspace(-1, 1, 8, dtype=numpy.float32).reshape(2, 4)
    numpy.save(tmp_path / "x.npy", x)
    numpy.save(tmp_path / "y.npy", compute(x))
    done = subprocess.run([sys.executable, "-m", "camshaft.compat", str(client), str(tmp_path)], capture_output=True,
                          text=True,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode == 0 and done.stdout, done.stderr
