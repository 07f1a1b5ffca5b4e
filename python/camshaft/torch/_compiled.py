"""Modules compiled ahead of time, by torch.export."""

from __future__ import annotations

import torch
from torch.export._remove_effect_tokens_pass import _remove_effect_tokens
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from ..config import TorchConfig
from . import _tree
from ._decompose import export_decompositions
from ._program import Program


class CompiledModule:
    """A callable like the module it was made of, with the weights that it had then."""

    def __init__(self, exported, settings):
        self._exported_spec = exported.call_spec
        self._signature = exported.graph_signature
        self.input_tree = _described(exported.call_spec.in_spec)
        state = {**exported.state_dict, **exported.constants}
        self._slots = [state.get(spec.target) if spec.kind != InputKind.USER_INPUT else None
                       for spec in self._signature.input_specs]
        self.program = Program(exported.graph_module, _weights_of(self._signature), settings,
                               grows=False, ranges=_ranges(exported))

    def build(self, arguments, keywords):
        """Builds the engines by a first run, and lets go of the weights that they have."""
        flat = self._flat(arguments, keywords)
        self.graph = self.program.assemble(flat)
        with torch.no_grad():
            self.graph(*flat)
        if all(part.engines for part in self.program.parts):
            self._slots = [slot if node.users else None
                           for slot, node in zip(self._slots, self.placeholders)]
        return self

    def __call__(self, *arguments, **keywords):
        flat = self._flat(arguments, keywords)
        with torch.no_grad():
            results = self.graph(*flat)
        return self._finish(results, flat)

    def _flat(self, arguments, keywords):
        """All of the graph's inputs: the state and what was given."""
        given = iter(_tree.flatten_call(self.input_tree, arguments, keywords))
        flat = []
        for spec, slot in zip(self._signature.input_specs, self._slots):
            if spec.kind != InputKind.USER_INPUT:
                flat.append(slot)
                continue
            value = next(given)
            _check(spec, value)
            flat.append(value)
        return flat

    def _finish(self, results, flat):
        positions = {spec.arg.name: i for i, spec in enumerate(self._signature.input_specs)}
        leaves = []
        for spec, value in zip(self._signature.output_specs, results):
            if spec.kind == OutputKind.USER_INPUT_MUTATION:
                flat[positions[spec.target]].copy_(value)
            else:
                leaves.append(value)
        return pytree.tree_unflatten(leaves, self._exported_spec.out_spec)

    def save(self, path):
        """Writes a folder that :func:`load` reads."""
        from ._saved import save

        save(self, path)

    @property
    def placeholders(self):
        return [node for node in self.graph.graph.nodes if node.op == "placeholder"]

    @property
    def output_tree(self):
        return _described(self._exported_spec.out_spec)


def _described(spec):
    return _tree.describe(pytree.tree_unflatten(list(range(spec.num_leaves)), spec))


def _check(spec, value):
    """Numbers and the like are part of what was compiled."""
    constant = getattr(spec.arg, "value", None)
    if hasattr(spec.arg, "value") and value != constant:
        raise ValueError(f"argument '{spec.arg.name}' was compiled as {constant!r}, and {value!r} is"
                         " given")
    if not hasattr(spec.arg, "value") and not isinstance(value, torch.Tensor):
        raise TypeError(f"argument '{spec.arg.name}' is {type(value).__name__}, not a tensor")


def _weights_of(signature):
    state = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
    return [i for i, spec in enumerate(signature.input_specs) if spec.kind in state]


def _ranges(exported):
    """(least, most) of symbols, None where there is no most."""
    ranges = {}
    for symbol, bounds in exported.range_constraints.items():
        most = int(bounds.upper) if bounds.upper.is_Integer else None
        ranges[symbol] = int(bounds.lower), most
    return ranges


def _all_dimensions(values):
    """Every size of every tensor may change."""
    auto = torch.export.Dim.AUTO
    return pytree.tree_map(
        lambda value: dict.fromkeys(range(value.dim()), auto) if isinstance(value, torch.Tensor)
        else None, values)


def _call_of(example_inputs):
    """(arguments, keywords) of a tensor, a sequence of arguments or a dict of keywords."""
    if isinstance(example_inputs, torch.Tensor):
        return (example_inputs,), {}
    if isinstance(example_inputs, dict):
        return (), example_inputs
    return tuple(example_inputs), {}


def _export(module, arguments, keywords, dynamic):
    """The module as a graph of ATen operators. `dynamic` may be what torch.export takes."""
    shapes = dynamic or None
    if dynamic is True:
        shapes = _all_dimensions(keywords or arguments)
    with torch.no_grad():
        exported = torch.export.export(module, arguments, keywords, dynamic_shapes=shapes, strict=False)
        exported = exported.run_decompositions(export_decompositions())
    return _remove_effect_tokens(exported)


def compile_module(module, example_inputs, dynamic, options):
    if module.training:
        raise ValueError("the module is in training mode, which engines have not: call eval() first")
    arguments, keywords = _call_of(example_inputs)
    exported = _export(module, arguments, keywords, dynamic)
    for spec in exported.graph_signature.output_specs:
        if spec.kind == OutputKind.BUFFER_MUTATION:
            raise ValueError(f"the module writes its buffer '{spec.target}' when it runs; torch.compile"
                             "(backend='camshaft') follows that, a module compiled ahead cannot")
    compiled = CompiledModule(exported, TorchConfig.of(options))
    return compiled.build(arguments, keywords)
