"""Which operators tracing takes apart: all that PyTorch knows how to, but for those that an engine
has kernels for, and one that it does not."""

from __future__ import annotations

import contextlib

import torch
from torch._C import DispatchKey
from torch.nn import functional as F

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


def _encoder_layer(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps,
                   norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2,
                   ffn_bias_2, mask=None, mask_type=None):
    """What nn.TransformerEncoderLayer is where nothing is trained: one operator, which PyTorch has no parts of."""
    def attention(x):
        batch, length, _ = x.shape
        parts = F.linear(x, qkv_weight, qkv_bias).view(batch, length, 3, num_heads, embed_dim // num_heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        read = None if mask is None else mask.bool().logical_not()
        if mask_type == 1:  # one for the keys of each sequence
            read = read[:, None, None, :]
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=read)
        return F.linear(mixed.transpose(1, 2).reshape(batch, length, embed_dim), proj_weight, proj_bias)

    def feed_forward(x):
        inner = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(inner) if use_gelu else F.relu(inner), ffn_weight_2, ffn_bias_2)

    def norm_1(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def norm_2(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    if norm_first:
        src = src + attention(norm_1(src))
        return src + feed_forward(norm_2(src))
    src = norm_1(src + attention(src))
    return norm_2(src + feed_forward(src))


_OURS = {torch.ops.aten._transformer_encoder_layer_fwd.default: _encoder_layer}


def decompositions():
    """For AOTAutograd, after whose tracing no composite operators are left."""
    return {op: function for op, function in torch._decomp.core_aten_decompositions().items()
            if not _is_kept(op)} | _OURS


def export_decompositions():
    """For torch.export's programs."""
    table = torch.export.default_decompositions()
    for op in [op for op in table if _is_kept(op)]:
        del table[op]
    table.update(_OURS)  # not `|`, which leaves all that PyTorch's own class of tables holds
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
