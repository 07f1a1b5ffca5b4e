"""A traced graph as a function: engines for what Camshaft takes, PyTorch for the rest."""

from __future__ import annotations

import logging
import threading
import weakref

import torch

from ._engine import ParseError
from ._part import Part, is_empty
from ._partition import PREFIX, partition
from ._products import join_stacks
from ._translate import Refusal, expression, is_tensor, value_of

_log = logging.getLogger("camshaft.torch")
_UNBOUNDED = 1 << 30  # larger bounds of a size are none


class _Assembled:
    """The graph as it runs with certain weights."""

    def __init__(self, weights, run):
        self.run = run
        self._weights = [weakref.ref(tensor) for tensor in weights]
        self._stamps = [_stamp(tensor) for tensor in weights]

    def is_for(self, weights):
        """Whether these are the weights, and hold what they held."""
        return (all(ref() is tensor for ref, tensor in zip(self._weights, weights))
                and self._stamps == [_stamp(tensor) for tensor in weights])

    def is_alive(self):
        return all(ref() is not None for ref in self._weights)


class Program:
    """Assembled when it is called with weights it has not seen: Dynamo calls one graph for all
    modules of a class, and users change weights. `static` has the positions of the arguments that
    are weights."""

    def __init__(self, graph_module, static, settings, grows=True, ranges=None):
        """Without `grows` no engine is built for sizes beyond the first one's; `ranges` has (least,
        most) of symbols where tracing's are not meant."""
        self.graph_module, self.static, self.settings = graph_module, sorted(static), settings
        self.grows, self.ranges = grows, ranges
        self._assembled, self._lock = {}, threading.Lock()  # by the identities of weights

    def __call__(self, *arguments):
        weights = [arguments[i] for i in self.static]
        key = tuple(map(id, weights))
        found = self._assembled.get(key)
        if found is None or not found.is_for(weights):
            with self._lock:
                found = self._assembled.get(key)
                if found is None or not found.is_for(weights):
                    if found is not None:
                        _log.warning("weights have changed: engines are made anew")
                    found = self._assembled[key] = _Assembled(weights, self._prepare(arguments))
                    self._assembled = {k: v for k, v in self._assembled.items() if v.is_alive()}
        return found.run(*arguments)

    def _prepare(self, arguments):
        try:
            return self.assemble(arguments)
        except Exception as error:  # noqa: BLE001 - the user's model runs, whatever happens
            _log.warning("the graph stays with PyTorch: %s: %s", type(error).__name__, error)
            _log.debug("it was refused by", exc_info=True)
            return self.graph_module

    def assemble(self, arguments):
        """The graph with parts that are engines."""
        inputs = [node for node in self.graph_module.graph.nodes if node.op == "placeholder"]
        weights = {inputs[i].name: arguments[i] for i in self.static}
        device = self.device(arguments)
        more = {}
        while True:
            module = _copy(self.graph_module)
            partition(module, device, self.settings.min_nodes, more)
            try:
                self.parts = [self._part(module, node, weights, device)
                              for node in list(module.graph.nodes)
                              if node.op == "call_module" and node.target.startswith(PREFIX)]
            except ParseError as error:
                known = {node.name for node in module.graph.nodes} | self._names
                if not set(error.reasons) & known - set(more):
                    raise
                more |= error.reasons
                continue
            module.graph.lint()
            module.recompile()
            return module

    @property
    def _names(self):
        return {node.name for node in self.graph_module.graph.nodes}

    def device(self, arguments):
        """Where the engines are: on the inputs' GPU, if they are on one."""
        devices = [a.device for a in arguments if isinstance(a, torch.Tensor)]
        device = next((d for d in devices if d.type == "cuda"), torch.device("cpu"))
        where = "gpu" if device.type == "cuda" else "cpu"
        if self.settings.device not in ("auto", where):
            raise ValueError(f"device is '{self.settings.device}', and the tensors are on the {where.upper()}")
        return device

    def _part(self, module, call, weights, device):
        inner = module.get_submodule(call.target)
        holders = [node for node in inner.graph.nodes if node.op == "placeholder"]
        tensors, kept, seen = {}, [], set()
        for holder, node in zip(holders, call.args):
            if node.op == "get_attr":
                tensors[holder] = getattr(module, node.target)
            elif node.op == "placeholder" and node.meta["camshaft_name"] in weights:
                tensors[holder] = weights[node.meta["camshaft_name"]]
            elif is_tensor(node) and not is_empty(node):
                kept.append(node)
                seen |= {size for size in map(expression, value_of(node).shape)
                         if getattr(size, "is_Symbol", False)}
        symbols = sorted(_symbols_of(inner) - seen, key=str)
        ranges = self._ranges(_symbols_of(inner)) if self.ranges is None else self.ranges
        part = Part(call.target, inner, self.settings, device, ranges, self.grows)
        part.translate(tensors, symbols)
        part.check()
        with module.graph.inserting_before(call):
            sizes = [_source(module.graph, symbol) for symbol in symbols]
        setattr(module, call.target, part)
        call.args = (*kept, *sizes)
        _restride(module.graph, call)
        return part

    def _ranges(self, symbols):
        """(least, most) of each symbol; None for a most that nobody knows."""
        ranges = {}
        for node in self.graph_module.graph.nodes:
            value = value_of(node)
            for size in value.shape if isinstance(value, torch.Tensor) else [value]:
                if not isinstance(size, torch.SymInt):
                    continue
                known = size.node.shape_env.var_to_range
                for symbol in size.node.expr.free_symbols & symbols - set(ranges):
                    if symbol in known:
                        bounds = known[symbol]
                        most = int(bounds.upper) if bounds.upper.is_Integer else None
                        most = None if most is None or most > _UNBOUNDED else most
                        ranges[symbol] = max(int(bounds.lower), 0), most
        return ranges


