"""What this machine can do at most, which the roofline is drawn from."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

from .engines import Described

PACKAGE = pathlib.Path(__file__).parents[1]


def _program() -> pathlib.Path | None:
    """Of an installed package, or of the build that the package lies in."""
    places = (PACKAGE / "bin" / "cpu_peaks", PACKAGE.parents[1] / "bin" / "cpu_peaks")
    return next((place for place in places if place.exists()), None)


def machine_peaks(engines: list[Described]) -> dict[str, Any]:
    """{"f32": operations per second, ..., "read": bytes per second, "threads"}, of the CPU; empty
    where no engine ran on it or the program that measures is not there."""
    program = _program()
    if program is None or not any(each.runs and each.information.get("Device") == "cpu" for each in engines):
        return {}
    try:
        done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
        peaks: dict[str, Any] = json.loads(done.stdout)
        return peaks
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
