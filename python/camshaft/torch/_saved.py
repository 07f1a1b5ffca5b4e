"""Compiled modules on disk: a folder with the engines, and a description of how they are called."""

from __future__ import annotations

import json
import operator
import pathlib

import torch

from .. import _camshaft, camshaft_version
from ._part import Part
from ._translate import is_tensor

DESCRIPTION = "module.json"
FORMAT = 1


def save(compiled, path):
    """Writes everything beside the description first, so that a folder with one is whole."""
    folder = pathlib.Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    steps, weights = [], {}
    graph = compiled.graph
    for node in graph.graph.nodes:
        if node.op == "call_module":
            steps.append(_engine_step(folder, graph.get_submodule(node.target), node))
        elif node.op == "call_function":
            steps.append({"op": _name_of(node.target), "arguments": _encoded(node.args),
                          "keywords": _encoded(node.kwargs), "result": node.name})
        elif node.op == "get_attr":
            weights[node.name] = getattr(graph, node.target)
    inputs = [_input(spec, slot, node.name, weights) for spec, slot, node
              in zip(compiled._signature.input_specs, compiled._slots, compiled.placeholders)]
    output = next(node for node in graph.graph.nodes if node.op == "output")
    results = [_result(spec, value) for spec, value
               in zip(compiled._signature.output_specs, output.args[0])]
    if weights:
        torch.save(weights, folder / "weights.pt")
    description = {
        "format": FORMAT, "camshaft": camshaft_version, "arguments": compiled.input_tree,
        "results": compiled.output_tree, "inputs": inputs, "steps": steps, "outputs": results,
        "has_weights": bool(weights),
    }
    _camshaft.write_file(folder / DESCRIPTION, json.dumps(description, indent=1).encode())


def _engine_step(folder, part: Part, node):
    if not part.engines or not all(map(is_tensor, part.results)):
        raise ValueError(f"{part.name} is no engine, so the module cannot be saved")
    file = f"{node.name}.engine"
    engine = part.engines[0]
    _camshaft.write_file(folder / file, engine.engine.serialize())
    return {"engine": file, "device": part.device.type, "inputs": engine.inputs,
            "outputs": engine.outputs, "arguments": _encoded(node.args), "result": node.name,
            "single": part.is_single}


def _input(spec, slot, name, weights):
    """What a placeholder stands for: a leaf of the call, a constant, or a kept weight."""
    if spec.kind.name != "USER_INPUT":
        if slot is not None:
            weights[name] = slot
        return {"name": name, "kind": "weight"}
    if hasattr(spec.arg, "value"):
        return {"name": name, "kind": "constant", "value": spec.arg.value}
    return {"name": name, "kind": "tensor"}


def _result(spec, value):
    target = spec.target if spec.kind.name == "USER_INPUT_MUTATION" else None
    return {"value": _encoded(value), "written_to": target}


def _name_of(target):
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if getattr(operator, target.__name__, None) is target:
        return f"operator.{target.__name__}"
    raise ValueError(f"{target} has no name to be saved by")


def _encoded(value):
    """Arguments of a step as JSON; what is not a number or a text is a dict."""
    if isinstance(value, torch.fx.Node):
        return {"node": value.name}
    if isinstance(value, (tuple, list)):
        return [_encoded(item) for item in value]
    if isinstance(value, dict):
        return {"dict": {key: _encoded(item) for key, item in value.items()}}
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return {"torch": str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{type(value).__name__} cannot be saved")
