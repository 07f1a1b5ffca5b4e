"""The snippets of documents that want other programs run: PyTorch's, and a cluster of Ray's."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import camshaft

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "documents"))


@pytest.mark.parametrize("package,name", [("torch", "pytorch.md"), ("ray", "serving.md")])
def test_snippets(package, name, tmp_path):
    pytest.importorskip(package, reason=f"{package} is not installed")
    page = ROOT / "docs" / name
    text = page.read_text(encoding="utf-8")
    if "<!-- with: model.onnx -->" in text:
        import files

        files.make("model.onnx", tmp_path)
    environment = dict(os.environ, CAMSHAFT_CACHE=str(tmp_path),
                       PYTHONPATH=str(pathlib.Path(camshaft.__file__).resolve().parents[1]))
    done = subprocess.run([sys.executable, ROOT / "tests" / "documents" / "page.py", page], cwd=tmp_path,
                          env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert len(re.findall(rf"^{name}:", done.stdout, re.MULTILINE)) == text.count("```python")
