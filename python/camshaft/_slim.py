"""Smaller ONNX models that compute the same."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ._build import parsed
from ._camshaft import Builder, BuilderFlag, ILogger, Logger, Runtime, slim_bytes, slim_file
from ._inputs import random_inputs
from .inference import infer


def slim(model: Any, output: Any = None, logger: ILogger | None = None) -> Any:
    """Slims ``model``: a path, bytes, or an onnx ModelProto.

    Returns the slim model as bytes, or writes it to the path ``output`` (models over 2 GiB with
    their weights beside it) and returns what went, as a dict: nodes by operator, initializers and
    bytes, before and after.
    """
    slimmed = slimmed_model(model, logger)
    if output is None:
        return bytes(slimmed.serialize())
    slimmed.write(os.fspath(output))
    return json.loads(slimmed.json)


def slimmed_model(model, logger=None):
    logger = logger or Logger(Logger.WARNING)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        return slim_bytes(bytes(model), logger)
    return slim_file(os.fspath(model), logger)


def largest_difference(first, second, shapes=None, seed=0):
    """The largest difference between two models' outputs on random inputs, relative to the largest
    magnitude of that output, by output. Paths or bytes; ``shapes`` by input where the models leave
    them open (else 2 for a size they do not give)."""
    one, other = _engine(first, shapes or {}), _engine(second, shapes or {})
    feeds = random_inputs(one, shapes or {}, seed)
    expected, actual = infer(one, feeds), infer(other, feeds)
    differences = {}
    for name, value in expected.items():
        value, ours = np.asarray(value, np.float64), np.asarray(actual[name], np.float64)
        if value.shape != ours.shape:
            raise ValueError(f"output '{name}' has shape {ours.shape}, and {value.shape} before")
        finite = np.isfinite(value)
        if not np.array_equal(finite, np.isfinite(ours)):
            differences[name] = float("inf")
            continue
        scale = np.abs(value[finite]).max(initial=0) or 1
        differences[name] = float(np.abs(value - ours)[finite].max(initial=0) / scale)
    return differences


def _shape_of(tensor, shapes):
    return shapes.get(tensor.name, tuple(2 if size < 0 else size for size in tensor.shape))


def _engine(model, shapes):
    logger = Logger(Logger.ERROR)
    builder = Builder(logger)
    network = parsed(model, builder, logger)
    config = builder.create_builder_config()
    config.builder_optimization_level = 0
    config.clear_flag(BuilderFlag.TF32)
    profile = builder.create_optimization_profile()
    for i in range(network.num_inputs):
        tensor = network.get_input(i)
        shape = _shape_of(tensor, shapes)
        profile.set_shape(tensor.name, min=shape, opt=shape, max=shape)
    config.add_optimization_profile(profile)
    runtime = Runtime(logger)
    return runtime.deserialize_cuda_engine(builder.build_serialized_network(network, config))
