"""Which parts of a graph become engines, and why the rest stays with PyTorch."""

from __future__ import annotations

import logging
import operator

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from . import _ops  # noqa: F401 - registers the converters
from ._translate import Refusal, check, is_size, value_of

_log = logging.getLogger("camshaft.torch")
_told: set = set()

# What moves no numbers, and alone is not worth an engine.
_FREE = {"view", "_unsafe_view", "permute", "transpose", "t", "expand", "unsqueeze", "squeeze", "alias",
         "detach", "clone", "slice", "select", "lift_fresh_copy", "full", "scalar_tensor", "arange",
         "reshape", "empty", "as_strided", "split", "split_with_sizes", "_to_copy"}
PREFIX = "camshaft_"


def _is_device(node, device):
    """Whether what the node computes is on the device; single numbers may be on the host."""
    values = value_of(node)
    for value in values if isinstance(values, (tuple, list)) else [values]:
        if isinstance(value, torch.Tensor) and value.device.type != device.type and value.dim():
            return False
    return True


def refusals(graph_module, device, more):
    """{node: why it stays with PyTorch}. `more` has reasons by the names of nodes."""
    found = {}
    for node in graph_module.graph.nodes:
        if node.op != "call_function":
            continue
        if node.name in more:
            found[node] = more[node.name]
        elif node.target is operator.getitem and node.args[0] in found:
            found[node] = ""  # goes with what it is a result of
        elif not is_size(node):
            try:
                if not _is_device(node, device):
                    raise Refusal(f"it is not on {device.type}")
                check(node)
            except Refusal as refusal:
                found[node] = "" if _is_nothing(node) else str(refusal)
            except Exception as error:  # noqa: BLE001 - arguments that nobody thought of
                found[node] = f"its translation failed: {type(error).__name__}: {error}"
    return found


def _is_nothing(node):
    """Whether a tensor without elements is made: nobody need be told of that."""
    return isinstance(value_of(node), torch.Tensor) and 0 in value_of(node).shape


class _Support(OperatorSupportBase):
    def __init__(self, refused):
        self.refused = refused

    def is_node_supported(self, submodules, node):
        return node.op == "call_function" and node not in self.refused


def _work(partition):
    """How many of the nodes compute something."""
    return sum(1 for node in partition if isinstance(node.target, torch._ops.OpOverload)
               and node.target._schema.name.removeprefix("aten::") not in _FREE)


def partition(graph_module, device, min_nodes, more):
    """Moves what can be taken into submodules whose names begin with PREFIX."""
    refused = refusals(graph_module, device, more)
    _tell(refused)
    calls = [node for node in graph_module.graph.nodes if node.op == "call_function"]
    if not refused:
        parts = [dict.fromkeys(calls)] if calls else []
    else:
        proposed = CapabilityBasedPartitioner(
            graph_module, _Support(refused), allows_single_node_partition=True).propose_partitions()
        parts = [dict.fromkeys(part.nodes) for part in proposed]
    parts = [part for part in parts if _work(part) >= min_nodes]
    return fuse_by_partitions(graph_module, parts, prefix=PREFIX)


def _tell(refused):
    """One line for each operator and reason, once in a process."""
    counts: dict = {}
    for node, why in refused.items():
        if why:
            counts[str(node.target), why] = counts.get((str(node.target), why), 0) + 1
    for (target, why), number in counts.items():
        if (target, why) not in _told:
            _told.add((target, why))
            _log.warning("%s stays with PyTorch (%d of it): %s", target, number, why)
