"""The samples of examples/frameworks, each of which fails where its engine and the framework differ."""

import os
import pathlib
import subprocess
import sys

import pytest

SAMPLES = pathlib.Path(__file__).parents[2] / "examples/frameworks"


# Those that want an environment of their own.
PYTHONS = {"from_hugging_face": os.environ.get("OPTIMUM_PYTHON", sys.executable)}
FIND = """
import importlib.util, sys
package = sys.argv[1]
sys.exit(not (importlib.util.find_spec(package.split(".")[0]) and importlib.util.find_spec(package)))
"""


def has(python, package):
    return subprocess.run([python, "-c", FIND, package], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("sample", "packages"), [
    ("from_tensorflow", ["tensorflow", "tf2onnx"]),
    ("from_keras", ["keras", "tensorflow", "tf2onnx"]),
    ("from_hugging_face", ["torch", "transformers", "optimum.exporters.onnx"]),
])
def test_sample(sample, packages, tmp_path):
    python = PYTHONS.get(sample, sys.executable)
    for package in packages:
        if not has(python, package):
            pytest.skip(f"{package} is not installed")
    done = subprocess.run([python, SAMPLES / f"{sample}.py", "-o", "model.engine"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("differs from") == 3
    assert (tmp_path / "model.engine").exists()
