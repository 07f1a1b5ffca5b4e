"""Normalisations and softmax."""

import torch

from .._translate import Refusal, axis, converts, expression, rank, value_of
from .pointwise import result_type


@converts("native_layer_norm", "layer_norm")
def layer_norm(t, node, x, shape, weight=None, bias=None, eps=1e-5, *_):
    dtype = value_of(x).dtype
    ones = [1.0] * value_of(x).shape[-1] if len(shape) == 1 else None
    if weight is None and ones is None:
        raise Refusal("a norm over several dimensions without weights has no translation")
    scale = t.constant(ones, dtype) if weight is None else t.tensor(weight, dtype)
    result = t.add("LayerNormalization", t.tensor(x), scale,
                   None if bias is None else t.tensor(bias, dtype),
                   axis=-len(shape), epsilon=float(eps))
    return result if node.target._schema.name == "aten::layer_norm" else [result, None, None]


@converts("_fused_rms_norm", "rms_norm")
def rms_norm(t, node, x, shape, weight=None, eps=None):
    dtype = value_of(x).dtype
    eps = torch.finfo(dtype).eps if eps is None else eps
    if weight is None and len(shape) > 1:
        raise Refusal("a norm over several dimensions without weights has no translation")
    scale = (t.constant([1.0] * value_of(x).shape[-1], dtype) if weight is None
             else t.tensor(weight, dtype))
    result = t.add("RMSNormalization", t.tensor(x), scale, axis=-len(shape), epsilon=float(eps))
    return result if node.target._schema.name == "aten::rms_norm" else [result, None]


@converts("native_group_norm", "group_norm")
def group_norm(t, node, x, *arguments):
    if node.target._schema.name == "aten::group_norm":
        groups, weight, bias, eps = [*arguments, None, None, 1e-5][:4] if len(arguments) == 1 \
            else (*arguments, 1e-5)[:4]
    else:
        weight, bias, _, channels, _, groups, eps = arguments
    channels = value_of(x).shape[1]
    dtype = value_of(x).dtype
    scale = t.constant([1.0] * channels, dtype) if weight is None else t.tensor(weight)
    shift = t.constant([0.0] * channels, dtype) if bias is None else t.tensor(bias)
    result = t.add("GroupNormalization", t.tensor(x), scale, shift, num_groups=groups,
                   epsilon=float(eps))
    return result if node.target._schema.name == "aten::group_norm" else [result, None, None]


@converts("_native_batch_norm_legit_no_training", "native_batch_norm", "_native_batch_norm_legit",
          "cudnn_batch_norm", "miopen_batch_norm", "_batch_norm_no_update", "batch_norm")
def batch_norm(t, node, x, weight, bias, mean, variance, *rest):
    kind = node.target._schema.name.removeprefix("aten::")
    *training, _, eps = rest[:2] if kind in ("_native_batch_norm_legit_no_training",
                                             "_batch_norm_no_update") else rest[:3]
    channels, dtype = value_of(x).shape[1], value_of(x).dtype
    scale = t.constant([1.0] * channels, dtype) if weight is None else t.tensor(weight)
    shift = t.constant([0.0] * channels, dtype) if bias is None else t.tensor(bias)
    if mean is None and expression(value_of(x).shape[0]) == 1:  # as PyTorch writes instance norms
        result = t.add("InstanceNormalization", t.tensor(x), scale, shift, epsilon=float(eps))
    elif any(training) or mean is None:
        raise Refusal("a batch norm while training computes its statistics")
    else:
        result = t.add("BatchNormalization", t.tensor(x), scale, shift, t.tensor(mean),
                       t.tensor(variance), epsilon=float(eps))
    others = len(value_of(node)) - 1 if isinstance(value_of(node), (tuple, list)) else None
    return result if others is None else [result] + [None] * others


@converts("_softmax", "softmax.int", "_log_softmax", "log_softmax.int", "_safe_softmax")
def softmax(t, node, x, dim, *_, **__):
    kind = str(node.target)
    op = "LogSoftmax" if "log_softmax" in kind else "Softmax"
    if rank(x) == 0:
        raise Refusal("a softmax of one number has no translation")
    name = t.add(op, t.tensor(x, result_type(node)), axis=axis(x, dim))
    if "safe" not in kind:
        return name
    # Rows that are masked as a whole become zeros.
    low = t.add("ReduceMax", t.tensor(x), t.ints([axis(x, dim)]), keepdims=1)
    dead = t.add("Equal", low, t.constant(float("-inf"), value_of(x).dtype))
    return t.add("Where", dead, t.constant(0.0, result_type(node)), name)
