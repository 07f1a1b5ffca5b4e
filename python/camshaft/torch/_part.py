"""A part of a graph that is an engine."""

from __future__ import annotations

import logging
import threading
import weakref

import torch

from .. import Error
from ._engine import Engine, ParseError, build_or_find, check
from ._translate import Translation, count, expression, is_size, is_tensor, value_of

_log = logging.getLogger("camshaft.torch")
_GROWTH = 4  # the largest size of a new profile, in sizes that were seen


class Part(torch.nn.Module):
    """A part of the graph that is an engine, or several for different ranges of sizes."""

    def __init__(self, name, module, settings, device, ranges, grows):
        super().__init__()
        self.grows = grows
        self.name, self.settings, self.device, self.ranges = name, settings, device, ranges
        self.fallback = module  # what PyTorch runs where no engine can be built
        self.engines, self._lock = [], threading.Lock()
        self._why_not = None  # once a build has failed

    def translate(self, weights, symbols):
        """Writes the model. `weights` are tensors by placeholder, `symbols` those inputs that are
        the values of symbols."""
        translation = Translation()
        self.weights, self.inputs, self._input_sizes = {}, [], {}
        # Not kept alive: whoever has the model decides how long its weights live.
        self._given = {node: weakref.ref(tensor) for node, tensor in weights.items()}
        shared = {}
        for node in self.fallback.graph.nodes:
            if node.op == "placeholder":
                self._add_placeholder(translation, node, weights.get(node), shared)
        for i, symbol in enumerate(symbols):
            translation.add_symbol(symbol, name := f"size{i}")
            self.inputs.append(name)
            self._input_sizes[name] = symbol
        for node in self.fallback.graph.nodes:
            if node.op == "call_function" and not is_size(node):
                translation.convert(node)
        outputs = next(n for n in self.fallback.graph.nodes if n.op == "output").args[0]
        self.results = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
        self.is_single = not isinstance(outputs, (tuple, list))
        self.outputs = []
        for node in self.results:
            if is_tensor(node):
                translation.add_output(node, name := f"out{len(self.outputs)}")
                self.outputs.append(name)
        self.model = translation.model.serialize()

    def _add_placeholder(self, translation, node, weight, shared):
        if not is_tensor(node) or is_empty(node):
            return
        if weight is None:
            translation.add_input(node, name := f"in{len(self.inputs)}")
            self.inputs.append(name)
            self._input_sizes[name] = [expression(size) for size in value_of(node).shape]
            return
        # Tied weights are one tensor in the engine, too.
        where = weight.data_ptr(), tuple(weight.shape), tuple(weight.stride()), weight.dtype
        if weight.numel() and where in shared:
            translation.names[node] = shared[where]
            return
        name = shared[where] = f"w{len(self.weights)}"
        translation.add_weight(node, name, weight)
        self.weights[name] = self._given[node]

    def _live_weights(self):
        return {name: weight() for name, weight in self.weights.items()}

    def check(self):
        """Raises ParseError unless the importer takes the model."""
        check(self.model, self._live_weights())

    def profile(self, tensors):
        """(min, opt, max) of the inputs whose sizes change, around those of these tensors."""
        values = _symbol_values(self._input_sizes, self.inputs, tensors)
        low, high = {}, {}
        for symbol, value in values.items():
            least, most = self.ranges.get(symbol, (0, None))
            if most is None:
                most = max(self.settings.max_size or _GROWTH * value, value)
            low[symbol], high[symbol] = min(least, value), max(most, value)
        profile = {}
        for name in self.inputs:
            sizes = self._input_sizes[name]
            if not isinstance(sizes, list):
                profile[name] = low[sizes], values[sizes], high[sizes]
            elif any(not isinstance(size, int) for size in sizes):
                profile[name] = tuple([_evaluate(size, at) for size in sizes]
                                      for at in (low, values, high))
        return profile

    def build(self, tensors):
        """Adds an engine for sizes like those of the tensors."""
        engine = build_or_find(self.model, self._live_weights(), self.profile(tensors),
                               self.device, self.settings)
        self.engines.insert(0, Engine(engine, self.inputs, self.outputs, self.device))

    def forward(self, *tensors):
        tensors = [_as_tensor(tensor) for tensor in tensors]
        engine = next((e for e in self.engines if e.takes(tensors)), None) or self._grown(tensors)
        if engine is None:
            return self._fall_back(tensors)
        outputs = engine(*tensors)
        if len(outputs) != len(self.results):
            outputs = self._with_sizes(outputs, tensors)
        return outputs[0] if self.is_single else outputs

    def _grown(self, tensors):
        """An engine for sizes that none has so far; None where it cannot be built."""
        with self._lock:
            engine = next((e for e in self.engines if e.takes(tensors)), None)
            if engine or self._why_not:
                return engine
            if self.engines and not self.grows:
                raise ValueError(self.engines[0].why_not(tensors))
            try:
                self.build(tensors)
            except (Error, ParseError) as error:
                self._why_not = str(error)
                _log.warning("%s stays with PyTorch: %s", self.name, error)
                return None
            return self.engines[0]

    def _fall_back(self, tensors):
        values = _symbol_values(self._input_sizes, self.inputs, tensors)
        given = iter(tensors)
        arguments = []
        for node in self.fallback.graph.nodes:
            if node.op != "placeholder":
                break
            if not is_tensor(node):
                arguments.append(_evaluate(expression(node), values))
            elif is_empty(node):
                arguments.append(torch.empty(value_of(node).shape, dtype=value_of(node).dtype))
            else:
                arguments.append(self._given[node]() if node in self._given else next(given))
        return self.fallback(*arguments)

    def _with_sizes(self, outputs, tensors):
        """The results that are numbers are computed here."""
        values = _symbol_values(self._input_sizes, self.inputs, tensors)
        found = iter(outputs)
        return [next(found) if is_tensor(node) else _evaluate(expression(node), values)
                for node in self.results]


def is_empty(node):
    """Whether a tensor has no elements; no engine is given such a one."""
    return is_tensor(node) and count(node) == 0


def _as_tensor(value):
    return value if isinstance(value, torch.Tensor) else torch.tensor([value], dtype=torch.int64)


def _symbol_values(sizes_of, names, tensors):
    values = {}
    for name, tensor in zip(names, tensors):
        sizes = sizes_of[name]
        if not isinstance(sizes, list):
            values[sizes] = int(tensor[0])
            continue
        for size, number in zip(sizes, tensor.shape):
            if getattr(size, "is_Symbol", False):
                values.setdefault(size, int(number))
    return values


def _evaluate(size, values):
    return size if isinstance(size, int) else int(size.subs(values))
