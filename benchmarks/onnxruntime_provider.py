"""Sessions of ONNX Runtime on Camshaft, beside its own CPU provider and OpenVINO.

    python benchmarks/onnxruntime_provider.py MODEL[@INPUT:SIZES[,...]]... [--peers ...] [--threads 2]

For each model: nodes taken, largest difference from the CPU provider over the largest value, the time
to make a session and run it once (cold, and from engine_cache), the median latency, and the process's
memory. Every figure comes from a fresh process, peers in turn, `--rounds` times. Sizes are those of
inputs that the model leaves open. OpenVINO is measured by its provider where the installed
onnxruntime has it, else by its own interface.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64,
         "tensor(int32)": np.int32, "tensor(bool)": np.bool_, "tensor(uint8)": np.uint8}
PEERS = ("onnxruntime", "camshaft", "camshaft-cached", "openvino")
SECONDS = 3.0  # of runs that are timed


def memory():
    """Resident now, and at most so far, in MiB."""
    status = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    found = dict(line.split(":", 1) for line in status.splitlines())
    return [int(found[key].split()[0]) // 1024 for key in ("VmRSS", "VmHWM")]


def feeds(model, shapes):
    """Random values; integers are small, as tokens and flags are, and the first of a row is 1: a mask has a key for
    every query, since without one only the form of the mask decides what comes out."""
    import onnxruntime

    random = np.random.default_rng(5)
    made = {}
    for one in onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs():
        shape = shapes.get(one.name, [size if isinstance(size, int) else 1 for size in one.shape])
        dtype = TYPES[one.type]
        values = random.standard_normal(shape) if np.dtype(dtype).kind == "f" else random.integers(0, 2, shape)
        made[one.name] = np.asarray(values).astype(dtype)
        if made[one.name].ndim and np.dtype(dtype).kind != "f":
            made[one.name][..., 0] = 1
    return made


def ort_session(model, peer, threads, cache):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if peer == "onnxruntime":
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    if peer == "openvino":
        return onnxruntime.InferenceSession(
            model, options, providers=[("OpenVINOExecutionProvider",
                                        {"device_type": "CPU", "num_of_threads": str(threads), "precision": "FP32"})])
    import camshaft.onnxruntime

    settings = {"engine_cache": cache} if peer == "camshaft-cached" else {}
    return camshaft.onnxruntime.session(model, options, **settings)


def has_openvino_provider():
    import onnxruntime

    return "OpenVINOExecutionProvider" in onnxruntime.get_available_providers()


class OpenVino:
    """OpenVINO's own interface, with what is used of a session's."""

    def __init__(self, model, threads):
        import openvino

        settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32",
                    "PERFORMANCE_HINT": "LATENCY"}
        self.request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()

    def run(self, _, feed):
        self.request.infer(feed, share_inputs=True)
        return [self.request.get_output_tensor(i).data for i in range(len(self.request.model_outputs))]


def taken(session):
    counts = [(part.ep_name.startswith("Camshaft"), len(part.get_nodes()))
              for part in session.get_provider_graph_assignment_info()]
    return [sum(count for ours, count in counts if ours), sum(count for _, count in counts),
            sum(ours for ours, _ in counts)]


def work(arguments):
    """One measurement, as JSON; the outputs go to a file."""
    with np.load(arguments.feeds) as arrays:
        feed = dict(arrays)
    begin = time.perf_counter()
    if arguments.worker == "openvino" and not has_openvino_provider():
        session = OpenVino(arguments.model, arguments.threads)
    else:
        session = ort_session(arguments.model, arguments.worker, arguments.threads, arguments.cache)
    created = time.perf_counter()
    outputs = session.run(None, feed)
    first = time.perf_counter()
    np.savez(arguments.outputs, *outputs)
    times = []
    end = time.perf_counter() + SECONDS
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        session.run(None, feed)
        times.append(time.perf_counter() - start)
    result = {"create": created - begin, "first": first - created, "latency": statistics.median(times),
              "memory": memory()}
    if arguments.worker.startswith("camshaft"):
        result["taken"] = taken(session)
    print(json.dumps(result))


def measure(peer, model, threads, folder):
    outputs = folder / f"{peer}.npz"
    done = subprocess.run([sys.executable, __file__, "--worker", peer, "--feeds", folder / "feeds.npz", "--threads",
                           str(threads), "--cache", folder / "engines", "--outputs", outputs, model],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["?"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def difference(folder, peer):
    """The largest over all outputs, over the largest value of the output."""
    with np.load(folder / f"{peer}.npz") as ours, np.load(folder / "onnxruntime.npz") as theirs:
        return max(float(np.abs(ours[key].astype("f8") - theirs[key]).max() / max(np.abs(theirs[key]).max(), 1e-30))
                   for key in theirs.files if theirs[key].size)


def compare(arguments, spec):
    model, _, sizes = spec.partition("@")
    shapes = {name: [int(size) for size in shape.split("x") if size]
              for name, _, shape in (part.rpartition(":") for part in sizes.split(",") if part)}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.savez(folder / "feeds.npz", **feeds(model, shapes))
        if "camshaft-cached" in arguments.peers:
            measure("camshaft-cached", model, arguments.threads, folder)
        rounds = {peer: [] for peer in arguments.peers}
        for _ in range(arguments.rounds):
            for peer in arguments.peers:
                rounds[peer].append(measure(peer, model, arguments.threads, folder))
        for peer, results in rounds.items():
            if error := next((one["error"] for one in results if "error" in one), None):
                print(f"{pathlib.Path(model).stem:28} {peer:16} {error}")
                continue
            middle = {key: statistics.median(one[key] for one in results) for key in ("create", "first", "latency")}
            resident, peak = (statistics.median(one["memory"][i] for one in results) for i in (0, 1))
            error = difference(folder, peer) if peer != "onnxruntime" else 0
            nodes = "{}/{} in {}".format(*results[0]["taken"]) if "taken" in results[0] else ""
            print(f"{pathlib.Path(model).stem:28} {peer:16} {1e3 * middle['latency']:9.2f} ms  create "
                  f"{middle['create']:6.2f} s  first {middle['first']:6.2f} s  memory {resident:5.0f} (peak {peak:5.0f}) "
                  f"MiB  error {error:.1e}  {nodes}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="+" if "--worker" not in sys.argv else None)
    parser.add_argument("--peers", nargs="+", default=PEERS, choices=PEERS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    for name in ("worker", "feeds", "cache", "outputs"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments)
    for spec in arguments.model:
        compare(arguments, spec)
    return None


if __name__ == "__main__":
    main()
