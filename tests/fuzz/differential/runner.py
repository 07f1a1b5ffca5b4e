"""Runs many cases in worker processes and sums up what came of them."""

import collections
import dataclasses
import re
import time

import pool

from .known import reason_of

SECONDS = 120  # for one case


@dataclasses.dataclass
class Summary:
    cases: int = 0
    abandoned: int = 0
    runs: int = 0
    refused_runs: int = 0
    oracle_crashes: list = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    operators: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    explained: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    findings: list = dataclasses.field(default_factory=list)  # {"seed", "problems"}


def make(seed):
    """Only the generator's part of a seed's work: whether ONNX Runtime lives through it."""
    from . import generator

    try:
        generator.generate(seed)
    except generator.Abandoned:
        pass


def check_seed(job):
    """A seed's case, made and checked. What rounding could explain is made again with more noise first."""
    from . import generator, subject

    seed, levels = job
    try:
        case = generator.generate(seed)
        problems = subject.check(case, levels)
        if any(problem.kind == subject.WRONG for problem in problems):
            again = generator.generate(seed, noisy=24)
            if again.model == case.model:
                problems = subject.check(again, levels)
    except generator.Abandoned as abandoned:
        return {"abandoned": str(abandoned)}
    return outcome(case, problems)


def check_stored(job):
    """A case that was written elsewhere: neither ONNX Runtime nor onnx are needed."""
    from . import subject

    case, levels = job
    return outcome(case, subject.check(case, levels))


def outcome(case, problems):
    return {"operators": case.operators, "runs": len(case.runs),
            "refused": sum(run.expected is None for run in case.runs),
            "problems": [dataclasses.asdict(problem) for problem in problems]}


def run(function, jobs, seeds, workers, seconds=None, progress=None, innocent=None):
    """A Summary of `jobs`, whose seeds are `seeds`; no job starts later than `seconds` from now. A crash of which
    `innocent(seed)` holds was not Camshaft's."""
    summary, begun = Summary(), time.monotonic()
    chunk = max(200, 100 * workers)
    for first in range(0, len(jobs), chunk):
        if seconds and time.monotonic() - begun > seconds:
            break
        part = slice(first, first + chunk)
        collect(summary, pool.run(function, jobs[part], workers, SECONDS), seeds[part], innocent)
        summary.seconds = time.monotonic() - begun
        if progress:
            progress(summary)
    return summary


def collect(summary, results, seeds, innocent):
    for index, result, failure in results:
        seed = seeds[index]
        if failure:
            kind = failure.split(":")[0]
            if kind == "crash" and innocent and innocent(seed):
                summary.oracle_crashes.append(seed)
                continue
            summary.findings.append({"seed": seed, "problems": [
                {"kind": kind, "text": failure, "run": 0, "output": "", "level": 0}]})
            continue
        if "abandoned" in result:
            summary.abandoned += 1
            continue
        summary.cases += 1
        summary.runs += result["runs"]
        summary.refused_runs += result["refused"]
        summary.operators.update(result["operators"])
        left = []
        for problem in result["problems"]:
            if reason := reason_of(problem, result["operators"]):
                summary.explained[reason] += 1
            else:
                left.append(problem)
        if left:
            summary.findings.append({"seed": seed, "problems": left})


def oracle_crashes(seed):
    """Whether the crash is there without Camshaft."""
    return any(failure and failure.startswith("crash") for _, _, failure in pool.run(make, [seed], 1, SECONDS))


def signature(problem):
    """What problems of one cause share: the sentence without its names and numbers."""
    if problem["kind"] == "wrong":
        return "wrong"
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", problem["text"])
    return f"{problem['kind']}: {re.sub(r'[0-9]+', '#', text)[:160]}"


def table(summary):
    """The summary as text."""
    rate = summary.cases / summary.seconds if summary.seconds else 0.0
    lines = [f"{summary.cases} graphs, {summary.runs} runs ({summary.refused_runs} that ONNX Runtime refuses), "
             f"{len(summary.operators)} kinds of construct, {summary.seconds:.0f} s ({rate:.1f} graphs/s)",
             f"{summary.abandoned} seeds made no graph; ONNX Runtime crashed on {len(summary.oracle_crashes)}"]
    for reason, count in summary.explained.most_common():
        lines.append(f"{count:7} explained: {reason}")
    groups = collections.defaultdict(list)
    for finding in summary.findings:
        for problem in finding["problems"]:
            groups[signature(problem)].append((finding["seed"], problem))
    for text, members in sorted(groups.items(), key=lambda group: -len(group[1])):
        lines.append(f"{len(members):7} {text}")
        shown = 40 if text == "wrong" else 3
        for seed, problem in members[:shown]:
            place = f"seed {seed}, level {problem['level']}, run {problem['run']}"
            lines.append(f"          {place}: {problem['text'][:240]}")
    lines.append(f"{len(summary.findings)} graphs with differences that nothing explains" if summary.findings
                 else "no difference that nothing explains")
    return "\n".join(lines)
