#!/usr/bin/env python3
"""Slimming beside OnnxSlim: node counts, and differences of outputs in ONNX Runtime.

    PYTHONPATH=build/python scripts/compare_slim.py [--onnxslim PYTHON] [--json FILE] [NAME...]

Prints a Markdown table of the models of tests/models and of wheels whose names match one of these
shell patterns. OnnxSlim is no dependency of ours: --onnxslim names a Python that has it (and onnx);
without it its columns stay empty. A difference is the largest of any output at any of the shapes,
relative to the largest magnitude of the output.
"""
import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))

from models import slimming  # noqa: E402

import camshaft  # noqa: E402

THEIRS = "import sys, onnx, onnxslim; onnx.save(onnxslim.slim(sys.argv[1]), sys.argv[2])"
TIMEOUT = 600  # seconds for OnnxSlim on one model
COLUMNS = ("model", "nodes", "OnnxSlim", "Camshaft", "difference", "OnnxSlim's difference")


def by_onnxslim(model, python):
    """The model that it leaves, or what it did instead."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder) / "before.onnx", pathlib.Path(folder) / "after.onnx"
        before.write_bytes(model)
        try:
            done = subprocess.run([python, "-c", THEIRS, before, after], capture_output=True,
                                  timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return f"over {TIMEOUT} s"
        return after.read_bytes() if done.returncode == 0 else "fails"


def difference(model, slimmed, feeds):
    try:
        return slimming.largest_difference(model, slimmed, feeds)
    except Exception as error:  # noqa: BLE001 - the table says so
        return str(error).splitlines()[0]


def compare(name, python):
    model, feeds = slimming.load(name)
    row = dict.fromkeys(COLUMNS)
    row |= {"model": name, "nodes": slimming.count(model)}
    try:
        slimmed = camshaft.slim(model)
        row["Camshaft"] = slimming.count(slimmed)
        row["difference"] = difference(model, slimmed, feeds)
    except camshaft.Error as error:
        row["difference"] = str(error).splitlines()[0]
    theirs = by_onnxslim(model, python) if python else None
    if isinstance(theirs, bytes):
        row["OnnxSlim"] = slimming.count(theirs)
        row["OnnxSlim's difference"] = difference(model, theirs, feeds)
    else:
        row["OnnxSlim"] = theirs
    return row


def text(value):
    if isinstance(value, float):
        return f"{value:.1e}" if value else "0"
    return "–" if value is None else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", metavar="NAME", nargs="*", default=["*"])
    parser.add_argument("--onnxslim", metavar="PYTHON", help="one that can import onnxslim")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    print("|", " | ".join(COLUMNS), "|\n" + "|---" * len(COLUMNS) + "|")
    for name in slimming.names():
        if not any(fnmatch.fnmatch(name, pattern) for pattern in options.names):
            continue
        rows.append(compare(name, options.onnxslim))
        print("|", " | ".join(text(rows[-1][column]) for column in COLUMNS), "|", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
