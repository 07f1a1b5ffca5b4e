"""What a machine has for Camshaft, as `camshaft doctor` tells it.

The library itself says which processors and libraries it found (`describe_machine`); what Python
and the operating system have is looked up here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

from .. import describe_machine
from .checks import Check, caches, camshaft, cpu, gpu, limits, packages


def examine(self_test: bool = True) -> dict[str, Any]:
    """{"sections": [{"title", "checks"}], "broken": names, "devices": those that engines run on}."""
    found = json.loads(describe_machine())
    sections = {"CPU": cpu(found), "GPU": gpu(found), "Camshaft": camshaft(found), "Python": packages(),
                "Caches": caches(), "Limits": limits(found)}
    devices = ["CPU"] + (["GPU"] if all(check.state == "ok" for check in gpu_itself(sections["GPU"])) else [])
    if self_test:
        sections["Self-test"] = [run_self_test(device) for device in devices]
    broken = [check.name for checks in sections.values() for check in checks if check.state == "broken"]
    return {"version": found["version"], "machine": found, "devices": devices, "broken": broken,
            "sections": [{"title": title, "checks": [vars(check) for check in checks]}
                         for title, checks in sections.items() if checks]}


def gpu_itself(checks: list[Check]) -> list[Check]:
    """What engines on a GPU cannot do without."""
    return [check for check in checks if check.name.startswith(("CUDA", "GPU", "NVRTC"))]


def run_self_test(device: str) -> Check:
    """A tiny engine in a process of its own."""
    name = f"engine on the {device}"
    try:
        done = subprocess.run([sys.executable, "-m", "camshaft._self_test", device.lower()], capture_output=True,
                              text=True, timeout=300, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    except subprocess.TimeoutExpired:
        return Check(name, "broken", "it did not end within 300 s")
    if done.returncode == 0:
        return Check(name, "ok", "built, run, and its result is right")
    if done.returncode < 0:
        return Check(name, "broken", f"it was ended by {signal.Signals(-done.returncode).name}")
    return Check(name, "broken", (done.stderr.strip().splitlines() or ["no reason was given"])[-1])
