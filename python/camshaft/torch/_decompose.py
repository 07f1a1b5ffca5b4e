"""Which operators tracing takes apart: all that PyTorch knows how to, but for those that an engine
has kernels for."""

from __future__ import annotations

import contextlib

import torch
from torch._C import DispatchKey

# By the beginnings of their names.
_KEPT = (
    "_scaled_dot_product", "scaled_dot_product", "_adaptive_avg_pool", "adaptive_avg_pool", "elu",
    "celu", "gelu", "glu", "grid_sampler", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "mish",
    "native_group_norm", "native_layer_norm", "_fused_rms_norm", "pixel_shuffle", "pixel_unshuffle",
    "reflection_pad", "replication_pad", "roll", "selu", "silu", "softplus", "upsample_", "_softmax",
    "_log_softmax", "addmm", "baddbmm", "tril", "triu", "linalg_vector_norm", "index_select", "stack",
)
_RESIZES = [
    f"upsample_{kind}" for kind in ("nearest1d", "nearest2d", "nearest3d", "linear1d", "bilinear2d",
                                    "trilinear3d", "bicubic2d")
]


def _is_kept(op):
    return op.name().removeprefix("aten::").startswith(_KEPT)


def decompositions():
    """For AOTAutograd, after whose tracing no composite operators are left."""
    return {op: function for op, function in torch._decomp.core_aten_decompositions().items()
            if not _is_kept(op)}


def export_decompositions():
    """For torch.export's programs."""
    table = torch.export.default_decompositions()
    for op in [op for op in table if _is_kept(op)]:
        del table[op]
    return table


@contextlib.contextmanager
def whole_resizes():
    """While this lasts, resizing is not taken apart: PyTorch does that in front of all tables."""
    keys = DispatchKey.CompositeImplicitAutograd, DispatchKey.Autograd
    kept = []
    for name in _RESIZES:
        packet = getattr(torch.ops.aten, name)
        for op in (getattr(packet, overload) for overload in packet.overloads()):
            for key in keys:
                if key in op.py_kernels:
                    kept.append((op, key, op.py_kernels.pop(key)))
            op._dispatch_cache.clear()
    try:
        yield
    finally:
        for op, key, kernel in kept:
            op.py_kernels[key] = kernel
            op._dispatch_cache.clear()
