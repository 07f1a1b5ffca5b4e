"""torch.compile with Camshaft beside PyTorch itself and Inductor, on torchvision's and transformers'
models with random weights.

    python benchmarks/torch_compile.py [MODEL...] [--compilers eager inductor camshaft]
        [--device cpu|cuda] [--threads N] [--precision fp32] [--runs 30] [--clock wall|cpu] [--json FILE]

Needs scripts/requirements-integrations.txt. Each figure comes from a process of its own, whose caches
are empty folders; "cached" is a second process with the folders of the first. *first* is the first
call, compilation included; *ms* the median of the later ones; *error* the relative L2 distance to
eager, the largest of all results; *memory* the process's peak, with PyTorch itself. `--clock cpu`
counts the seconds that processors were busy for the process and its children instead of those that
went by: with `--threads 1` the figures then mean something on a machine that has other work, too.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "zoo"))

MODELS = ("resnet50", "mobilenet_v3_large", "efficientnet_b0", "vit_b_16", "swin_t", "convnext_tiny",
          "deeplabv3_resnet50", "bert_base", "gpt2", "t5_small_encoder", "whisper_tiny_encoder")
COMPILERS = ("eager", "inductor", "camshaft")
OPSET = 20  # of which the zoo's modules call fused attention


def measure(model, compiler, options):
    """One process's figures."""
    import architectures
    import torch

    if options.threads:
        torch.set_num_threads(options.threads)
    case = architectures.build(model, OPSET)
    module = case.module.to(options.device).eval()
    inputs = [tensor.to(options.device) for tensor in case.inputs(1)]
    with torch.no_grad():
        wanted = results_of(module(*inputs))
        run = module
        if compiler == "inductor":
            run = torch.compile(module, dynamic=False)
        elif compiler == "camshaft":
            import camshaft.torch  # noqa: F401 - registers the backend where it is not installed

            run = torch.compile(module, backend="camshaft", dynamic=False,
                                options={"precision": options.precision})
        first, given = timed(run, inputs, options)
        error = max(distance(ours, theirs) for ours, theirs in zip(results_of(given), wanted))
        times = [timed(run, inputs, options)[0] for _ in range(options.runs)]
    return {"first": first, "ms": statistics.median(times) * 1e3, "error": error,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def cpu_seconds():
    """Of this process, and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


CLOCKS = {"wall": time.perf_counter, "cpu": cpu_seconds}


def timed(run, inputs, options):
    import torch

    start = CLOCKS[options.clock]()
    results = run(*inputs)
    if options.device == "cuda":
        torch.cuda.synchronize()
    return CLOCKS[options.clock]() - start, results


def results_of(value):
    import torch

    leaves = torch.utils._pytree.tree_leaves(value)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def distance(ours, theirs):
    ours, theirs = ours.double(), theirs.double()
    return float((ours - theirs).norm() / theirs.norm().clamp(min=1e-30))


def in_a_process(model, compiler, options, folder):
    """The figures, or why there are none."""
    environment = dict(os.environ, CAMSHAFT_CACHE=f"{folder}/camshaft",
                       TORCHINDUCTOR_CACHE_DIR=f"{folder}/inductor")
    if options.clock == "cpu":
        environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # compilers are children then, which count
    command = [sys.executable, __file__, model, "--worker", compiler, "--device", options.device,
               "--runs", str(options.runs), "--precision", options.precision, "--clock", options.clock]
    if options.threads:
        command += ["--threads", str(options.threads)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no word"])[-1][:200]}
    return json.loads(done.stdout.splitlines()[-1])


def row(model, compiler, options):
    with tempfile.TemporaryDirectory() as folder:
        figures = in_a_process(model, compiler, options, folder)
        if compiler != "eager" and "failed" not in figures:
            figures["cached"] = in_a_process(model, compiler, options, folder).get("first")
    return {"model": model, "compiler": compiler, **figures}


def show(rows):
    print("| model | compiler | ms | vs eager | first, s | cached, s | error | memory, MB |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    eager = {entry["model"]: entry.get("ms") for entry in rows if entry["compiler"] == "eager"}
    for entry in rows:
        if "failed" in entry:
            print(f"| {entry['model']} | {entry['compiler']} | {entry['failed']} | | | | | |")
            continue
        ratio = f"{base / entry['ms']:.2f}×" if (base := eager.get(entry["model"])) else ""
        cached = f"{entry['cached']:.1f}" if entry.get("cached") else ""
        error = "" if entry["compiler"] == "eager" else f"{entry['error']:.1e}"
        print(f"| {entry['model']} | {entry['compiler']} | {entry['ms']:.1f} | {ratio} |"
              f" {entry['first']:.1f} | {cached} | {error} | {entry['memory']:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--compilers", nargs="+", default=COMPILERS, choices=COMPILERS)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--clock", default="wall", choices=CLOCKS)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(measure(options.models[0], options.worker, options)))
        return
    rows = [row(model, compiler, options) for model in options.models for compiler in options.compilers]
    show(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
