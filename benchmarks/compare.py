"""Camshaft beside its peers: build, load and run times, memory and accuracy.

    python benchmarks/compare.py [MODEL...] [--peers camshaft onnxruntime ...] [--threads 2 ...]

MODEL is an ONNX file or the beginning of a name in zoo/. Every figure comes from a fresh process,
peers in turn, `--rounds` times; latencies are medians. Peers named ...-int8 run the model as ONNX
Runtime quantises it; errors are against the f32 one. The table goes to the terminal, and with all
numbers to build/benchmarks.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy
import onnx

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import roofline  # noqa: E402
from models import inputs  # noqa: E402
from peers import INT8, PEERS, Camshaft, quantised  # noqa: E402

DEFAULT = ("resnet50-dynamo20-static", "bert_base-dynamo20-static",
           "mobilenet_v3_large-dynamo20-static", "efficientnet_b0-dynamo20-static",
           "convnext_tiny-dynamo20-static", "vit_b_16-dynamo20-static", "swin_t-dynamo20-static",
           "gpt2-dynamo20-static")
BASELINE = "onnxruntime"  # errors and ratios are against this peer
COLUMNS = ("model", "peer", "latency", f"vs {BASELINE}", "build", "load", "file", "memory", "error")


def find(name):
    """The path of a model given as a file or as the beginning of a zoo name."""
    if pathlib.Path(name).exists():
        return pathlib.Path(name).resolve()
    found = sorted((ROOT / "zoo").glob(f"{name}*.onnx"),
                   key=lambda path: "dynamo20-static" not in path.name)
    if not found:
        raise SystemExit(f"{name} is neither a file nor in zoo/ (`make zoo` makes those)")
    return found[0]


def feeds_for(path, dims):
    """Inputs for the model; unknown dimensions are named on the command line."""
    model = onnx.load(path, load_external_data=False)
    try:
        return inputs.feeds(model, dims)
    except KeyError as missing:
        name = missing.args[0]
        raise SystemExit(f"{path.name} has a dimension {name}: add --dims {name}=SIZE") from None


def measure(what, peer, model, folder, threads, options):
    """The JSON of one process, or the reason it gave none."""
    if peer.endswith(INT8) and what != "quantise":
        model = quantised(folder)
    command = [sys.executable, ROOT / "benchmarks" / "measure.py", what, peer, model, folder,
               str(threads), str(options.seconds)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()
    return {"failure": lines[-1]}


def compare(model, threads, options):
    """{peer: figures} for one model."""
    with tempfile.TemporaryDirectory() as folder:
        numpy.savez(pathlib.Path(folder) / "feeds.npz", **feeds_for(model, options.dims))

        def figure(what, peer):
            return measure(what, peer, model, folder, threads, options)

        figures = dict.fromkeys(options.peers, {})
        if integer := [peer for peer in options.peers if peer.endswith(INT8)]:
            figures |= dict.fromkeys(integer, figure("quantise", integer[0]))
        for peer in options.peers:
            figures[peer] = figures[peer] or figure("build", peer)
        working = [peer for peer in options.peers if "failure" not in figures[peer]]
        for peer in working:
            figures[peer] |= figure("load", peer) | {"times": []}
        for _ in range(options.rounds):
            for peer in working:
                result = figure("run", peer)
                figures[peer]["times"] += result.pop("times", [])
                figures[peer] |= result
        add_errors(figures, pathlib.Path(folder))
        for peer in working if options.profile else ():
            if isinstance(PEERS[peer], Camshaft):
                figures[peer] |= figure("profile", peer)
    return figures


def add_errors(figures, folder):
    """The worst relative L2 distance of an output to the baseline's."""
    if not (folder / f"{BASELINE}.npz").exists():
        return
    expected = dict(numpy.load(folder / f"{BASELINE}.npz"))
    for peer in figures:
        if (folder / f"{peer}.npz").exists():
            ours = numpy.load(folder / f"{peer}.npz")
            figures[peer]["error"] = max(distance(ours[name], value)
                                         for name, value in expected.items())


def distance(ours, theirs):
    return float(numpy.linalg.norm(ours.astype(float) - theirs) / numpy.linalg.norm(theirs))


def row(model, peer, figures, baseline):
    if "failure" in figures:
        return [model, peer, f"failed: {figures['failure'][:120]}"] + [""] * (len(COLUMNS) - 3)
    median = statistics.median(figures["times"])
    return [model, peer, f"{median * 1e3:.2f} ms", f"{baseline / median:.2f}×" if baseline else "",
            f"{figures['build']:.2f} s", f"{figures['load'] * 1e3:.0f} ms",
            f"{figures['size'] / 1e6:.0f} MB", f"{figures['memory'] / 1e6:.0f} MB",
            f"{figures['error']:.1e}" if "error" in figures else ""]


def table(results):
    rows = [list(COLUMNS), ["---"] * 2 + ["---:"] * (len(COLUMNS) - 2)]
    for model, figures in results.items():
        times = figures.get(BASELINE, {}).get("times")
        baseline = statistics.median(times) if times else None
        rows += [row(model, peer, figures[peer], baseline) for peer in figures]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def means(results):
    """How many times as fast as the baseline each peer is, by geometric mean over the models."""
    ratios = {}
    for figures in results.values():
        medians = {peer: statistics.median(its["times"]) for peer, its in figures.items() if its.get("times")}
        for peer in medians.keys() - {BASELINE} if BASELINE in medians else ():
            ratios.setdefault(peer, []).append(medians[BASELINE] / medians[peer])
    return "\n".join(f"{peer}: {statistics.geometric_mean(values):.2f}× {BASELINE} over {len(values)} models"
                     for peer, values in sorted(ratios.items()))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("models", nargs="*", default=DEFAULT)
    arguments.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    arguments.add_argument("--threads", type=int, nargs="+", default=[2])
    arguments.add_argument("--seconds", type=float, default=2, help="of running, per process")
    arguments.add_argument("--rounds", type=int, default=2, help="processes per peer, in turn")
    arguments.add_argument("--dims", nargs="+", default=["batch=1"], metavar="NAME=SIZE",
                           help="sizes of dynamic dimensions")
    arguments.add_argument("--profile", action="store_true",
                           help="also our slowest layers, and which part of the machine's peaks they reach")
    arguments.add_argument("--layers", type=int, default=15, help="of them")
    arguments.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "benchmarks")
    options = arguments.parse_args()
    options.dims = {name: int(size) for name, size in (item.split("=") for item in options.dims)}

    results = {}
    for threads in options.threads:
        machine = roofline.peaks(threads) if options.profile else {}
        if options.profile and not machine:
            print("The machine's peaks are not known: `ninja -C build cpu_peaks` builds what measures them.",
                  file=sys.stderr)
        for path in map(find, options.models):
            label = f"{path.stem}, {threads} threads" if len(options.threads) > 1 else path.stem
            print(f"{label} …", file=sys.stderr, flush=True)
            results[label] = figures = compare(path, threads, options)
            print(table({label: figures}) + "\n", flush=True)
            for peer, its in figures.items():
                if "layers" in its:
                    its["peaks"] = machine
                    roofline.add_shares(its["layers"], machine)
                    print(f"{peer}:\n{roofline.table(its['layers'], options.layers)}\n", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "compare.json").write_text(json.dumps(results, indent=1))
    (options.out / "compare.md").write_text(f"{table(results)}\n\n{means(results)}\n")
    print(means(results))
    print(f"Written to {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
