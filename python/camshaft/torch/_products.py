"""Products of stacks of matrices as they were before tracing.

PyTorch takes a product of more than three dimensions apart: both operands are broadcast, laid out anew
and viewed as one stack for `bmm`, whose result is viewed back. Attention is known by two products of
[batch, heads, length, width], which nobody sees behind that.
"""

from __future__ import annotations

import torch

from ._translate import Refusal, expression, is_tensor, value_of

_aten = torch.ops.aten
_VIEWS = {_aten.view.default, _aten._unsafe_view.default, _aten.reshape.default}


def join_stacks(graph):
    """Makes `matmul` of each `bmm` whose operands and results are views of more dimensions."""
    for node in graph.nodes:
        if node.op == "call_function" and node.target is _aten.bmm.default:
            _join(node)
    graph.eliminate_dead_code()


def _join(node):
    views, matrix = list(node.users), _shape(node)
    shapes = [_shape(view) if view.target in _VIEWS else None for view in views]
    if not shapes or None in (matrix, *shapes) or any(shape != shapes[0] for shape in shapes):
        return
    stack = shapes[0][:-2]
    operands = [_operand(argument, stack) for argument in node.args]
    if len(stack) < 2 or None in operands or shapes[0][-2:] != matrix[-2:]:
        return
    node.target, node.args = _aten.matmul.default, tuple(operands)
    node.meta["val"] = value_of(views[0])
    for view in views:
        view.replace_all_uses_with(node)


def _operand(view, stack):
    """What is viewed as one stack, or None where that is not all that happens to it."""
    if view.target not in _VIEWS:
        return None
    source = view.args[0]
    shape, seen = _shape(source), _shape(view)
    if shape is None or seen is None or shape != [*stack, *seen[-2:]]:
        return None
    if source.target is _aten.clone.default:
        source = source.args[0]
    if source.target is _aten.expand.default:
        narrow = _shape(source.args[0])
        if narrow is not None and narrow[-2:] == shape[-2:]:
            source = source.args[0]
    return source


def _shape(node):
    """Numbers and expressions, or None where there is no tensor."""
    if not is_tensor(node):
        return None
    try:
        return [expression(size) for size in value_of(node).shape]
    except Refusal:
        return None
