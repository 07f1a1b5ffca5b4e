"""The ONNX backend suite, through the Python API.

    python tests/onnx_backend/run.py [--jobs 2] [--only 'test_conv*'] [--update] [--json FILE]
        [--device gpu] [--slim]

Every case runs. exclusions.txt lists those that may fail, each under its reason; the exit status
is 0 when exactly these fail. --update writes the list anew from what happened.
--slim slims every case's model and runs both; here nothing may fail.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]

import cases  # noqa: E402
import exclusions  # noqa: E402
import pool  # noqa: E402


def check(case):
    from check import check as check_case  # imported in the workers only: forks need no threads

    return check_case(case)


def check_slimmed(case):
    from slimmed import check as check_case

    return check_case(case)


def run_all(chosen, jobs, function=check):
    """{name: (how it passed or None, failure or None)}"""
    results = {}
    for index, passed, failure in pool.run(function, chosen, jobs):
        results[chosen[index].name] = (passed, failure)
        if sys.stderr.isatty():
            print(f"\r{len(results)} of {len(chosen)}", end="", file=sys.stderr)
    return results


def summary(chosen, results):
    lines = []
    for kind in cases.KINDS:
        names = [case.name for case in chosen if case.kind == kind]
        if not names:
            continue
        how = collections.Counter(results[name][0] for name in names)
        passed = sum(count for result, count in how.items() if result)
        fixed = how["passed with inputs fixed"]
        lines.append(f"{passed} of {len(names)} {kind} tests pass")
        if fixed:
            lines[-1] += (f" ({fixed} of them with axes, pads, scales or the lengths of sequences"
                          " fixed, not as inputs)")
    return lines


def run_slimmed(chosen, jobs):
    """The exit status."""
    results = run_all(chosen, jobs, check_slimmed)
    how = collections.Counter(passed for passed, _ in results.values())
    print(*(f"{count} {passed}" for passed, count in how.items() if passed), sep="\n")
    failures = {name: failure for name, (_, failure) in results.items() if failure}
    for name, failure in sorted(failures.items()):
        print(f"FAILED {name}: {failure[:400]}")
    print(f"{len(failures)} failures")
    return 1 if failures else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--only", default="*", help="names to run, as a shell pattern")
    arguments.add_argument("--update", action="store_true", help="write exclusions.txt anew")
    arguments.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    arguments.add_argument("--slim", action="store_true", help="slim each model and run both")
    arguments.add_argument("--json", type=pathlib.Path, help="write every result there")
    options = arguments.parse_args()
    os.environ["CAMSHAFT_TEST_ENGINES"] = options.device  # what building.py looks at

    start = time.monotonic()
    chosen = [case for case in cases.load() if fnmatch.fnmatch(case.name, options.only)]
    if options.slim:
        return run_slimmed(chosen, options.jobs)
    results = run_all(chosen, options.jobs)
    failures = {name: failure for name, (_, failure) in results.items() if failure}
    print(*summary(chosen, results), sep="\n")
    print(f"in {time.monotonic() - start:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if options.update:
        by_name = {case.name: case for case in chosen}
        exclusions.write(by_name, failures, partial=options.only != "*")
    excluded = exclusions.read()
    unexpected = sorted(set(failures) - set(excluded))
    stale = sorted(set(excluded) & set(results) - set(failures))
    for name in unexpected:
        print(f"FAILED {name}: {failures[name][:400]}")
    for name in stale:
        print(f"PASSES NOW {name}, excluded as: {excluded[name]} (run with --update)")
    crashes = [name for name, failure in failures.items() if failure.startswith(("crash", "hang"))]
    print(f"{len(unexpected)} failures that exclusions.txt does not list, {len(stale)} listed ones "
          f"that pass, {len(crashes)} crashes")
    return 1 if unexpected or stale or crashes else 0


if __name__ == "__main__":
    sys.exit(main())
