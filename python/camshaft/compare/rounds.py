"""Starts the measurements: each in a fresh process, peers in turn, several rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import numpy

from .measure import write_job
from .peers import Job

REFERENCES = ("onnxruntime", "camshaft-f32")  # what errors and speeds are against: the first there
LIMIT = 900  # seconds that one process may take
PACKAGES = pathlib.Path(__file__).parents[2]


def compare(job: Job, feeds: dict, peers: Iterable[str], rounds: int = 3,
            progress: Callable[[str, int, int], Any] = lambda *_: None) -> dict[str, dict]:
    """{peer: figures}: seconds of `build`, `load` and of runs (`times`), bytes of `memory` and of the
    file (`size`), relative `error` against the reference; or `failure`, why there are none."""
    peers = list(peers)
    steps = _Steps(len(peers) * (2 + rounds), progress)
    figures: dict[str, dict] = {peer: {} for peer in peers}
    with tempfile.TemporaryDirectory(prefix="camshaft-compare-") as name:
        folder = pathlib.Path(name)
        write_job(folder, job, feeds)

        def add(what: str, peer: str) -> None:
            steps(f"{what} {peer}")
            if "failure" in figures[peer]:
                return
            result = measure(what, peer, folder)
            times = figures[peer].get("times", []) + result.pop("times", [])
            figures[peer] |= result | ({"times": times} if times else {})

        for what in ("build", "load"):
            for peer in peers:
                add(what, peer)
        for i in range(rounds):
            for peer in peers if i % 2 == 0 else reversed(peers):  # drift meets all alike
                add("run", peer)
        add_errors(figures, folder)
    return figures


class _Steps:
    def __init__(self, total: int, progress: Callable[[str, int, int], Any]) -> None:
        self.done, self.total, self.progress = 0, total, progress

    def __call__(self, phase: str) -> None:
        self.progress(phase, self.done, self.total)
        self.done += 1


def measure(what: str, peer: str, folder: pathlib.Path) -> dict:
    """The JSON of one process, or the reason it gave none."""
    command = [sys.executable, "-m", f"{__package__}.measure", what, peer, str(folder)]
    path = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT,
                              env=os.environ | {"PYTHONPATH": path})
    except subprocess.TimeoutExpired:
        return {"failure": f"its {what} did not end within {LIMIT} s"}
    if done.returncode == 0:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    if done.returncode < 0:
        return {"failure": f"its {what} was ended by {signal.Signals(-done.returncode).name}",
                "details": done.stderr}
    lines = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()
    return {"failure": lines[-1], "details": done.stderr}


def reference_of(figures: dict[str, dict]) -> str | None:
    """The peer that others are held against."""
    return next((peer for peer in REFERENCES if figures.get(peer, {}).get("times")), None)


def add_errors(figures: dict[str, dict], folder: pathlib.Path) -> None:
    """To each, how far its worst output is from the reference's, by mean over the runs that were kept."""
    reference = reference_of(figures)
    if not reference:
        return
    expected = kept_outputs(folder / f"{reference}.npz")
    for peer, own in figures.items():
        if own.get("times"):
            errors = list(map(worst_error, kept_outputs(folder / f"{peer}.npz"), expected))
            own["error"] = None if None in errors else statistics.fmean(errors)


def kept_outputs(path: pathlib.Path) -> list[dict]:
    """{name: value} of each run that measure.py kept."""
    runs: list[dict] = []
    for key, value in numpy.load(path).items():
        number, name = key.split(" ", 1)
        runs += [{} for _ in range(int(number) + 1 - len(runs))]
        runs[int(number)][name] = value
    return runs


def worst_error(ours: dict, expected: dict) -> float | None:
    """The largest relative L2 distance of an output; None where they cannot be compared: in number
    or shape, or not finite in the same places. Outputs of other names go by their order."""
    if len(ours) != len(expected):
        return None
    if ours.keys() != expected.keys():
        ours = dict(zip(expected, ours.values()))
    errors = [distance(ours[name], value) for name, value in expected.items()]
    return None if None in errors else max(errors, default=0.0)


def distance(ours: Any, theirs: Any) -> float | None:
    ours, theirs = numpy.asarray(ours, float), numpy.asarray(theirs, float)
    if ours.shape != theirs.shape:
        return None
    finite = numpy.isfinite(theirs)
    if not numpy.array_equal(finite, numpy.isfinite(ours)):
        return None
    norm = float(numpy.linalg.norm(theirs[finite])) or 1.0
    return float(numpy.linalg.norm(ours[finite] - theirs[finite])) / norm
