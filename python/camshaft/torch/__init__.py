"""PyTorch models on Camshaft's engines.

``torch.compile(model, backend="camshaft")`` compiles as the model runs; :func:`compile` compiles
ahead, for a module that can be saved and loaded where its source is not. See docs/pytorch.md.
"""

from __future__ import annotations

import importlib.util
from typing import Any


def compile(module: Any, example_inputs: Any, *, dynamic: Any = False,  # noqa: A001 - PyTorch's name
            **options: Any) -> Any:
    """A callable like ``module``, on engines, with the weights that it has now.

    ``example_inputs`` is a tensor, a tuple of arguments or a dict of keywords. With ``dynamic=True``
    every size of them may change, up to ``max_size``; ``dynamic`` may also be the ``dynamic_shapes`` of
    ``torch.export``, whose bounds then hold. ``options`` are those of the backend: ``precision``,
    ``device``, ``optimization_level``, ``threads``, ``max_size``, ``cache``, ….
    """
    from ._compiled import compile_module

    return compile_module(module, example_inputs, dynamic, options)


def load(path: Any) -> Any:
    """What ``compile(...).save(path)`` wrote, as a callable.

    Tensors are taken and given back as tensors, numpy arrays as arrays; where all of the module is
    engines, PyTorch need not be installed.
    """
    from ._loaded import LoadedModule

    return LoadedModule(path)


def _has_torch():
    try:
        return importlib.util.find_spec("torch") is not None
    except ValueError:  # a stand-in that is no module
        return False


if _has_torch():
    from ._backend import register

    register()
