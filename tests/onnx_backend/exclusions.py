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


FOUR_BITS = {TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1}
REASON_BY_TYPE = (
    ("strings are not tensors of numbers", {TensorProto.STRING}),
    ("complex numbers", {TensorProto.COMPLEX64, TensorProto.COMPLEX128}),
    ("types of 2 bits", {TensorProto.INT2, TensorProto.UINT2}),
    ("fp8 without negative zero (fnuz), and powers of two (e8m0)",
     {TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ, TensorProto.FLOAT8E8M0}),
)
WIDE_VALUES = ("casts of values beyond 4 bits, which ONNX leaves open: ours saturate, the suite's"
               " wrap")
SEQUENCES = "sequences, optionals and maps are not tensors"
REASON_BY_OPERATOR = (
    (SEQUENCES, "SequenceConstruct SequenceEmpty SplitToSequence OptionalGetElement"
                " OptionalHasElement"),
    ("strings are not tensors of numbers", "StringNormalizer"),
    ("images are decoded before they reach the model", "ImageDecoder"),
    ("control flow decided at run time: If, Loop and Scan", "If Loop Scan"),
    ("random numbers, which no two implementations draw alike",
     "RandomNormal RandomUniform RandomNormalLike RandomUniformLike Bernoulli Multinomial Dropout"),
    ("the size of the output depends on data, not yet supported",
     "Compress NonMaxSuppression NonZero Unique"),
    ("bits of floats read as integers, or the other way", "BitCast"),
)
REASON_BY_DOMAIN = {
    "ai.onnx.preview.training": "training operators",
    "ai.onnx.ml": "ai.onnx.ml: classical machine learning",
}


def reason_for(model, failure):
    """Why a model is outside what the library does today, from the model where that tells."""
    graph = model.graph
    values = [*graph.input, *graph.output, *graph.value_info]
    casts = all(node.op_type in ("Cast", "CastLike") for node in graph.node)
    if casts and graph.output[0].type.tensor_type.elem_type in FOUR_BITS:
        return WIDE_VALUES
    if failure.startswith(("crash", "hang", "AssertionError")):
        return f"bug: {first_sentence(failure)}"
    if any(value.type.WhichOneof("value") not in (None, "tensor_type") for value in values):
        return SEQUENCES
    types = element_types(graph, values)
    for reason, unsupported in REASON_BY_TYPE:
        if types & unsupported:
            return reason
    for node in graph.node:
        if node.domain in REASON_BY_DOMAIN:
            return REASON_BY_DOMAIN[node.domain]
    if "without saturation" in failure:
        return "casts to fp8 without saturation"
    operators = {node.op_type for node in graph.node}
    for reason, unsupported in REASON_BY_OPERATOR:
        if operators & set(unsupported.split()):
            return reason
    return first_sentence(failure)


def element_types(graph, values):
    attributes = [(node.op_type, attribute) for node in graph.node for attribute in node.attribute]
    return ({value.type.tensor_type.elem_type for value in values}
            | {tensor.data_type for tensor in graph.initializer}
            | {attribute.t.data_type for _, attribute in attributes
               if attribute.type == onnx.AttributeProto.TENSOR}
            | {attribute.i for operator, attribute in attributes
               if operator == "Cast" and attribute.name == "to"})


def first_sentence(failure):
    """The message without what differs from case to case: names, numbers, shapes."""
    text = re.sub(r"\s+", " ", failure.split("; ")[0]).strip()
    text = re.sub(r"'[^']*'", "'…'", text)
    text = re.sub(r"\b\d[\d.e+-]*", "N", text)
    return text[:160]
