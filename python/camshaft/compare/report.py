"""What was measured, as rows for a table and as one document for programs."""

from __future__ import annotations

import statistics
from typing import Any

import numpy

from .peers import Absence
from .rounds import reference_of

COLUMNS = ("peer", "median", "p95", "speed", "build", "load", "file", "memory", "error")


def summarise(figures: dict[str, dict]) -> dict[str, dict]:
    """The figures with the `median` and `p95` of their times and the `speed` beside the reference's."""
    reference = reference_of(figures)
    base = statistics.median(figures[reference]["times"]) if reference else None
    summary = {}
    for peer, own in figures.items():
        summary[peer] = dict(own)
        if times := own.get("times"):
            median = statistics.median(times)
            summary[peer] |= {"median": median, "p95": float(numpy.percentile(times, 95)),
                              "speed": base / median if base else None}
    return summary


def fastest_first(summary: dict[str, dict]) -> dict[str, dict]:
    """Those that failed come last."""
    return dict(sorted(summary.items(), key=lambda item: item[1].get("median", float("inf"))))


def row(peer: str, own: dict) -> list[str]:
    """The cells of COLUMNS."""
    if "median" not in own:
        return [peer, f"failed: {own['failure'][:120]}"] + [""] * (len(COLUMNS) - 2)
    return [peer, milliseconds(own["median"]), milliseconds(own["p95"]),
            f"{own['speed']:.2f}x" if own["speed"] else "", seconds(own["build"]), milliseconds(own["load"]),
            megabytes(own.get("size")), megabytes(own["memory"]), error_text(own)]


def milliseconds(time: float) -> str:
    """Three digits, so that a tenth of a millisecond shows where it counts."""
    value = time * 1e3
    return f"{value:.3f} ms" if value < 1 else f"{value:.2f} ms" if value < 100 else f"{value:.0f} ms"


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def megabytes(count: float | None) -> str:
    if count is None:
        return ""
    return f"{count / 1e3:.0f} kB" if count < 1e5 else f"{count / 1e6:.1f} MB" if count < 1e7 else f"{count / 1e6:.0f} MB"


def error_text(own: dict) -> str:
    if "error" not in own:
        return ""
    return "incomparable" if own["error"] is None else f"{own['error']:.1e}" if own["error"] else "0"


def document(facts: dict[str, Any], figures: dict[str, dict], absent: dict[str, Absence]) -> dict:
    """All of it: `facts` say of what and where, `peers` what was measured, fastest first, `absent`
    who did not take part, why, and what would change that."""
    summary = fastest_first(summarise(figures))
    together: dict[tuple[str, str], list[str]] = {}
    for peer, absence in absent.items():
        together.setdefault((absence.reason, absence.remedy), []).append(peer)
    return facts | {"reference": reference_of(figures),
                    "peers": [{"peer": peer} | own for peer, own in summary.items()],
                    "absent": [{"peers": peers, "reason": reason, "remedy": remedy}
                               for (reason, remedy), peers in together.items()]}
