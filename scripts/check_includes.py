#!/usr/bin/env python3
"""Checks who includes whom in src/, and what integrations/ include of it, against docs/ARCHITECTURE.md.

Folders see only what is listed for them. Run halves of backends see no IR, but for the reference backend, which
evaluates nodes.
"""
import functools
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
    "compiler": ["support", "ir", "ops", "passes", "plan", "backend", "backends/backends.h", "tuner", "runtime"],
    "calibration": ["support", "ir", "ops", "plan", "compiler", "runtime", "backend/launch.h", "backend/device.h"],
    "accuracy": ["support", "ir", "ops", "passes", "plan", "compiler", "calibration"],
    "quantize": ["support", "ir", "onnx", "plan/plan.h", "compiler", "calibration"],
    "api": ["support", "ir", "ops", "onnx", "slim", "plan", "tuner", "compiler", "calibration", "accuracy", "quantize", "engine", "runtime", "backend/launch.h", "backend/device.h", "backend/findings.h", "backend/forwarding_device.h"],
}
# Of src/; include/ is for everybody.
INTEGRATIONS = ROOT.parent / "integrations"
INTEGRATIONS_ALLOWED = {"onnxruntime": ["support", "onnx/wire"]}
PLAIN_HEADERS = {  # what needs only support, whatever its folder
    "plan/plan.h": ["support"],
    "backend/launch.h": ["support"],
    "backend/device.h": ["support", "backend/launch.h"],
    "backend/forwarding_device.h": ["backend/device.h"],
    "backend/compiled_code.h": ["support"],
    "backend/findings.h": ["support"],
    "backend/target.h": ["support"],
}
# The definitions of scalar operations are plain C++ that run halves share with the IR.
RUN_HALF = ["support", "plan/plan.h", "backend/launch.h", "backend/device.h", "backend/findings.h", "backend/compiled_code.h", "backend/target.h", "ir/scalar_ops.def", "ir/scalar_math.h"]
ONLY_IN_TESTS = re.compile(r"^testing/|_test\.cpp$|/kernel_harness\.h$|/test_support\.h$|/test_plugins\.h$|/test_library\.cpp$")  # may include what they like
NAMES_BUILD_TIME = re.compile(r"\b(Node|Expr|Verdict|Prepared|BuildContext|KernelList)\b")


def includes(file):
    """(line number, path) of what a file of ours includes of ours."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = re.match(r'\s*#include "([^"]+)"', line)
        if match and "/" in match[1] and (ROOT / match[1]).exists():
            yield number, match[1]


def text_of(file):
    return re.sub(r"//.*", "", file.read_text())


@functools.cache
def run_halves():
    """Files of the run halves: of the CPU those that name nothing of the build time, of CUDA what its library of the
    run time, cuda/runtime/, reaches, with the source file beside each header."""
    cpu = [f for f in (ROOT / "backends/cpu").rglob("*") if f.suffix in (".h", ".cpp")]
    reached = {f.relative_to(ROOT).as_posix() for f in cpu if not NAMES_BUILD_TIME.search(text_of(f))}
    waiting = [f for f in (ROOT / "backends/cuda/runtime").rglob("*") if f.suffix in (".h", ".cpp")]
    while waiting:
        file = waiting.pop()
        path = file.relative_to(ROOT).as_posix()
        if path in reached or not path.startswith("backends/cuda/") or ONLY_IN_TESTS.search(path):
            continue
        reached.add(path)
        waiting += [ROOT / target for _, target in includes(file)]
        waiting += [beside for beside in [file.with_suffix(".cpp")] if beside.exists()]
    return reached


def problems_of(file):
    path = file.relative_to(ROOT).as_posix()
    folder = path.split("/")[0]
    if ONLY_IN_TESTS.search(path):
        return
    runs = path in run_halves()
    allowed = PLAIN_HEADERS.get(path) or (RUN_HALF if runs else ALLOWED[folder])
    # A backend is a folder of its own: cpu may not see reference.
    own = "/".join(path.split("/")[:2]) if folder == "backends" and path.count("/") > 1 else folder
    for number, target in includes(file):
        fine = target.startswith(own + "/") or any(target == a or target.startswith(a + "/") for a in allowed)
        if not fine:
            yield f"src/{path}:{number}: {folder} must not include {target}"
        elif runs and target.startswith("backends/") and target not in run_halves():
            yield f"src/{path}:{number}: a run half must not include {target} of the build half"


def problems_of_integration(file):
    path = file.relative_to(INTEGRATIONS).as_posix()
    allowed = INTEGRATIONS_ALLOWED.get(path.split("/")[0], [])
    for number, target in includes(file):
        if not any(target.startswith(a + "/") for a in allowed):
            yield f"integrations/{path}:{number}: an integration must not include {target}"


def main():
    problems = [p for root, check in ((ROOT, problems_of), (INTEGRATIONS, problems_of_integration))
                for file in sorted(root.rglob("*")) if file.suffix in (".h", ".cpp", ".def") for p in check(file)]
    print("\n".join(problems) or "includes follow the rule")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
