"""``torch.compile(model, backend="camshaft")``."""

from __future__ import annotations

import logging
import warnings

import torch
from torch._dynamo.backends import registry
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext

from ..config import TorchConfig
from ._decompose import decompositions, whole_resizes
from ._program import Program

_log = logging.getLogger("camshaft.torch")
_warned: set = set()


def _warn_once(text):
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, stacklevel=2)


def camshaft_backend(graph_module, example_inputs, *, options=None, mode=None, **_):
    """The compiler that Dynamo calls with each graph."""
    settings = TorchConfig.of(options)
    needs_grad = torch.is_grad_enabled() and any(
        isinstance(value, torch.Tensor) and value.requires_grad for value in example_inputs)
    if needs_grad:
        _warn_once("Camshaft runs inference only and gradients are wanted here, so PyTorch runs this"
                   " itself: call the model under torch.no_grad() or torch.inference_mode()")
        return graph_module.forward

    def compile_graph(traced, fakes):
        context = TracingContext.try_get()
        metadata = context.fw_metadata if context else None
        static = list(metadata.static_input_indices or ()) if metadata else []
        static = [i for i in static if isinstance(fakes[i], torch.Tensor)]
        program = Program(traced, static, settings)

        def run(arguments):
            values = list(arguments)
            arguments.clear()  # they end when nobody needs them any more
            return program(*values)

        run._boxed_call = True
        return run

    try:
        with whole_resizes():
            return aot_autograd(fw_compiler=compile_graph, inference_compiler=compile_graph,
                                decompositions=decompositions())(graph_module, example_inputs)
    except Exception as error:  # noqa: BLE001 - the user's model runs, whatever happens
        _log.warning("a graph stays with PyTorch, which could not trace it to ATen: %s", error)
        return graph_module.forward


def register():
    """Makes the name known where the package was not installed with its entry point."""
    if "camshaft" not in registry._COMPILER_FNS:
        registry.register_backend(camshaft_backend, name="camshaft")
