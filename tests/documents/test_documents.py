"""Every snippet of the documents that is whole runs; the others say why not."""

import pathlib
import re
import subprocess
import sys

import files
import page
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH = re.compile(r"^<!-- with: (.*) -->$", re.MULTILINE)


def runnable(path):
    return [line for line, _, _, reason in page.blocks(path.read_text(encoding="utf-8")) if reason is None]


@pytest.mark.parametrize("path", [path for path in PAGES if runnable(path)], ids=lambda path: path.stem)
def test_snippets(path, tmp_path):
    for names in WITH.findall(path.read_text(encoding="utf-8")):
        for name in names.split(", "):
            files.make(name, tmp_path)
    done = subprocess.run([sys.executable, page.__file__, path], cwd=tmp_path, capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert len([line for line in done.stdout.splitlines() if line.startswith(f"{path.name}:")]) == len(runnable(path))
