"""Memory of builds and sessions: the most that a process had, and what it has at the end.

    python benchmarks/memory.py MODEL[@INPUT:SIZES[,...]]... [--whats build run onnxruntime ...] [--threads 2]

Every line is a process of its own. `peak` is the largest resident set (VmHWM), which counts pages of mapped files
too; `own` is what the process alone has at the end and nobody can drop (anonymous memory), `mapped` its share of
files (PSS). `build` and `run` are trtexec's; `provider` is ONNX Runtime on Camshaft without a folder of engines,
`provider-first` with an empty one and `provider-cached` with one that has the engine; `onnxruntime` is its own CPU
provider. Sizes are those of inputs that the model leaves open.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

WHATS = ("build", "run", "onnxruntime", "provider", "provider-first", "provider-cached")
MIB = 1 << 20


def memory():
    """Of this process, in bytes."""
    status = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    rollup = pathlib.Path("/proc/self/smaps_rollup").read_text(encoding="utf-8")
    found = {key: int(value.split()[0]) << 10 for key, value in
             (line.split(":", 1) for line in (status + rollup).splitlines() if line.endswith("kB"))}
    return {"peak": found["VmHWM"], "own": found["Pss_Anon"], "mapped": found["Pss_File"]}


def run_session(what, model, shapes, threads, cache):
    """One session that runs once, in this process."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    if what == "onnxruntime":
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    else:
        import camshaft.onnxruntime

        settings = {} if what == "provider" else {"engine_cache": cache}
        session = camshaft.onnxruntime.session(model, options, **settings)
    types = {"float": np.float32, "int64": np.int64, "int32": np.int32, "bool": np.bool_}
    feed = {}
    for one in session.get_inputs():
        shape = shapes.get(one.name, [size if isinstance(size, int) else 1 for size in one.shape])
        feed[one.name] = np.ones(shape, types[one.type[len("tensor("):-1]])
    session.run(None, feed)
    print(json.dumps(memory()))


def peak_of_program(command):
    """Seconds and the largest resident set of a program."""
    begin = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen(command, stdout=nowhere, stderr=subprocess.PIPE)
        errors = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed: {errors.decode(errors='replace')[-500:]}")
    return time.perf_counter() - begin, usage.ru_maxrss << 10


def measure(what, model, sizes, arguments, folder):
    trtexec, engine = arguments.trtexec, folder / "model.engine"
    if what in ("build", "run"):
        shapes = [f"--shapes={sizes}"] if sizes else []
        command = ([f"--onnx={model}", f"--saveEngine={engine}", "--skipInference"] if what == "build" else
                   [f"--loadEngine={engine}", "--iterations=3", "--duration=0", "--warmUp=0"])
        if what == "run" and not engine.exists():
            measure("build", model, sizes, arguments, folder)
        seconds, peak = peak_of_program([trtexec, *command, *shapes, *(["--cpu"] if what == "build" else [])])
        return {"seconds": seconds, "peak": peak}
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, f"{model}@{sizes}", "--worker", what, "--cache",
                           folder / "engines", "--threads", str(arguments.threads)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return {"seconds": time.perf_counter() - begin, **json.loads(done.stdout.splitlines()[-1])}


def shapes_of(sizes):
    return {name: [int(size) for size in shape.split("x")]
            for name, _, shape in (part.rpartition(":") for part in sizes.split(",") if part)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--whats", nargs="+", default=WHATS, choices=WHATS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trtexec", default=pathlib.Path(__file__).parents[1] / "build/bin/trtexec")
    for name in ("worker", "cache"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    for spec in arguments.models:
        model, _, sizes = spec.partition("@")
        if arguments.worker:
            run_session(arguments.worker, model, shapes_of(sizes), arguments.threads, arguments.cache)
            continue
        print(f"{pathlib.Path(model).stem}: {os.path.getsize(model) / MIB:.0f} MiB")
        with tempfile.TemporaryDirectory() as name:
            for what in arguments.whats:
                found = measure(what, model, sizes, arguments, pathlib.Path(name))
                parts = "  ".join(f"{key} {value / MIB:5.0f}" for key, value in found.items() if key != "seconds")
                print(f"  {what:16} {found['seconds']:6.1f} s  MiB: {parts}", flush=True)


if __name__ == "__main__":
    main()
