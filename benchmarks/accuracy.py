"""Accuracy-aware builds of trained models beside engines in f32 and with everything in 8 bits: the error on data that
nobody has seen, what of the task is left, and time.

    .venv/bin/python benchmarks/accuracy.py [MODEL...] [--max-error 0.02 | --by-task] [--reports FOLDER]

Models, data and tasks are those of trained_models.py. Engines are tuned on 32 samples, half of which tuning
holds out itself, and judged on others. Times are medians of runs that take turns, so that what else the machine
does falls on all of them; ratios to f32 are what counts.
"""

import argparse
import json
import pathlib
import statistics
import time

from calibration import engine_of
import numpy
from trained_models import MODELS, tasks

import camshaft
from camshaft.accuracy import tune_precision

USUAL = ["ppocr_rec", "ppocr_det", "nudenet", "magika"]


def context_of(engine, threads):
    runtime = camshaft.Runtime(camshaft.Logger(camshaft.Logger.ERROR))
    runtime.max_threads = threads
    return runtime.deserialize_cuda_engine(engine).create_execution_context()


def shapes_of(samples):
    return {name: "x".join(map(str, array.shape)) for name, array in samples[0].items()}


def error(actual, expected):
    """The largest of the outputs', over all samples."""
    def of(name):
        squared = sum(numpy.square(a[name] - e[name], dtype=numpy.float64).sum() for a, e in zip(actual, expected))
        return (squared / sum(numpy.square(e[name], dtype=numpy.float64).sum() for e in expected)) ** 0.5

    return max(map(of, expected[0]))


def medians(contexts, sample, seconds):
    times = [[] for _ in contexts]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 15:
        for context, taken in zip(contexts, times):
            begin = time.perf_counter()
            camshaft.infer(context, sample)
            taken.append(1e3 * (time.perf_counter() - begin))
    return [statistics.median(taken) for taken in times]


def listed(outputs):
    return [list(each.values()) for each in outputs]


def measure(name, task, given, by_task=False):
    settings = {"device": "cpu", "threads": given.threads, "shapes": shapes_of(task.samples)}
    real = camshaft.build(str(task.path), **settings)
    wanted = task.answers(listed(camshaft.infer(context_of(real, given.threads), sample) for sample in task.data))

    def metric(outputs, numbers):
        return task.share(task.answers(listed(outputs)), [wanted[i] for i in numbers])

    bound = {"metric": metric, "max_drop": 0.01} if by_task else {"max_error": given.max_error}
    begin = time.perf_counter()
    result = tune_precision(str(task.path), task.data, **bound, **settings)
    seconds = time.perf_counter() - begin
    if given.reports:
        path = pathlib.Path(given.reports) / f"{name}{'_task' if by_task else ''}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result.report, indent=1))
    contexts = [context_of(engine, given.threads)
                for engine in (real, engine_of(task.path, task.data, given.threads, True), result.engine)]
    outputs = [[camshaft.infer(context, sample) for sample in task.tests] for context in contexts]
    times = medians(contexts, task.tests[0], given.seconds)
    shares = [task.share(task.answers(listed(each)), task.truths) for each in outputs]
    cells = [f"{error(each, outputs[0]):.4f}, {share:.1%} | {times[0] / taken:.2f}"
             for each, share, taken in zip(outputs[1:], shares[1:], times[1:])]
    layers = result.report["layers"]
    lowered = sum(layer["precision"] != "fp32" for layer in layers)
    tried = sum(bool(layer["lowered"]) for layer in layers)
    limit = f"{task.what}, 1 %" if by_task else f"error {given.max_error}"
    return (f"| {name} | {limit} | {shares[0]:.1%} | {' | '.join(cells)} | {lowered} of {tried} | {times[0]:.2f} | "
            f"{result.report['builds']} in {seconds:.0f} s |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=USUAL, metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--max-error", type=float, default=0.02)
    parser.add_argument("--by-task", action="store_true", help="the bound is the task: it may get worse by 0.01")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--reports", metavar="FOLDER", help="write the reports there")
    given = parser.parse_args()
    print("| model | bound | f32: task | all int8: error, task | speed | chosen: error, task | speed | lowered "
          "| f32, ms | builds |")
    print("|---|---|---:|---|---:|---|---:|---:|---:|---:|", flush=True)
    for name, task in tasks(given.models):
        print(measure(name, task, given, given.by_task), flush=True)


if __name__ == "__main__":
    main()
