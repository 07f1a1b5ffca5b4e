"""Saved modules, run without what they were made of; and without PyTorch on numpy arrays."""

from __future__ import annotations

import functools
import json
import operator
import pathlib
from typing import Any

from .. import _camshaft as trt
from . import _tree

_FORMAT = 1


class LoadedModule:
    """A callable like the module that was saved."""

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._description = json.loads((self._folder / "module.json").read_text())
        if self._description.get("format") != _FORMAT:
            raise ValueError(f"{folder} has format {self._description.get('format')}, and this version"
                             f" reads {_FORMAT}")
        self._runtime = trt.Runtime(trt.Logger(trt.Logger.Severity.ERROR))
        self._engines = {step["engine"]: self._load(step["engine"])
                         for step in self._description["steps"] if "engine" in step}
        self._runners: dict = {}
        self._contexts: dict = {file: [] for file in self._engines}  # those that nobody uses now
        self._weights = self._load_weights()

    def _load(self, file):
        return self._runtime.deserialize_cuda_engine_from_file(self._folder / file)

    def _load_weights(self):
        if not self._description["has_weights"]:
            return {}
        import torch

        return torch.load(self._folder / "weights.pt", weights_only=True)

    def __call__(self, *arguments, **keywords):
        leaves = iter(_tree.flatten_call(self._description["arguments"], arguments, keywords))
        values: dict[str, Any] = dict(self._weights)
        for entry in self._description["inputs"]:
            if entry["kind"] == "weight":
                continue
            value = next(leaves)
            if entry["kind"] == "constant" and value != entry["value"]:
                raise ValueError(f"argument '{entry['name']}' was compiled as {entry['value']!r}, and"
                                 f" {value!r} is given")
            values[entry["name"]] = value
        for step in self._description["steps"]:
            run = self._run_engine if "engine" in step else _run_operator
            values[step["result"]] = run(step, values)
        return self._finish(values)

    def _run_engine(self, step, values):
        tensors = _decoded(step["arguments"], values)
        if any(hasattr(tensor, "data_ptr") for tensor in tensors):
            results = self._torch_runner(step)(*tensors)
        else:
            results = self._run_on_arrays(step, tensors)
        return results[0] if step["single"] else results

    def _torch_runner(self, step):
        if step["engine"] not in self._runners:
            import torch

            from ._engine import Engine

            device = torch.device(step["device"])
            if device.type == "cuda":
                device = torch.device("cuda", torch.cuda.current_device())
            self._runners[step["engine"]] = Engine(self._engines[step["engine"]], step["inputs"],
                                                   step["outputs"], device)
        return self._runners[step["engine"]]

    def _run_on_arrays(self, step, arrays):
        from ..inference import infer

        free = self._contexts[step["engine"]]
        try:
            context = free.pop()
        except IndexError:
            context = self._engines[step["engine"]].create_execution_context()
        try:
            outputs = infer(context, dict(zip(step["inputs"], arrays)))
        finally:
            free.append(context)
        return [outputs[name] for name in step["outputs"]]

    def _finish(self, values):
        leaves = []
        for entry in self._description["outputs"]:
            value = _decoded(entry["value"], values)
            if entry["written_to"] is None:
                leaves.append(value)
            else:
                values[entry["written_to"]][...] = value
        return _tree.restore(self._description["results"], leaves)


def _run_operator(step, values):
    function = _function(step["op"])
    return function(*_decoded(step["arguments"], values),
                    **_decoded(step["keywords"], values))


@functools.cache
def _function(name):
    """An operator of PyTorch or Python by its name."""
    if name.startswith("operator."):
        return getattr(operator, name.removeprefix("operator."))
    import torch

    namespace, op, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), op), overload)


def _decoded(value, values):
    if isinstance(value, list):
        return [_decoded(item, values) for item in value]
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items()))
    if kind == "node":
        return values[content]
    if kind == "dict":
        return {key: _decoded(item, values) for key, item in content.items()}
    import torch

    return torch.device(content) if kind == "device" else getattr(torch, content)
