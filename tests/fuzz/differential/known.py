"""Differences that have an explanation, as data: (kind, pattern of the text, an operator or None, why).

A line here is not a fault of Camshaft's, or is one that its documents state. Faults are mended instead.
"""

import re

REFUSED, PERMISSIVE = "refused", "computed what ONNX Runtime refuses"
KNOWN = [
    (REFUSED, r"has a window of .* larger than its padded input|has 0 windows of", None,
     "a window that does not fit: ONNX Runtime rounds the count of places towards nothing and computes one"),
    (REFUSED, r"has 0 elements in a dimension of its image", None,
     "windows over an empty picture: ONNX Runtime takes some of them, as padding alone"),
    (REFUSED, r"\(Conv\) has \d+ elements in dimension 0 of a bias", None,
     "a bias of another size than the channels, which ONNX Runtime does not look at in f16"),
    (REFUSED, r"\(GroupNorm\) has \d+ elements in dimension 0 of a scale or bias", None,
     "a scale of one element: the standard wants one per channel or group, ONNX Runtime broadcasts"),
    (REFUSED, r"\(GatherND\) has \d+ indices in batch dimension", None,
     "batches of indices and data that differ, which ONNX Runtime does not look at"),
    (REFUSED, r"\(Concat\) has .* where the others have", None,
     "an empty tensor beside others of another width: the standard forbids it, ONNX Runtime leaves it out"),
    (PERMISSIVE, r"Invalid num_outputs value of \d+. Size of dimension being split is \d", None,
     "the last parts of a Split are smaller, down to nothing; ONNX Runtime wants an element in each"),
    (PERMISSIVE, r"cannot be reshaped to the requested shape. Input shape:{[^}]*\b0\b", None,
     "-1 of an empty tensor follows from the sizes' symbols; ONNX Runtime divides by 0"),
    (PERMISSIVE, r"Pad node.*Unexpected mode of", None, "nothing wraps around to nothing; ONNX Runtime refuses"),
    (PERMISSIVE, r"PoolAttributes::SetOutputSize.*input_shape.Size\(\)|ComputeOutputShapeForAttention"
     r"|AttentionParameters::checkParameters.*greater than 0", None,
     "pooling and attention of nothing, which ONNX Runtime refuses"),
]


def reason_of(problem, operators):
    """Why a problem is expected, or nothing."""
    for kind, pattern, operator, reason in KNOWN:
        if kind == problem["kind"] and re.search(pattern, problem["text"]) and (
                operator is None or operator in operators):
            return reason
    return ""
