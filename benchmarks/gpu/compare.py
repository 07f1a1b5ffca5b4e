"""Our engines beside PyTorch and ONNX Runtime on a GPU: latency, accuracy, build time, memory.

    python3 benchmarks/gpu/compare.py [--models resnet50 bert128] [--batches 1 32]
        [--peers ours eager graph] [--cells resnet50/1/ours-int8 ...] [--seconds 1] [--out FOLDER]

Models are exported here with random weights, so nothing is downloaded. Exports and engines are
kept in --folder and made several at a time; every peer is timed in a process of its own, alone on
the GPU. The table goes to the terminal and, with all figures, to --out, after every result.

Peers: ours (FP16), ours-bf16, ours-fp32 (without TF32), ours-int8 and ours-fp8 (models that
`camshaft quantize` made, with FP16 beside), each also without one of the optimiser's passes
(ours:-fuse_norms), eager, graph (one CUDA graph), compile, compile:max-autotune (PyTorch in
f16), onnxruntime (CUDA provider, f16, CUDA graph).
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import threading
import time

from measure import format_of

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
MODELS = ("resnet50", "bert128", "bert384", "vit_b_16", "mobilenet_v3_large", "efficientnet_b0",
          "swin_t", "gpt2_512")
# A process that finds the package and CUDA's libraries, wherever they were built or carried.
PROCESS = ["bash", "-c", 'source "$0" && exec "$@"', ROOT / "scripts" / "gpu_env.sh",
           sys.executable, HERE / "measure.py"]
PREPARING = 5  # processes that get ready while another one is timed


class Comparison:
    def __init__(self, options):
        self.options, self.start = options, time.monotonic()
        self.figures = {}  # (model, batch, peer): what its steps measured
        self.lock = threading.Lock()
        self.log = open(options.out / "compare.log", "w")

    def cells(self, peers=None):
        return [cell for cell in self.options.cells if peers is None or peers(cell[2])]

    def step(self, what, cell):
        """Runs one step in a process; its figures, or the reason there are none."""
        figures = self.figures.setdefault(cell, {})
        if "failure" in figures:
            return
        left = self.options.budget - (time.monotonic() - self.start)
        if left <= 0:
            figures["failure"] = "out of time"
            return
        model, batch, peer = cell
        settings = {"model": model, "batch": batch, "peer": peer,
                    "folder": str(self.options.folder), "seconds": self.options.seconds,
                    "errors": not self.options.no_errors, "profile": self.options.profile,
                    "io": self.options.io, "level": self.options.level,
                    "build_threads": self.options.build_threads}
        try:
            done = subprocess.run(
                [*PROCESS, what, json.dumps(settings)], capture_output=True, text=True,
                timeout=left)
            lines = done.stdout.strip().splitlines()
            worked = done.returncode == 0 and lines
            result = json.loads(lines[-1]) if worked else {
                "failure": f"{what}: {last_line(done.stderr) or f'status {done.returncode}'}"}
            errors = done.stderr
        except subprocess.TimeoutExpired:
            result, errors = {"failure": f"{what}: out of time"}, ""
        with self.lock:
            figures |= result
            said = ", ".join(f"{key} {short(value)}" for key, value in result.items()
                             if not isinstance(value, list))
            print(f"[{time.monotonic() - self.start:5.0f} s] {what} {model} b{batch} {peer}: {said}",
                  file=sys.stderr, flush=True)
            if "failure" in result:
                self.log.write(f"--- {what} {cell}\n{errors}\n")
                self.log.flush()
            self.write()

    def run(self, what, cells, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda cell: self.step(what, cell), cells))

    def export_all(self):
        """One export per model and batch serves all of our precisions."""
        ours = {(model, batch): (model, batch, peer)
                for model, batch, peer in reversed(self.cells(is_ours))}
        peers = self.cells(lambda peer: peer == "onnxruntime")
        self.run("export", [*ours.values(), *peers], self.options.export_jobs)
        for model, batch, peer in self.cells(is_ours):
            failure = self.figures[ours[model, batch]].get("failure")
            if failure:
                self.figures.setdefault((model, batch, peer), {}).setdefault("failure", failure)

    def quantise_all(self):
        """One model for each model, batch and format; each takes all cores for most of its time."""
        chosen = {(model, batch, format_of(peer)): (model, batch, peer)
                  for model, batch, peer in reversed(self.cells(format_of))}
        self.run("quantise", chosen.values(), 2)

    def write(self):
        self.options.out.mkdir(parents=True, exist_ok=True)
        rows = [{"model": model, "batch": batch, "peer": peer, **figures}
                for (model, batch, peer), figures in self.figures.items()]
        (self.options.out / "compare.json").write_text(json.dumps(rows, indent=1))
        (self.options.out / "compare.md").write_text(self.report())

    def report(self):
        parts = [self.latency_table(), self.engine_table()]
        failures = [f"- {model} b{batch} {peer}: {figures['failure'][:300]}"
                    for (model, batch, peer), figures in self.figures.items()
                    if "failure" in figures]
        if failures:
            parts.append("\n".join(failures))
        if self.options.profile:
            parts += [slowest_layers(cell, figures) for cell, figures in self.figures.items()
                      if "slowest" in figures]
        return "\n\n".join(parts) + "\n"

    def latency_table(self):
        others = [peer for peer in self.options.peers if not is_ours(peer)]
        ours = [peer for peer in self.options.peers if is_ours(peer)]
        rows = [["model", "batch", *[f"{peer} ms" for peer in [*ours, *others]],
                 "best other / ours", *[f"{peer} error" for peer in [*ours, *others]]]]
        for model in self.options.models:
            for batch in self.options.batches:
                cell = {peer: self.figures.get((model, batch, peer), {})
                        for peer in self.options.peers}
                if not any(cell.values()):
                    continue
                best_other = min((cell[p]["ms"] for p in others if "ms" in cell[p]), default=None)
                mine = cell[ours[0]].get("ms") if ours else None
                ratio = f"{best_other / mine:.2f}×" if best_other and mine else ""
                rows.append([model, batch, *[number(cell[p].get("ms")) for p in [*ours, *others]],
                             ratio, *[number(cell[p].get("error"), ".1e")
                                      for p in [*ours, *others]]])
        return markdown(rows)

    def engine_table(self):
        rows = [["model", "batch", "peer", "build", "with timings", "load", "file", "arena",
                 "device memory", "waited for", "layers"]]
        for (model, batch, peer), found in self.figures.items():
            if "ms" in found:
                rows.append([model, batch, peer, number(found.get("build_s"), ".1f", " s"),
                             number(found.get("rebuild_s"), ".1f", " s"),
                             number(found.get("load_s"), ".2f", " s"),
                             megabytes(found.get("size")), megabytes(found.get("arena")),
                             megabytes(found.get("memory")), number(found.get("waited_ms")),
                             found.get("layers", "")])
        return markdown(rows)


def is_ours(peer):
    return peer.startswith("ours")


def short(value):
    return f"{value:.4g}" if isinstance(value, float) else value


def number(value, form=".4f", unit=""):
    return "" if value is None else f"{value:{form}}{unit}"


def megabytes(value):
    return "" if value is None else f"{value / 1e6:.0f} MB"


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def markdown(rows):
    head, *body = [[str(cell) for cell in row] for row in rows]
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *body])


def slowest_layers(cell, figures):
    lines = [f"  {ms:8.4f} ms  {kernel:40} {name[:80]}" for ms, name, kernel in figures["slowest"]]
    return "\n".join([f"{cell[0]} b{cell[1]} {cell[2]}, slowest layers:", "", *lines])


def parse():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--models", nargs="+", default=list(MODELS))
    arguments.add_argument("--batches", nargs="+", type=int, default=[1, 32])
    arguments.add_argument("--peers", nargs="+", default=["ours", "eager", "graph"])
    arguments.add_argument("--cells", nargs="+", metavar="MODEL/BATCH/PEER",
                           help="just these, instead of all models by all batches by all peers")
    arguments.add_argument("--seconds", type=float, default=1, help="of timing, per peer")
    arguments.add_argument("--budget", type=float, default=86400,
                           help="seconds after which no step is started")
    arguments.add_argument("--rebuild", action="store_true",
                           help="also time a build with the timings of the first")
    arguments.add_argument("--keep-engines", action="store_true",
                           help="time the engines of an earlier call")
    arguments.add_argument("--no-errors", action="store_true", help="skip the f32 reference")
    arguments.add_argument("--profile", action="store_true", help="our slowest layers too")
    arguments.add_argument("--io", choices=("fp32", "fp16"), default="fp32",
                           help="type of our FP16 engines' inputs and outputs")
    arguments.add_argument("--level", type=int, default=3, help="builder optimisation level")
    arguments.add_argument("--export-jobs", type=int, default=16)
    arguments.add_argument("--build-jobs", type=int, default=4,
                           help="engines built at once; they take turns at timing kernels")
    arguments.add_argument("--build-threads", type=int, default=8)
    arguments.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "gpu_benchmark",
                           help="where exports and engines are kept")
    arguments.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "benchmarks_gpu")
    options = arguments.parse_args()
    if options.cells:
        cells = [cell.split("/") for cell in options.cells]
        options.cells = [(model, int(batch), peer) for model, batch, peer in cells]
        options.models, options.batches, options.peers = (
            list(dict.fromkeys(of)) for of in zip(*options.cells))
    else:
        options.cells = [(model, batch, peer) for model in options.models
                         for batch in options.batches for peer in options.peers]
    return options


def main():
    options = parse()
    options.folder.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    comparison = Comparison(options)
    comparison.export_all()
    comparison.quantise_all()
    engines = comparison.cells(is_ours)
    if not options.keep_engines:
        comparison.run("build", engines, options.build_jobs)
    if options.rebuild:
        comparison.run("rebuild", engines, options.build_jobs)
    comparison.run("time", comparison.cells(), PREPARING)
    print(comparison.report())
    print(f"Written to {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
