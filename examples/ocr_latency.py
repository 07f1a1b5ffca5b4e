"""How long PP-OCR's models take with Camshaft and with ONNX Runtime, each measured alone in a
process of its own: threads that still spin slow down whoever runs next.

    python ocr_latency.py PEER TASK ENGINE THREADS      prints one measurement as JSON
"""

import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy

FILES = {"detection": "ch_PP-OCRv4_det_infer.onnx", "recognition": "ch_PP-OCRv4_rec_infer.onnx"}
SHAPES = {"detection": (1, 3, 480, 960), "recognition": (1, 3, 48, 800)}
SECONDS = 2  # of running, per process
ROUNDS = 2  # processes per peer, in turn


def model(task):
    """The ONNX file inside the wheel, found without importing the package."""
    spec = importlib.util.find_spec("rapidocr_onnxruntime")
    if spec is None:
        raise SystemExit("rapidocr-onnxruntime is not installed: run scripts/setup.sh")
    return pathlib.Path(spec.submodule_search_locations[0]) / "models" / FILES[task]


def camshaft_runner(task, engine, threads):
    import camshaft as trt

    runtime = trt.Runtime(trt.Logger(trt.Logger.ERROR))
    runtime.max_threads = threads
    loaded = runtime.deserialize_cuda_engine_from_file(engine)
    context = loaded.create_execution_context()
    return lambda x: next(iter(trt.infer(context, {"x": x}).values()))


def onnxruntime_runner(task, engine, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model(task), options, providers=["CPUExecutionProvider"])
    return lambda x: session.run(None, {"x": x})[0]


PEERS = {"camshaft": camshaft_runner, "onnxruntime": onnxruntime_runner}


def measure(peer, task, engine, threads):
    """Load time and run times in seconds, with a checksum that shows the peers agree."""
    x = numpy.random.default_rng(0).uniform(-1, 1, SHAPES[task]).astype(numpy.float32)
    start = time.perf_counter()
    run = PEERS[peer](task, engine, threads)
    loaded = time.perf_counter() - start
    for _ in range(3):
        output = run(x)
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        run(x)
        times.append(time.perf_counter() - start)
    return {"load": loaded, "times": times, "norm": float(numpy.linalg.norm(output))}


def in_own_process(*arguments):
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def print_table(engines, seconds, threads):
    """The latency table; `seconds` holds (build, load) of our engines."""
    print(f"Median latency with {threads} threads, each in a process of its own:\n")
    print(f"  {'model':12} {'input':15} {'Camshaft':>10} {'ONNX Runtime':>13} {'faster by':>10}"
          f" {'build':>8} {'load':>7} {'ORT load':>9}")
    for task, engine in engines.items():
        runs = {peer: [] for peer in PEERS}
        for _ in range(ROUNDS):
            for peer in PEERS:
                runs[peer].append(in_own_process(peer, task, engine, threads))
        ours, theirs = (statistics.median(t for run in runs[peer] for t in run["times"]) * 1e3
                        for peer in PEERS)
        their_load = min(run["load"] for run in runs["onnxruntime"]) * 1e3
        norms = [run["norm"] for several in runs.values() for run in several]
        assert numpy.ptp(norms) < 1e-3 * max(norms), f"the peers disagree on {task}: {norms}"
        built, loaded = seconds[task]
        shape = "×".join(map(str, SHAPES[task]))
        print(f"  {task:12} {shape:15} {ours:7.1f} ms {theirs:10.1f} ms {theirs / ours:9.2f}×"
              f" {built:6.1f} s {loaded * 1e3:4.0f} ms {their_load:6.0f} ms")


if __name__ == "__main__":
    peer, task, engine, threads = sys.argv[1:]
    print(json.dumps(measure(peer, task, engine, int(threads))))
