"""The samples of examples/frameworks, each of which fails where its engine and the framework differ."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

SAMPLES = pathlib.Path(__file__).parents[2] / "examples/frameworks"


@pytest.mark.parametrize(("sample", "packages"), [
    ("from_tensorflow", ["tensorflow", "tf2onnx"]),
    ("from_keras", ["keras", "tensorflow", "tf2onnx"]),
    ("from_hugging_face", ["torch", "transformers", "optimum.exporters.onnx"]),
])
def test_sample(sample, packages, tmp_path):
    for package in packages:
        if not importlib.util.find_spec(package.split(".")[0]) or not importlib.util.find_spec(package):
            pytest.skip(f"{package} is not installed")
    done = subprocess.run([sys.executable, SAMPLES / f"{sample}.py", "-o", "model.engine"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("differs from") == 3
    assert (tmp_path / "model.engine").exists()
