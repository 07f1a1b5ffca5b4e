"""exclusions.txt: names of cases that may fail, under a line with the reason they share."""

import collections
import pathlib
import re

import onnx
from onnx import TensorProto

FILE = pathlib.Path(__file__).parent / "exclusions.txt"
HEADER = """\
# Cases of the ONNX backend suite that may fail, each group under its reason. Everything else must
# pass, and a case listed here that passes is reported. `run.py --update` writes this file; a
# reason edited by hand stays with its cases.
"""
UNKNOWN = "not explained yet"


def read():
    """{name: reason}"""
    listed = {}
    reason = UNKNOWN
    for line in FILE.read_text().splitlines() if FILE.exists() else ():
        if line.startswith("== "):
            reason = line.removeprefix("== ")
        elif line and not line.startswith("#"):
            listed[line.strip()] = reason
    return listed


def write(cases, failures, partial):
    """Lists `failures` ({name: text}); with `partial`, names that did not run stay as they are."""
    before = read()
    groups = collections.defaultdict(list)
    for name, failure in failures.items():
        reason = before.get(name, UNKNOWN)
        if reason == UNKNOWN or reason.startswith("bug: "):
            reason = reason_for(cases[name].model(), failure)
        groups[reason].append(name)
    for name, reason in before.items() if partial else ():
        if name not in cases:
            groups[reason].append(name)
    with FILE.open("w") as file:
        file.write(HEADER)
        for reason in sorted(groups):
            file.write(f"\n== {reason}\n" + "".join(f"{name}\n" for name in sorted(groups[reason])))


NARROW = {TensorProto.INT4, TensorProto.UINT4, TensorProto.INT2, TensorProto.UINT2,
          TensorProto.FLOAT4E2M1}
UNSIGNED_ZERO = {TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ, TensorProto.FLOAT8E8M0}
COMPLEX = {TensorProto.COMPLEX64, TensorProto.COMPLEX128}


def reason_for(model, failure):
    """Why a model is outside what the library does today, from the model where that tells."""
    if failure.startswith(("crash", "hang", "AssertionError")):
        return f"bug: {first_sentence(failure)}"
    graph = model.graph
    values = [*graph.input, *graph.output, *graph.value_info]
    if any(not value.type.HasField("tensor_type") for value in values if value.type.WhichOneof("value")):
        return "sequences, optionals and maps are not tensors"
    types = {value.type.tensor_type.elem_type for value in values}
    types |= {tensor.data_type for tensor in graph.initializer}
    types |= {attribute.t.data_type for node in graph.node for attribute in node.attribute
              if attribute.type == onnx.AttributeProto.TENSOR}
    types |= {attribute.i for node in graph.node for attribute in node.attribute
              if node.op_type == "Cast" and attribute.name == "to"}
    if TensorProto.STRING in types:
        return "strings are not tensors of numbers"
    if types & COMPLEX:
        return "complex numbers"
    if types & NARROW:
        return "types of 4 or 2 bits: numpy has one element per byte"
    if types & UNSIGNED_ZERO:
        return "fp8 without negative zero, and powers of two (e8m0)"
    if any("training" in node.domain for node in graph.node):
        return "training operators"
    if any(node.domain == "ai.onnx.ml" for node in graph.node):
        return "ai.onnx.ml: classical machine learning"
    operators = {node.op_type for node in graph.node}
    if operators & {"If", "Loop", "Scan"}:
        return "control flow: If, Loop and Scan"
    if operators & {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
                    "Bernoulli", "Multinomial"}:
        return "random numbers"
    return first_sentence(failure)


def first_sentence(failure):
    """The message without what differs from case to case: names, numbers, shapes."""
    text = re.sub(r"\s+", " ", failure.split("; ")[0]).strip()
    text = re.sub(r"'[^']*'", "'…'", text)
    text = re.sub(r"\b\d[\d.e+-]*", "N", text)
    return text[:160]
