"""The snippets of docs/pytorch.md run."""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

import camshaft  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_snippets(tmp_path):
    page = ROOT / "docs" / "pytorch.md"
    environment = dict(os.environ, CAMSHAFT_CACHE=str(tmp_path),
                       PYTHONPATH=str(pathlib.Path(camshaft.__file__).resolve().parents[1]))
    done = subprocess.run([sys.executable, ROOT / "tests" / "documents" / "page.py", page], cwd=tmp_path,
                          env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.count("pytorch.md:") == page.read_text(encoding="utf-8").count("```python")
