"""Camshaft beside its peers over many models, as `camshaft compare` measures one.

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

from camshaft.compare import PEERS, Job, compare  # noqa: E402
from camshaft.compare.peers import Camshaft  # noqa: E402
from camshaft.compare.report import COLUMNS, row, summarise  # noqa: E402

DEFAULT = ("resnet50-dynamo20-static", "bert_base-dynamo20-static",
           "mobilenet_v3_large-dynamo20-static", "efficientnet_b0-dynamo20-static",
           "convnext_tiny-dynamo20-static", "vit_b_16-dynamo20-static", "swin_t-dynamo20-static",
           "gpt2-dynamo20-static")
CPU_PEERS = [name for name, peer in PEERS.items() if not peer.on_gpu and not name.startswith("pytorch")]


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


def started(program, *arguments):
    """The last line that a program of this folder prints; raises RuntimeError with its reason."""
    done = subprocess.run([sys.executable, ROOT / "benchmarks" / program, *map(str, arguments)],
                          capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()
        raise RuntimeError(lines[-1])
    return done.stdout.splitlines()[-1] if done.stdout else ""


def measure(model, threads, options):
    """{peer: figures} for one model."""
    feeds, failed = feeds_for(model, options.dims), {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        job = Job(model, threads, options.seconds)
        numpy.savez(folder / "feeds.npz", **feeds)
        if integer := [peer for peer in options.peers if PEERS[peer].is_int8]:
            try:
                started("quantise_with_onnxruntime.py", model, folder / "feeds.npz", folder / "int8.onnx")
                job.int8_model = folder / "int8.onnx"
            except RuntimeError as error:
                failed = {peer: {"failure": str(error)} for peer in integer}
        measured = compare(job, feeds, [peer for peer in options.peers if peer not in failed], options.rounds,
                           stay=options.stay)
        for peer in measured if options.profile else ():
            if isinstance(PEERS[peer], Camshaft) and "failure" not in measured[peer]:
                measured[peer] |= json.loads(started("layers.py", peer, PEERS[peer].model(job),
                                                     folder / "feeds.npz", threads))
    return {peer: failed.get(peer) or measured[peer] for peer in options.peers}


def table(results):
    rows = [["model", *COLUMNS], ["---"] * 2 + ["---:"] * (len(COLUMNS) - 1)]
    for model, figures in results.items():
        rows += [[model, *row(peer, own)] for peer, own in summarise(figures).items()]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def means(results):
    """How many times as fast as the reference each peer is, by geometric mean over the models."""
    speeds = {}
    for figures in results.values():
        for peer, own in summarise(figures).items():
            if own.get("speed"):
                speeds.setdefault(peer, []).append(own["speed"])
    return "\n".join(f"{peer}: {statistics.geometric_mean(values):.2f} times the reference's speed over "
                     f"{len(values)} models" for peer, values in sorted(speeds.items()))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("models", nargs="*", default=DEFAULT)
    arguments.add_argument("--peers", nargs="+", choices=PEERS, default=CPU_PEERS)
    arguments.add_argument("--threads", type=int, nargs="+", default=[2])
    arguments.add_argument("--seconds", type=float, default=2, help="of running, per process")
    arguments.add_argument("--rounds", type=int, default=2, help="processes per peer, in turn")
    arguments.add_argument("--stay", action="store_true",
                           help="processes wait for their next turn, so that turns can be short and many")
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
            results[label] = figures = measure(path, threads, options)
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
