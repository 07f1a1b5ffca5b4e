"""One measurement of one peer, in this process alone; rounds.py starts it and reads its JSON.

    python -m camshaft.compare.measure build|load|run|turns PEER FOLDER

FOLDER holds job.json and feeds.npz, and receives the peer's artefact and its outputs. The last line
printed is the result, or {"failure": why there is none}. `turns` prints a line when
it is ready, and is `run` whenever it reads one: it prints the times of each turn as a line.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import sys
import time
from typing import Any

import numpy

from .peers import PEERS, Job, Peer, Run, artefact_of

WARM_UP = 0.3  # of the measured time
FEWEST_RUNS = 5


def timed(function: Any, *arguments: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def run_for(run: Run, feeds: dict, seconds: float) -> list[float]:
    """Latencies of a few runs or more, for `seconds`, after warming up."""
    end = time.perf_counter() + seconds * WARM_UP
    run(feeds)
    while time.perf_counter() < end:
        run(feeds)
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < FEWEST_RUNS:
        times.append(timed(run, feeds)[1])
    return times


def variants_of(feeds: dict) -> list[dict]:
    """The inputs, and three more of the same values with floats in other places: the error of a single
    run of few bits is chance."""
    def moved(value: Any, part: int) -> Any:
        return numpy.roll(value, value.size * part // 4) if value.dtype.kind == "f" else value

    if not any(value.dtype.kind == "f" and value.size > 1 for value in feeds.values()):
        return [feeds]
    return [{name: moved(value, part) for name, value in feeds.items()} for part in range(4)]


def build(peer: Peer, job: Job, artefact: pathlib.Path, feeds: dict, outputs: pathlib.Path) -> dict:
    seconds = timed(peer.build, job, artefact, feeds)[1]
    result = {"build": seconds, "build_memory": peak_memory(), "version": peer.version()}
    peer.keep(job, artefact)
    return result | ({"size": artefact.stat().st_size} if artefact.exists() else {})


def load(peer: Peer, job: Job, artefact: pathlib.Path, feeds: dict, outputs: pathlib.Path) -> dict:
    return {"load": timed(peer.load, job, artefact)[1]}


def run(peer: Peer, job: Job, artefact: pathlib.Path, feeds: dict, outputs: pathlib.Path) -> dict:
    function = peer.open(job, artefact)
    return {"times": run_for(function, feeds, job.seconds)} | ending(function, feeds, outputs)


def turns(peer: Peer, job: Job, artefact: pathlib.Path, feeds: dict, outputs: pathlib.Path) -> dict:
    function = peer.open(job, artefact)
    function(feeds)
    print(json.dumps({}), flush=True)
    for _ in sys.stdin:
        print(json.dumps({"times": run_for(function, feeds, job.seconds)}), flush=True)
    return ending(function, feeds, outputs)


def ending(function: Run, feeds: dict, outputs: pathlib.Path) -> dict:
    memory = peak_memory()
    numpy.savez(outputs, **{f"{i} {name}": value for i, variant in enumerate(variants_of(feeds))
                            for name, value in function(variant).items()})
    return {"memory": memory}


STEPS = {"build": build, "load": load, "run": run, "turns": turns}


def peak_memory() -> int:
    """Bytes. From /proc, since getrusage counts what the parent had before this program began."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def write_job(folder: pathlib.Path, job: Job, feeds: dict) -> None:
    numpy.savez(folder / "feeds.npz", **feeds)
    (folder / "job.json").write_text(json.dumps(vars(job), default=str))


def read_job(folder: pathlib.Path) -> tuple[Job, dict]:
    job = Job(**json.loads((folder / "job.json").read_text()))
    job.model = pathlib.Path(job.model)
    job.int8_model = pathlib.Path(job.int8_model) if job.int8_model else None
    with numpy.load(folder / "feeds.npz") as stored:
        return job, dict(stored)


def main(what: str, name: str, folder: str) -> int:
    place = pathlib.Path(folder)
    job, feeds = read_job(place)
    try:
        importlib.import_module(PEERS[name].package)  # ours is loaded already: nobody's import counts
        result = STEPS[what](PEERS[name], job, artefact_of(place, name), feeds, place / f"{name}.npz")
    except Exception as error:  # whatever a runtime raises is that peer's result
        lines = str(error).strip().splitlines() or [type(error).__name__]
        result = {"failure": lines[0], "details": str(error)}
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
