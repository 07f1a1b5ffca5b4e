"""How long runs take, and how far outputs are from what they should be."""

from __future__ import annotations

import threading
import time
from typing import Any

from .output import Progress


def measure(session: Any, feeds: dict[str, Any], config: Any, progress: Progress) -> dict[str, Any]:
    """Runs for the config's time in its streams. On a GPU copies of inputs and outputs count."""
    _repeat(session, feeds, config.warm_up / 1000, 1, 0)
    runs: list[list[float]] = [[] for _ in range(config.streams)]
    failures: list[BaseException] = []

    def stream(times: list[float], told: Progress | None) -> None:
        try:
            times += _repeat(session, feeds, config.duration, config.iterations, config.idle / 1000, told)
        except BaseException as error:  # for the caller's thread to raise
            failures.append(error)

    begin = time.perf_counter()
    others = [threading.Thread(target=stream, args=(times, None)) for times in runs[1:]]
    for thread in others:
        thread.start()
    stream(runs[0], progress)
    for thread in others:
        thread.join()
    if failures:
        raise failures[0]
    return _statistics(sorted(sum(runs, [])), time.perf_counter() - begin, config)


def _repeat(session: Any, feeds: dict[str, Any], seconds: float, least: int, idle: float,
            progress: Progress | None = None) -> list[float]:
    """Times of runs, in seconds."""
    times: list[float] = []
    begin = time.perf_counter()
    while True:
        start = time.perf_counter()
        session(feeds)
        end = time.perf_counter()
        times.append(end - start)
        if end - begin >= seconds and len(times) >= least:
            return times
        if progress:
            share = min((end - begin) / seconds if seconds else 1, len(times) / least)
            progress("running (%)", int(100 * share), 100)
        if idle:
            time.sleep(idle)


def _statistics(times: list[float], wall: float, config: Any) -> dict[str, Any]:
    import numpy as np

    milliseconds = 1000 * np.array(times)
    return {"runs": len(times), "streams": config.streams, "seconds": wall, "runs_per_second": len(times) / wall,
            "milliseconds": {"mean": float(milliseconds.mean()), "min": float(milliseconds[0]),
                             **{f"p{percent:g}": float(np.percentile(milliseconds, percent))
                                for percent in config.percentiles},
                             "max": float(milliseconds[-1])}}


def compared(outputs: dict[str, Any], reference: dict[str, Any], config: Any) -> dict[str, Any]:
    """How far each output is from the reference's of that name."""
    import numpy as np

    found = {}
    for name, expected in reference.items():
        if name not in outputs:
            raise ValueError(f"the reference has '{name}', and the engine's outputs are {', '.join(outputs)}")
        actual = outputs[name]
        if actual.shape != expected.shape:
            raise ValueError(f"output '{name}' has shape {actual.shape}, and the reference {expected.shape}")
        a, b = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        difference = np.abs(a - b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        outside = ~same & ~(difference <= config.atol + config.rtol * np.abs(b))
        finite = np.isfinite(difference)
        scale = float(np.sqrt(np.square(b[finite]).sum())) or 1.0
        found[name] = {"largest_difference": float(difference[finite].max(initial=0)),
                       "relative_error": float(np.sqrt(np.square(difference[finite]).sum())) / scale,
                       "outside": int(outside.sum()), "elements": int(a.size)}
    return found