def _stamp(tensor):
    """Changes when the tensor's contents are written through it, or it is another one."""
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version


def _copy(graph_module):
    graph = torch.fx.Graph()
    values: dict = {}
    result = graph.graph_copy(graph_module.graph, values)
    graph.output(result)
    for before, node in values.items():
        node.meta["camshaft_name"] = before.name  # names that Python has are changed in a copy
    _drop_assertions(graph)
    join_stacks(graph)
    return torch.fx.GraphModule(graph_module, graph)


def _drop_assertions(graph):
    """Of what tracing has made sure of, or profiles will: types of tensors, bounds of sizes."""
    for node in reversed(graph.nodes):
        name = getattr(getattr(node.target, "_schema", None), "name", "")
        checked = value_of(node.args[0]) if node.args else None
        if name == "aten::_assert_tensor_metadata" or (
                name == "aten::_assert_scalar" and isinstance(checked, torch.SymBool)
                and not any(str(s).startswith("u") for s in checked.node.expr.free_symbols)):
            graph.erase_node(node)
    graph.eliminate_dead_code()


def _symbols_of(module):
    """Of all sizes in a part."""
    symbols = set()
    for node in module.graph.nodes:
        values = value_of(node)
        for value in values if isinstance(values, (tuple, list)) else [values]:
            sizes = value.shape if isinstance(value, torch.Tensor) else [value]
            for size in sizes:
                if isinstance(size, torch.SymInt):
                    symbols |= size.node.expr.free_symbols
    return symbols


def _source(graph, symbol):
    """A node that gives a symbol's value."""
    for node in graph.nodes:
        if node.op != "placeholder":
            continue
        value = value_of(node)
        if isinstance(value, torch.SymInt) and value.node.expr == symbol:
            return node
        if isinstance(value, torch.Tensor):
            for dim, size in enumerate(value.shape):
                if expression(size) == symbol:
                    size_node = graph.call_function(torch.ops.aten.sym_size.int, (node, dim))
                    size_node.meta["val"] = size
                    return size_node
    raise Refusal(f"the size {symbol} follows from no input")


def _restride(graph, call):
    """Engines write contiguous tensors; as_strided reads memory in the order that tracing saw."""
    for result in [call, *call.users]:
        for user in list(result.users):
            if user.op == "call_function" and "as_strided" in str(user.target) and is_tensor(result):
                with graph.inserting_before(user):
                    moved = graph.call_function(_with_strides, (result, value_of(result).stride()))
                user.replace_input_with(result, moved)


def _with_strides(tensor, strides):
    result = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device)
    return result.copy_(tensor)
