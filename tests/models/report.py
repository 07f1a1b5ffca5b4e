"""One line per model: does it build, run and agree with ONNX Runtime, at several shapes?

    .venv/bin/python tests/models/report.py [--speed] [--timeout SECONDS] [PATTERN...]

Takes the models inside wheels and the structure-only ones whose names match (as in fnmatch). Each is
run in a process of its own, so that one that crashes or never ends costs its line alone. --speed
adds ONNX Runtime's time over ours, in f32 on two threads, at the first shape.
"""

import argparse
import fnmatch
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

import compare  # noqa: E402
import numpy  # noqa: E402
import onnx  # noqa: E402
from models import inputs, regenerate, wheels  # noqa: E402


def models():
    return [*wheels.MODELS, *regenerate.names()]


def loaded(name):
    """(model, feeds) of the model called `name`."""
    if wheel := wheels.MODELS.get(name):
        feeds = [wheel.feeds(case, seed) for seed, case in enumerate(wheel.cases)]
        return onnx.load(wheel.path), feeds
    model = regenerate.load(name)
    return model, [inputs.feeds(model, dims, seed) for seed, dims in enumerate(inputs.dims(name))]


def count(graph):
    """The nodes of a graph and of those inside it."""
    return len(graph.node) + sum(count(attribute.g) for node in graph.node
                                 for attribute in node.attribute
                                 if attribute.type == onnx.AttributeProto.GRAPH)


def measure(name):
    """Prints a line of JSON about one model; the fields found before an error stay."""
    from models.agreement import check

    result = {"model": name}
    try:
        model, feeds = loaded(name)
        result |= {"nodes": count(model.graph), "shapes": len(feeds)}
        error, seconds = check(model.SerializeToString(), feeds)
        result |= {"status": "agrees", "error": f"{error:.1e}", "build": f"{seconds:.1f}"}
    except Exception as problem:
        result["status"] = f"{type(problem).__name__}: {problem}"
    print(json.dumps(result), flush=True)


def run(name, timeout):
    command = [sys.executable, __file__, "--one", name]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        return json.loads(process.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"model": name, "status": f"took more than {timeout:.0f} s"}
    except (json.JSONDecodeError, IndexError):
        return {"model": name, "status": f"ended with {process.returncode}: {process.stderr[-300:]}"}


def speed(name):
    """Our milliseconds and how many times longer ONNX Runtime takes, each in its own process."""
    model, feeds = loaded(name)
    options = argparse.Namespace(threads=2, seconds=1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        onnx.save(model, path)
        numpy.savez(path.with_name("feeds.npz"), **feeds[0])
        medians = []
        for peer in ("camshaft-f32", "onnxruntime"):
            for what in ("build", "run"):
                figures = compare.measure(what, peer, path, folder, options)
            medians.append(statistics.median(figures["times"]))
    return {"ms": f"{medians[0] * 1e3:.2f}", "ratio": f"{medians[1] / medians[0]:.2f}×"}


COLUMNS = ("model", "nodes", "shapes", "error", "build", "ms", "ratio", "status")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=["*"])
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--one", help="measure this model in this process and print JSON")
    args = parser.parse_args()
    if args.one:
        return measure(args.one)
    columns = [c for c in COLUMNS if args.speed or c not in ("ms", "ratio")]
    print("| " + " | ".join(columns) + " |")
    print("|---" + "|---:" * (len(columns) - 2) + "|---|")
    failures = 0
    for name in models():
        if not any(fnmatch.fnmatch(name, pattern) for pattern in args.patterns):
            continue
        line = run(name, args.timeout)
        agrees = line["status"] == "agrees"
        failures += not agrees
        if args.speed and agrees:
            line |= speed(name)
        print("| " + " | ".join(str(line.get(c, "")) for c in columns) + " |", flush=True)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
