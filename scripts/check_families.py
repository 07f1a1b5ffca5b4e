#!/usr/bin/env python3
"""Checks that an operator family has one name wherever it appears, so that one search finds all of it.

src/ops/ops.def names the families: each operator's header, in the comment behind the first of a group. Folders of
kernels, conformance files and files of the ONNX writer bear these names, or are in the short lists below.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What is about something else than a family.
OTHERS = {
    "src/backends/cpu": {"simd"},
    "src/backends/cuda": {"codegen", "device", "libraries", "runtime"},
    "tests/conformance": {"broadcast", "empty", "engines", "weights"},
    "src/onnx/write": {"dims", "graph_writer", "originals", "printers", "reads", "write_graph"},
}


def sections(path, macro):
    """(operator, file) of a .def file: 'MACRO(Operator…)  // file', where later lines share the file."""
    file = ""
    for line in (ROOT / path).read_text().splitlines():
        match = re.match(macro + r"\((\w+).*?\)\s*(?://\s*(\S+))?", line)
        if match:
            file = match[2] or file
            yield match[1], file


def stem(file):
    return file.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def problems():
    family_of = {}
    for operator, file in sections("src/ops/ops.def", "CAMSHAFT_OP"):
        family_of[operator] = stem(file)
        if not (ROOT / "src/ops" / file).exists():
            yield f"src/ops/ops.def: {operator} is said to be in {file}, which is not there"
    families = set(family_of.values())
    for operator, file in sections("src/onnx/write/printers.def", "CAMSHAFT_PRINTER"):
        if stem(file) != family_of[operator]:
            yield f"src/onnx/write/printers.def: {operator} is printed in {file}, and is of the family {family_of[operator]}"

    named = [p for backend in ("cpu", "cuda") for p in (ROOT / "src/backends" / backend).iterdir() if p.is_dir()]
    named += (ROOT / "tests/conformance").glob("*.txt")
    named += (ROOT / "src/onnx/write").glob("*.cpp")
    for path in sorted(named):
        place = path.parent.relative_to(ROOT).as_posix()
        if path.stem not in families and path.stem not in OTHERS[place]:
            yield f"{place}/{path.name} is named after no family of src/ops/ops.def, nor listed as something else"


def main():
    found = list(problems())
    print("\n".join(found) or "families have one name each")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
