"""A minute of the differential fuzzer, and that it can find something."""

import dataclasses
import os
import pathlib
import sys

import numpy
import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]

from differential import case as cases  # noqa: E402
from differential import generator, runner, subject  # noqa: E402
from differential.table import ENTRIES  # noqa: E402

# Odd seeds have static sizes, even ones sizes that a run decides: a minute on two cores.
STATIC = list(range(1, 4501, 2))
AT_RUN_TIME = list(range(0, 1200, 2))


def summary_of(seeds):
    summary = runner.run(runner.check_seed, [(seed, (0, 3)) for seed in seeds], seeds, os.cpu_count(),
                         innocent=runner.oracle_crashes)
    assert not summary.findings, runner.table(summary)
    assert summary.cases > 0.97 * len(seeds), runner.table(summary)
    return summary


def test_graphs_of_static_sizes_agree_with_onnx_runtime():
    missing = {name for name, _, _ in ENTRIES} - set(summary_of(STATIC).operators)
    assert not missing, f"no graph has {missing}"


def test_graphs_of_run_time_sizes_agree_with_onnx_runtime():
    summary = summary_of(AT_RUN_TIME)
    assert summary.refused_runs > 20


@pytest.fixture
def case():
    """One with several runs, all of them computed, and an output whose values are certain."""
    for seed in range(0, 40, 2):
        made = generator.generate(seed)
        if all(run.expected is not None and certain(run) for run in made.runs):
            return made
    raise AssertionError("no such case")


def certain(run):
    """An output that is compared and not empty."""
    return [name for name, slack in run.slack.items()
            if slack is not None and slack.size and numpy.isfinite(slack).all()]


def test_a_seed_makes_the_same_case_again(case):
    again = generator.generate(case.seed)
    assert again.model == case.model
    assert all(numpy.array_equal(a, b) for x, y in zip(case.runs, again.runs)
               for a, b in zip(x.inputs.values(), y.inputs.values()))


def test_a_wrong_element_is_found(case):
    name = certain(case.runs[-1])[0]
    expected = case.runs[-1].expected[name]
    flat = expected.reshape(-1)
    flat[-1] = not flat[-1] if expected.dtype == bool else flat[-1] + 1 + numpy.abs(flat[-1]) // 8
    found = subject.check(case, [0])
    assert [(p.kind, p.run, p.output) for p in found] == [(subject.WRONG, len(case.runs) - 1, name)]


def test_a_wrong_shape_and_a_wrong_type_are_found(case):
    run = case.runs[0]
    name = certain(run)[0]
    right = run.expected[name]
    for wrong in (right.reshape(-1, 1, 1, 1, 1, 1, 1), right.astype(numpy.complex64)):
        changed = dataclasses.replace(run, expected={**run.expected, name: wrong})
        found = subject.check(dataclasses.replace(case, runs=[changed, *case.runs[1:]]), [0])
        assert [(p.kind, p.run, p.output) for p in found] == [(subject.WRONG, 0, name)]


def test_a_run_that_onnx_runtime_refuses_must_be_refused(case):
    refused = dataclasses.replace(case.runs[1], expected=None, refusal="because")
    found = subject.check(dataclasses.replace(case, runs=[case.runs[0], refused]), [0])
    assert [(p.kind, p.run, p.text) for p in found] == [(subject.PERMISSIVE, 1, "because")]


def test_stored_cases_read_back(case, tmp_path):
    cases.write([case], tmp_path / "a.cases")
    read, = cases.read(tmp_path / "a.cases")
    assert read.model == case.model and read.operators == case.operators
    for stored, run in zip(read.runs, case.runs, strict=True):
        for name, array in run.expected.items():
            assert stored.expected[name].dtype == array.dtype
            assert numpy.array_equal(stored.expected[name], array)
            slack = run.slack[name]
            assert slack is None or numpy.all((stored.slack[name] >= slack) & (stored.slack[name] <= 2 * slack))
    assert not subject.check(read, [0])
