"""Accuracy-aware builds: the fastest mix of precisions that keeps a bound on data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
import inspect
import json
import math
from typing import Any

import numpy as np

from ._build import Progress, _Monitor, prepared
from ._calibration_data import Preprocessing, samples_from
from ._camshaft import ILogger, Logger, precision_tuner
from ._types import _array_at, nptype


@dataclasses.dataclass
class Result:
    """What tuning found: the engine, what each layer cost and gained, and how to build it again."""

    engine: bytes
    report: dict[str, Any]
    table: str  # the report for people

    @property
    def recipe(self) -> dict[str, Any]:
        """Settings of a :class:`camshaft.config.BuildConfig` that lead to the same engine without data."""
        recipe: dict[str, Any] = self.report["recipe"]
        return recipe


def tune_precision(model: Any, data: Any, *, max_error: float | Mapping[str, float] | None = None,
                   metric: Callable[..., float] | None = None, max_drop: float = 0.01, sensitivity_samples: int = 8,
                   config: Any = None, progress: Progress | None = None, logger: ILogger | None = None,
                   **settings: Any) -> Result:
    """Builds the fastest engine of ``model`` that keeps a bound, from layers in f32, 16 and 8 bits.

    ``model`` is a path, bytes, or an onnx ModelProto, ``data`` a folder of pictures or of ``.npy`` or ``.npz`` files,
    or an iterable of dicts of arrays by input name. Every other sample is held out: what is found on the first half
    must keep the bound on the second.

    The bound is ``max_error``, of the outputs' relative L2 distance to f32 (a number, or a dict by output name), or
    ``metric(outputs)``, a function of a list of dicts of arrays, higher is better, that may fall by ``max_drop`` below
    f32; a metric with a second argument is given the numbers of the samples too. Both may be given.

    ``config`` and ``settings`` are those of :func:`camshaft.build`. Precisions that are tried are those of
    ``precision``, of "fp16", "bf16" and "int8"; where there is none of them, all that the device has. Shapes that
    are left open are those of the data, and pictures are prepared as ``calibration`` says.
    ``progress(phase, done, total)`` is called on the way, and stops it by returning False.
    """
    logger = logger or Logger(Logger.WARNING)
    wanted, builder, network, build_config = prepared(model, config, settings, logger)
    pictures = wanted.calibration
    samples = samples_from(data, _inputs(network), Preprocessing(pictures.size, list(pictures.mean),
                                                                 list(pictures.std), pictures.colors,
                                                                 pictures.samples))
    if not wanted.all_profiles:
        build_config.add_optimization_profile(_profile(builder, network, samples))
    if build_config.get_timing_cache() is None:  # so that no kernel is timed twice
        build_config.set_timing_cache(build_config.create_timing_cache(b""), False)
    if progress:
        build_config.progress_monitor = _Monitor(progress)
    tuner = precision_tuner(network, build_config, logger)
    _set_bound(tuner, max_error)
    tuner.set_sensitivity_samples(sensitivity_samples)
    tuner.run(samples, None if metric is None else _called(metric), max_drop)
    engine = bytes(builder.build_serialized_network(network, build_config))
    if wanted.timing_cache:
        build_config.get_timing_cache().save(wanted.timing_cache)
    return Result(engine, json.loads(tuner.json), tuner.table)


def _inputs(network):
    tensors = map(network.get_input, range(network.num_inputs))
    return [(tensor.name, tensor.dtype, tuple(tensor.shape)) for tensor in tensors]


def _profile(builder, network, samples):
    """From the smallest to the largest of the samples' shapes, best at the one in the middle."""
    profile = builder.create_optimization_profile()
    for i, (name, _, shape) in enumerate(_inputs(network)):
        if -1 not in shape:
            continue
        shapes = [sample[i].shape for sample in samples]
        low, high = (tuple(map(choose, zip(*shapes))) for choose in (min, max))
        profile.set_shape(name, low, sorted(shapes, key=math.prod)[len(shapes) // 2], high)
    return profile


def _set_bound(tuner, max_error):
    if isinstance(max_error, Mapping):
        for output, error in max_error.items():
            tuner.set_max_error(error, output)
    elif max_error is not None:
        tuner.set_max_error(max_error)


def _called(metric):
    takes_samples = len(inspect.signature(metric).parameters) > 1

    def call(samples, runs):
        outputs = [{name: _array(address, data_type, shape) for name, data_type, shape, address in run}
                   for run in runs]
        return metric(outputs, samples) if takes_samples else metric(outputs)

    return call


def _array(address, data_type, shape):
    flat = _array_at(address, data_type, math.prod(shape), None)
    return np.array(flat, dtype=nptype(data_type)).reshape(shape)
