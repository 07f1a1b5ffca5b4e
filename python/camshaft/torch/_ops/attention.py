"""Scaled dot-product attention under the names that PyTorch gives it on each device."""

import torch

from .._translate import Refusal, converts, rank, value_of


def _attention(t, q, k, v, mask, dropout, causal, scale):
    if dropout:
        raise Refusal("attention with dropout is random")
    if rank(q) != 4:
        raise Refusal("attention of tensors that are not [batch, heads, length, width] has no"
                      " translation")
    if mask is not None and value_of(mask).dtype != torch.bool:
        mask_name = t.tensor(mask, value_of(q).dtype)
    else:
        mask_name = None if mask is None else t.tensor(mask)
    return t.add("Attention", t.tensor(q), t.tensor(k), t.tensor(v), mask_name,
                 is_causal=int(bool(causal)), scale=None if scale is None else float(scale))


@converts("_scaled_dot_product_flash_attention_for_cpu")
def on_cpu(t, node, q, k, v, dropout=0.0, causal=False, *, attn_mask=None, scale=None):
    return [_attention(t, q, k, v, attn_mask, dropout, causal, scale), None]


@converts("_scaled_dot_product_flash_attention")
def flash(t, node, q, k, v, dropout=0.0, causal=False, debug=False, *, scale=None):
    return _with_rest(node, _attention(t, q, k, v, None, dropout, causal, scale))


@converts("_scaled_dot_product_efficient_attention")
def efficient(t, node, q, k, v, bias, log_sum=False, dropout=0.0, causal=False, *, scale=None):
    return _with_rest(node, _attention(t, q, k, v, bias, dropout, causal, scale))


@converts("_scaled_dot_product_cudnn_attention")
def cudnn(t, node, q, k, v, bias, log_sum=False, dropout=0.0, causal=False, debug=False, *,
          scale=None):
    return _with_rest(node, _attention(t, q, k, v, bias, dropout, causal, scale))


@converts("scaled_dot_product_attention")
def composite(t, node, q, k, v, attn_mask=None, dropout=0.0, causal=False, *, scale=None,
              enable_gqa=False):
    return _attention(t, q, k, v, attn_mask, dropout, causal, scale)


def _with_rest(node, result):
    return [result] + [None] * (len(value_of(node)) - 1)
