"""Differences that have an explanation, as data: (kind, pattern of the text, an operator or None, why).

A line here is not a fault of Camshaft's, or is one that its documents state. Faults are mended instead.
"""

import re

REFUSED, PERMISSIVE = "refused", "computed what ONNX Runtime refuses"
KNOWN = [
    (REFUSED, r"has a window of .* larger than its padded input|has (0|-\d+) windows of", None,
     "a window that does not fit: ONNX Runtime rounds the count of places towards nothing and computes one"),
    (REFUSED, r"has 0 elements in a dimension of its image", None,
     "windows over an empty picture: ONNX Runtime takes some of them, as padding alone"),
    (REFUSED, r"\(Conv\) has \d+ elements in dimension 0 of a bias", None,
     "a bias of another size than the channels, which ONNX Runtime does not look at in f16"),
    (REFUSED, r"\(GroupNorm\w*\):? (it )?has \d+ elements in dimension 0 of (a|its) scale or bias", None,
     "a scale of one element: the standard wants one per channel or group, ONNX Runtime broadcasts"),
    (REFUSED, r"\(GatherND\) has \d+ indices in batch dimension", None,
     "batches of indices and data that differ, which ONNX Runtime does not look at"),
    (REFUSED, r"\(Concat\) has .* where the others have", None,
     "an empty tensor beside others of another width: the standard forbids it, ONNX Runtime leaves it out"),
    # Tensors of a graph have a rank, which kernels and all that follows are laid out for. A model that declares
    # the output's shape says it; one that does not cannot be built.
    (REFUSED, r"known at run time only, (which|and so)[^:]* (rank|dimensions)", None,
     "a rank that only a run would decide: the length of GatherND's tuples, with nothing that declares the result"),
    (REFUSED, r"a Squeeze without axes, which removes dimension \d+ of '.*' where its size", None,
     "a rank that only a run would decide: a Squeeze without axes of sizes that may be 1"),
    (REFUSED, r"\(PRelu\): its slope has a size of \d+ that does not broadcast", None,
     "a slope larger than the input: the standard has it broadcast one way, ONNX Runtime's kernel both"),
    (PERMISSIVE, r"Invalid num_outputs value of \d+. Size of dimension being split is \d|Split size \d+ exceeds the "
     r"remaining size of the selected axis, 0", None,
     "the last parts of a Split are smaller, down to nothing; ONNX Runtime wants an element in each"),
    (PERMISSIVE, r"cannot be reshaped to the requested shape. Input shape:{[^}]*\b0\b", None,
     "-1 of an empty tensor follows from the sizes' symbols; ONNX Runtime divides by 0"),
    (PERMISSIVE, r"Pad node.*Unexpected mode of", None, "nothing wraps around to nothing; ONNX Runtime refuses"),
    (PERMISSIVE, r"PoolAttributes::SetOutputSize.*input_shape.Size\(\)|ComputeOutputShapeForAttention"
     r"|AttentionParameters::checkParameters.*greater than 0|PoolFp16::Compute.*Only N can be zero"
     r"|QLinearGlobalAveragePool parameter out of computation range|Size of X.shape\[axis:\] must be at least 1", None,
     "pooling, norms and attention of nothing, which ONNX Runtime refuses"),
    (PERMISSIVE, r"The dimension with value zero exceeds the dimension size", "GroupNormalization",
     "groups of nothing, which ONNX Runtime computes by a Reshape that takes 0 for something else"),
    (PERMISSIVE, r"Shape mismatch attempting to re-use buffer", None,
     "ONNX Runtime plans to use memory again for a tensor that then has another size than it thought"),
    (PERMISSIVE, r"Pad reflect requires axis length >= 2|Pad reflect: (pre|post)-pad \(\d+\) exceeds maximum", None,
     "reflections of reflections, and of one element itself, as numpy has them; ONNX Runtime wants what is enough"),
    (PERMISSIVE, r"ScalesValidation '\w+' mode only supports", None,
     "more dimensions resized at once than ONNX Runtime can"),
    (PERMISSIVE, r"Updating cos_cache and sin_cache in RotaryEmbedding is not currently supported", None,
     "more tokens than the caches have positions, none of which is beyond them"),
]


def reason_of(problem, operators):
    """Why a problem is expected, or nothing."""
    for kind, pattern, operator, reason in KNOWN:
        if kind == problem["kind"] and re.search(pattern, problem["text"]) and (
                operator is None or operator in operators):
            return reason
    return ""
