"""Random ONNX graphs through Camshaft, beside ONNX Runtime with its optimisations off.

    python tests/fuzz/differential_fuzz.py [--first 0] [--count 1000] [--seconds 3600] [--jobs 1]
        [--levels 0,3] [--json FILE] [--save FOLDER]
    python tests/fuzz/differential_fuzz.py --write FOLDER --count 6000
    python tests/fuzz/differential_fuzz.py --read FOLDER --jobs 16

--save keeps each failing graph, made as small as it will go, with its text (with --read: as it is, for another
--read). --write keeps graphs, inputs and
what ONNX Runtime computes in files, and --read runs these where ONNX Runtime is not. CAMSHAFT_TEST_ENGINES=gpu
builds engines for the GPU, an emulated one with CAMSHAFT_CUDA_LIBRARY. The exit status is 0 when nothing differs.
"""

import argparse
import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]

import pool  # noqa: E402
from differential import case as cases  # noqa: E402
from differential import runner  # noqa: E402

IN_ONE_FILE = 250


def main():
    options = arguments()
    levels = [int(level) for level in options.levels.split(",")]

    def progress(summary):
        """A long run that is stopped leaves what it has found."""
        if sys.stderr.isatty():
            print(f"\r{summary.cases} graphs, {len(summary.findings)} differ", end="", file=sys.stderr)
        if options.json:
            options.json.write_text(json.dumps(vars(summary), indent=1))

    if options.write:
        write(options)
        return 0
    if options.read:
        stored = [case for path in sorted(options.read.glob("*.cases")) for case in cases.read(path)]
        summary = runner.run(runner.check_stored, [(case, levels) for case in stored], [case.seed for case in stored],
                             options.jobs, options.seconds, progress)
    else:
        seeds = list(range(options.first, options.first + options.count * options.step, options.step))
        summary = runner.run(runner.check_seed, [(seed, levels) for seed in seeds], seeds, options.jobs,
                             options.seconds, progress, runner.oracle_crashes)
    print(runner.table(summary))
    if options.save and summary.findings:
        options.save.mkdir(parents=True, exist_ok=True)
        if options.read:
            failing = {finding["seed"] for finding in summary.findings}
            cases.write([case for case in stored if case.seed in failing], options.save / "failing.cases")
        else:
            save(summary.findings[:options.most], options.save)
    return 1 if summary.findings else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1000, help="how many seeds, at most")
    parser.add_argument("--step", type=int, default=1, help="2 takes odd or even seeds alone")
    parser.add_argument("--seconds", type=float, help="start nothing later than this")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--levels", default="0,3", help="optimisation levels to build at")
    parser.add_argument("--json", type=pathlib.Path, help="the summary as JSON")
    parser.add_argument("--save", type=pathlib.Path, help="a folder for failing graphs, made small")
    parser.add_argument("--most", type=int, default=50, help="how many failing graphs are kept")
    parser.add_argument("--write", type=pathlib.Path, help="a folder for cases that --read runs elsewhere")
    parser.add_argument("--read", type=pathlib.Path, help="a folder that --write filled")
    return parser.parse_args()


def made(seed):
    from differential import generator

    try:
        return generator.generate(seed, noisy=8)  # there is no second look with more noise elsewhere
    except generator.Abandoned:
        return None


def write(options):
    options.write.mkdir(parents=True, exist_ok=True)
    kept, size = [], 0
    for _, case, _ in pool.run(made, list(range(options.first, options.first + options.count)), options.jobs):
        if case:
            kept.append(case)
    for first in range(0, len(kept), IN_ONE_FILE):
        path = options.write / f"{first // IN_ONE_FILE:03}.cases"
        cases.write(kept[first:first + IN_ONE_FILE], path)
        size += path.stat().st_size
    print(f"{len(kept)} graphs in {options.write}, {size / 1e6:.1f} MB")


def save(findings, folder):
    """Failing graphs, reduced, as .onnx and text."""
    from differential import generator, reduce
    from differential.subject import Problem

    for finding in findings:
        problems = [Problem(**problem) for problem in finding["problems"]]
        try:
            whole = generator.generate(finding["seed"])
        except generator.Abandoned:
            continue
        small = reduce.reduced(whole, problems[0])
        path = folder / f"{finding['seed']}"
        path.with_suffix(".onnx").write_bytes(small.model)
        path.with_suffix(".txt").write_text(reduce.text_of(small, problems))
        cases.write([small], path.with_suffix(".cases"))


if __name__ == "__main__":
    sys.exit(main())
