#!/usr/bin/env python3
"""Slimming beside OnnxSlim: node counts, and equality of outputs in ONNX Runtime.

    scripts/compare_slim.py [--onnxslim PYTHON] [--json FILE] MODEL...

Prints a Markdown table. OnnxSlim is no dependency of ours: --onnxslim names a Python that has it
(and onnx); without it that column stays empty. Models that ONNX Runtime cannot run on the inputs made
here are compared by count only.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

from camshaft import slim

THEIRS = ("import sys, onnx, onnxslim; m = onnxslim.slim(sys.argv[1]);"
          "onnx.save(m, sys.argv[2], save_as_external_data=m.ByteSize() > 2**31 - 2**20)")
SIZES = {2: (2, 8), 3: (2, 8, 64), 4: (2, 3, 224, 224)}  # by rank, where a model leaves them open


def count(graph):
    """Nodes, those of subgraphs included."""
    inner = (attribute.g for node in graph.node for attribute in node.attribute
             if attribute.type == onnx.AttributeProto.GRAPH)
    return len(graph.node) + sum(map(count, inner))


def nodes_of(path):
    return count(onnx.load(path, load_external_data=False).graph)


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def feeds_of(session):
    random, sizes, feeds = numpy.random.default_rng(0), {}, {}
    for value in session.get_inputs():
        default = SIZES.get(len(value.shape), (2,) * len(value.shape))
        shape = [size if isinstance(size, int) else sizes.setdefault(size or (value.name, i), default[i])
                 for i, size in enumerate(value.shape)]
        kind = value.type.removeprefix("tensor(").removesuffix(")")
        dtype = {"float": "float32", "double": "float64"}.get(kind, kind)
        feeds[value.name] = (random.random(shape) if dtype.startswith("float")
                             else random.integers(0, 2, shape)).astype(dtype)
    return feeds


def difference(first, second):
    """The largest difference relative to the largest magnitude of an output, or why there is none."""
    try:
        session = session_of(first)
        feeds = feeds_of(session)
        expected = session.run(None, feeds)
    except Exception as error:  # noqa: BLE001 - the table says so
        return f"does not run ({type(error).__name__})"
    worst = 0.0
    for before, after in zip(expected, session_of(second).run(None, feeds)):
        if before.shape != after.shape:
            return f"shape {after.shape}, not {before.shape}"
        before, after = before.astype(numpy.float64), after.astype(numpy.float64)
        scale = numpy.abs(before).max(initial=0) or 1
        worst = max(worst, float(numpy.abs(before - after).max(initial=0) / scale))
    return worst


def compare(path, python, folder):
    row = {"model": path.name, "before": nodes_of(path)}
    ours, theirs = folder / "ours.onnx", folder / "theirs.onnx"
    try:
        slim(path, ours)
        row["ours"], row["difference"] = nodes_of(ours), difference(path, ours)
    except Exception as error:  # noqa: BLE001
        row["ours"], row["difference"] = None, str(error).splitlines()[0]
    done = python and subprocess.run([python, "-c", THEIRS, path, theirs], capture_output=True)
    row["onnxslim"] = nodes_of(theirs) if done and done.returncode == 0 else None
    for file in folder.iterdir():
        file.unlink()
    return row


def text(value):
    return "–" if value is None else f"{value:.1e}" if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--onnxslim", help="a Python that can import onnxslim")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    print("| model | nodes | OnnxSlim | Camshaft | largest relative difference |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for path in options.models:
            rows.append(compare(path, options.onnxslim, pathlib.Path(folder)))
            columns = ("model", "before", "onnxslim", "ours", "difference")
            print("| " + " | ".join(text(rows[-1][column]) for column in columns) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
