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
import threading
from typing import Any

import numpy

from .measure import write_job
from .peers import Job

REFERENCES = ("onnxruntime", "camshaft-f32")  # what errors and speeds are against: the first there
LIMIT = 900  # seconds that one process may take
PACKAGES = pathlib.Path(__file__).parents[2]


def compare(job: Job, feeds: dict, peers: Iterable[str], rounds: int = 3,
            progress: Callable[[str, int, int], Any] = lambda *_: None, stay: bool = False) -> dict[str, dict]:
    """{peer: figures}: seconds of `build`, `load` and of runs (`times`), bytes of `memory` and of the
    file (`size`), relative `error` against the reference; or `failure`, why there are none. With `stay`
    the processes of runs wait for their next turn instead of ending, so that turns can be short: on a
    machine whose speed changes, all meet the same changes."""
    peers = list(peers)
    steps = _Steps(len(peers) * (2 + rounds), progress)
    figures: dict[str, dict] = {peer: {} for peer in peers}
    with tempfile.TemporaryDirectory(prefix="camshaft-compare-") as name:
        folder = pathlib.Path(name)
        write_job(folder, job, feeds)

        def add(what: str, peer: str, measured: Callable[[], dict] | None = None) -> None:
            steps(f"{what} {peer}")
            if "failure" in figures[peer]:
                return
            result = measured() if measured else measure(what, peer, folder)
            times = figures[peer].get("times", []) + result.pop("times", [])
            figures[peer] |= result | ({"times": times} if times else {})

        for what in ("build", "load"):
            for peer in peers:
                add(what, peer)
        staying: dict[str, _Staying] = {}
        for peer in peers if stay else ():
            if "failure" not in figures[peer]:
                staying[peer] = _Staying(peer, folder)
                figures[peer] |= staying[peer].ready()
        for i in range(rounds):
            for peer in peers if i % 2 == 0 else reversed(peers):  # drift meets all alike
                add("run", peer, staying[peer].turn if peer in staying else None)
        for peer, process in staying.items():
            last = process.end()
            figures[peer] |= {} if "failure" in figures[peer] else last
        add_errors(figures, folder)
    return figures


class _Staying:
    """A process that runs its peer when told to."""

    def __init__(self, peer: str, folder: pathlib.Path) -> None:
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command("turns", peer, folder), env=environment(), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)

    def ready(self) -> dict:
        return self._answer(lambda file: None)

    def turn(self) -> dict:
        return self._answer(lambda file: (file.write("\n"), file.flush()))

    def end(self) -> dict:
        """What is known when it has ended."""
        try:
            return self._answer(lambda file: file.close())
        finally:
            with self.process, self.errors:
                self.process.kill()

    def _answer(self, ask: Callable[[Any], Any]) -> dict:
        late = threading.Timer(LIMIT, self.process.kill)
        late.start()
        try:
            ask(self.process.stdin)
            line = self.process.stdout.readline() if self.process.stdout else ""
        except OSError:  # it has ended
            line = ""
        late.cancel()
        if line:
            return dict(json.loads(line))
        self.errors.seek(0)
        return reason("run", self.process.wait(), self.errors.read())


class _Steps:
    def __init__(self, total: int, progress: Callable[[str, int, int], Any]) -> None:
        self.done, self.total, self.progress = 0, total, progress

    def __call__(self, phase: str) -> None:
        self.progress(phase, self.done, self.total)
        self.done += 1


def measure(what: str, peer: str, folder: pathlib.Path) -> dict:
    """The JSON of one process, or the reason it gave none."""
    try:
        done = subprocess.run(command(what, peer, folder), capture_output=True, text=True, timeout=LIMIT,
                              env=environment())
    except subprocess.TimeoutExpired:
        return {"failure": f"its {what} did not end within {LIMIT} s"}
    if done.returncode == 0:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    return reason(what, done.returncode, done.stderr)


def command(what: str, peer: str, folder: pathlib.Path) -> list[str]:
    return [sys.executable, "-m", f"{__package__}.measure", what, peer, str(folder)]


def environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("PYTHONPATH"))))
    return os.environ | {"PYTHONPATH": path}


def reason(what: str, status: int, errors: str) -> dict:
    """Why a process gave no figures."""
    if status < 0:
        return {"failure": f"its {what} was ended by {signal.Signals(-status).name}", "details": errors}
    lines = (errors.strip() or f"exit status {status}").splitlines()
    return {"failure": lines[-1], "details": errors}


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
