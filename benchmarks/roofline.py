"""What layers compute and move, which the inspector counts, beside what the machine can, which
build/bin/cpu_peaks measures.
"""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parents[1]
PEAKS = ROOT / "build" / "bin" / "cpu_peaks"


def peaks(threads):
    """{"f32": operations per second, ..., "read": bytes per second}; empty where it was not built."""
    if not PEAKS.exists():
        return {}
    return json.loads(subprocess.run([PEAKS, str(threads)], capture_output=True, text=True, check=True).stdout)


def precision(kernel):
    """Of a kernel's products, and how many of them stand for one."""
    if "split_bf16" in kernel:
        return "bf16", 3  # halves of f32 numbers
    return next(((name, 1) for name, part in (("int8", "int8"), ("bf16", "bf16"), ("f16", "f16")) if part in kernel), ("f32", 1))


def add_shares(layers, machine):
    """Adds to each layer which part of the machine's peaks it reaches, where both are known."""
    for layer in layers:
        seconds = layer["ms"] / 1e3
        kind, products = precision(layer["kernel"])
        if seconds and layer["operations"] and kind in machine:
            layer["compute"] = layer["operations"] * products / seconds / machine[kind]
        if seconds and "read" in machine:
            layer["memory"] = layer["bytes"] / seconds / machine["read"]


def table(layers, rows):
    """The slowest layers as text."""
    slowest = sorted(layers, key=lambda layer: -layer["ms"])
    total = sum(layer["ms"] for layer in layers)
    lines = [f"  {total:8.3f} ms in {len(layers)} layers", "        time  share  compute  memory  kernel"]
    for layer in slowest[:rows]:
        compute, memory = (f"{layer[key]:.0%}" if key in layer else "" for key in ("compute", "memory"))
        lines.append(f"  {layer['ms']:7.3f} ms {layer['ms'] / total:6.1%} {compute:>8} {memory:>7}  "
                     f"{layer['kernel']:28} {layer['name'][:60]}")
    return "\n".join(lines)
