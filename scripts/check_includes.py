#!/usr/bin/env python3
"""Checks who includes whom in src/ against the rule of docs/ARCHITECTURE.md.

Folders see only what is listed for them; run halves of backends (launch*, compute/) see no IR.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "src"
ALLOWED = {
    "support": [],
    "ir": ["support"],
    "ops": ["support", "ir"],
    "onnx": ["support", "ir", "ops"],
    "passes": ["support", "ir", "ops"],
    "slim": ["support", "ir", "ops", "onnx", "passes"],
    "plan": ["support", "ir", "ops", "backend"],
    "backend": ["support", "ir", "ops", "plan/plan.h"],
    "backends": ["support", "ir", "ops", "backend", "plan/plan.h"],
    "tuner": ["support", "ir", "ops", "backend", "plan"],
    "trials": ["support", "backend", "tuner", "backends/cuda/load_library.h"],
    "engine": ["support", "plan/plan.h"],
    "runtime": ["support", "plan/plan.h", "engine", "backend/launch.h", "backend/device.h"],
    "compiler": ["support", "ir", "ops", "passes", "plan", "backend", "backends/backends.h", "tuner"],
    "api": ["support", "ir", "ops", "onnx", "slim", "plan", "tuner", "compiler", "engine", "runtime", "backend/device.h", "backend/forwarding_device.h"],
}
PLAIN_HEADERS = {  # what needs only support, whatever its folder
    "plan/plan.h": ["support"],
    "backend/launch.h": ["support"],
    "backend/device.h": ["support", "backend/launch.h"],
    "backend/forwarding_device.h": ["backend/device.h"],
    "backend/compiled_code.h": ["support"],
}
# The definitions of scalar operations are plain C++ that run halves share with the IR.
RUN_HALF = ["support", "plan/plan.h", "backend/launch.h", "backend/device.h", "backend/compiled_code.h", "ir/scalar_ops.def", "ir/scalar_math.h"]
CUDA_SHARED = ["services.h", "generated_params.h", "problems.h", "problems.cpp", "load_library.h", "load_library.cpp"]  # seen by both halves


def is_run_half(path):
    if "_test" in path:
        return False
    if path.startswith("backends/cuda/"):
        return "/runtime/" in path or path.rsplit("/", 1)[-1] in CUDA_SHARED
    return path.startswith("backends/cpu/") and ("/launch" in path or "/compute/" in path)


def problems_of(file):
    path = file.relative_to(ROOT).as_posix()
    folder = path.split("/")[0]
    allowed = PLAIN_HEADERS.get(path) or (RUN_HALF if is_run_half(path) else ALLOWED[folder])
    # A backend is a folder of its own: cpu may not see reference.
    own = "/".join(path.split("/")[:2]) if folder == "backends" and path.count("/") > 1 else folder
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = re.match(r'\s*#include "([^"]+)"', line)
        if not match or "/" not in match[1] or not (ROOT / match[1]).exists():
            continue
        target = match[1]
        fine = target.startswith(own + "/") or any(target == a or target.startswith(a + "/") for a in allowed)
        if not fine and not path.endswith("_test.cpp"):
            yield f"src/{path}:{number}: {folder} must not include {target}"


def main():
    problems = [p for file in sorted(ROOT.rglob("*")) if file.suffix in (".h", ".cpp", ".def") for p in problems_of(file)]
    print("\n".join(problems) or "includes follow the rule")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
