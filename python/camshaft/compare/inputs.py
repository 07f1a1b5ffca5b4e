"""Inputs to measure with: the user's arrays, and sensible random values for the rest."""

from __future__ import annotations

from collections.abc import Mapping
import os
from typing import Any

import numpy

from .. import Logger, OnnxParser, Builder, nptype


def feeds_for(model: str | os.PathLike, shapes: Mapping[str, tuple[int, ...]] | None = None,
              batch: int | None = None, arrays: Mapping[str, Any] | None = None, seed: int = 0) -> dict:
    """{input: array} for the ONNX model at this path. `shapes` are those of inputs whose sizes the
    model leaves open; `batch` is the first size of such inputs, 1 unless it is given."""
    shapes, arrays = dict(shapes or {}), dict(arrays or {})
    declared = inputs_of(model)
    for name in [*shapes, *arrays]:
        if name not in declared:
            raise ValueError(f"'{name}' is no input of the model, which has {', '.join(declared)}")
    random = numpy.random.default_rng(seed)
    feeds = {}
    for name, (dtype, sizes, words) in declared.items():
        if name in arrays:
            feeds[name] = numpy.ascontiguousarray(arrays[name], dtype)
            _check_fits(name, feeds[name].shape, sizes)
        else:
            shape = shapes.get(name) or _shape(name, sizes, words, batch)
            _check_fits(name, shape, sizes)
            feeds[name] = values(name, shape, dtype, random)
    return feeds


def inputs_of(model: str | os.PathLike) -> dict[str, tuple[Any, tuple[int, ...], tuple[str, ...]]]:
    """{name: (numpy type, sizes, their names)}; -1 is a size that the model leaves open. A model with
    operators that Camshaft lacks has its inputs all the same."""
    logger = Logger(Logger.INTERNAL_ERROR)
    builder = Builder(logger)
    network = builder.create_network()
    parser = OnnxParser(network, logger)
    if not os.path.isfile(model):
        reason = "it is a folder, not a model" if os.path.isdir(model) else "there is no such model"
        raise FileNotFoundError(2, reason, os.fspath(model))
    if not parser.parse_from_file(os.fspath(model)) and not network.num_inputs:
        raise ValueError(parser.get_error(0).desc())
    tensors = [network.get_input(i) for i in range(network.num_inputs)]
    return {tensor.name: (numpy.dtype(nptype(tensor.dtype)), tuple(tensor.shape),
                          tuple(tensor.get_dimension_name(i) or "" for i in range(len(tensor.shape))))
            for tensor in tensors}


def _shape(name: str, sizes: tuple[int, ...], words: tuple[str, ...], batch: int | None) -> tuple[int, ...]:
    """The declared sizes, an open first one as the batch."""
    filled = [batch or 1 if i == 0 and size < 0 else size for i, size in enumerate(sizes)]
    if open_sizes := [i for i, size in enumerate(filled) if size < 0]:
        which = ", ".join(f"{i} ('{words[i]}')" if words[i] else str(i) for i in open_sizes)
        example = "x".join(f"<{words[i] or 'size'}>" if size < 0 else str(size) for i, size in enumerate(filled))
        raise ValueError(f"input '{name}' has sizes that the model leaves open, dimension {which}: "
                         f"add --shapes {name}:{example}")
    return tuple(filled)


def _check_fits(name: str, shape: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    if len(shape) != len(sizes) or any(0 <= size != given for size, given in zip(sizes, shape)):
        declared = "x".join("?" if size < 0 else str(size) for size in sizes) or "scalar"
        raise ValueError(f"input '{name}' is {declared} in the model, and was given as "
                         f"{'x'.join(map(str, shape)) or 'scalar'}")


def values(name: str, shape: tuple[int, ...], dtype: Any, random: Any) -> Any:
    """Tokens that every vocabulary has, masks of ones, small integers, normal numbers."""
    if dtype.kind == "b" or (dtype.kind in "iu" and "mask" in name):
        return numpy.ones(shape, dtype)
    if dtype.kind in "iu":
        is_token = name.endswith("ids") and "type" not in name
        return random.integers(0, 100 if is_token else 2, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)
