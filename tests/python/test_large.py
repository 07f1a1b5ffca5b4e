"""Time and memory grow with the model and no faster.

A build that is quadratic in the nodes runs out of the memory that a process of its own may take
here, or does not come to an end.
"""

import os
import pathlib
import subprocess
import sys

import pytest
from building import ON_GPU

PROGRAM = pathlib.Path(__file__).with_name("large_models.py")


@pytest.mark.skipif(ON_GPU, reason="drivers reserve more addresses than these processes may have")
@pytest.mark.parametrize(("model", "nodes"), [
    ("relu_chain", 100_000), ("mixed_chain", 20_000), ("fan", 20_000), ("many_outputs", 20_000),
    ("long_names", 20_000)])
def test_build_and_run(model, nodes):
    folders = [str(folder) for folder in sys.path if folder]
    done = subprocess.run([sys.executable, PROGRAM, model, str(nodes)], capture_output=True,
                          text=True, env=os.environ | {"PYTHONPATH": ":".join(folders)})
    assert done.returncode == 0, done.stderr[-2000:]
