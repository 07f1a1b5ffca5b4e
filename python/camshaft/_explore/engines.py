"""Asks an engine for its layers, and runs it to time them."""

from __future__ import annotations

import collections
from dataclasses import dataclass, field
import json
import os
import pathlib
import statistics
import time
from typing import Any

import numpy as np

from .. import Error
from .._camshaft import (ICudaEngine, IExecutionContext, ILogger, IProfiler, LayerInformationFormat, Logger,
                         TensorIOMode)
from .._session import load, load_for_inspection
from .._types import nptype
from ..inference import infer

RUNS, SECONDS = 20, 8.0  # at most, for timing


@dataclass
class Described:
    """An engine in its own words."""

    information: dict[str, Any]  # the inspector's
    file: str = ""
    profile: int = 0
    profiles: int = 1
    tensors: list[dict[str, Any]] = field(default_factory=list)  # inputs and outputs
    milliseconds: dict[str, float] = field(default_factory=dict)  # by layer, measured here
    runs: int = 0
    notes: list[str] = field(default_factory=list)  # what is missing, and why


def describe(engine: Any, profile: int = 0, timed: bool = True) -> Described:
    if isinstance(engine, ICudaEngine):
        return _describe_loaded(engine, "", profile, timed)
    if isinstance(engine, (bytes, bytearray, memoryview)):
        return _describe_plan(bytes(engine), "", profile, timed)
    path = pathlib.Path(os.fspath(engine))
    if path.suffix == ".json":
        return _describe_exported(path)
    return _describe_plan(path, path.name, profile, timed)


def _describe_plan(plan: Any, file: str, profile: int, timed: bool) -> Described:
    quiet = Logger(ILogger.Severity.INTERNAL_ERROR)  # reasons are raised
    try:
        return _describe_loaded(load(plan, logger=quiet).engine, file, profile, timed)
    except Error as reason:
        # Of another machine, it may be, which need not be here to look at it.
        described = _describe_unrun(load_for_inspection(plan, quiet), file)
        described.notes.append(f"The engine does not run here: {reason}.")
        return described


def _describe_exported(path: pathlib.Path) -> Described:
    information = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    if not isinstance(information, dict) or not isinstance(information.get("Layers"), list):
        raise ValueError(f"{path}: this is no engine, nor what `trtexec --exportLayerInfo` writes")
    note = "Read from exported layer information: the times are the builder's."
    return Described(information, path.name, notes=[note])


def _describe_unrun(engine: ICudaEngine, file: str) -> Described:
    """With its first profile, and sizes left open that a run decides."""
    inspector = engine.create_engine_inspector()
    information = json.loads(inspector.get_engine_information(LayerInformationFormat.JSON))
    return Described(information, file, 0, engine.num_optimization_profiles, _tensors(engine, engine))


def _describe_loaded(engine: ICudaEngine, file: str, profile: int, timed: bool) -> Described:
    if not 0 <= profile < engine.num_optimization_profiles:
        raise ValueError(f"the engine has {engine.num_optimization_profiles} optimisation profiles, numbered "
                         f"from 0: there is none with number {profile}")
    context = engine.create_execution_context()
    if profile:
        context.set_optimization_profile_async(profile, 0)
    described = Described({}, file, profile, engine.num_optimization_profiles)
    feeds = random_inputs(engine, profile)
    try:
        for name, value in feeds.items():
            context.set_input_shape(name, value.shape)
        if timed:
            described.milliseconds, described.runs = layer_times(context, feeds)
    except Error as error:
        described.notes.append(f"The engine did not run on random inputs ({error}); the times are the builder's.")
    inspector = engine.create_engine_inspector()
    inspector.execution_context = context  # with the sizes of the run
    described.information = json.loads(inspector.get_engine_information(LayerInformationFormat.JSON))
    described.tensors = _tensors(engine, context)
    return described


def _tensors(engine: ICudaEngine, run: ICudaEngine | IExecutionContext) -> list[dict[str, Any]]:
    """Inputs and outputs, with the sizes that they have in a run."""
    return [{"name": name, "isInput": engine.get_tensor_mode(name) == TensorIOMode.INPUT,
             "type": engine.get_tensor_dtype(name).name, "dims": list(engine.get_tensor_shape(name)),
             "runDims": list(run.get_tensor_shape(name))}
            for name in map(engine.get_tensor_name, range(engine.num_io_tensors))]


def random_inputs(engine: ICudaEngine, profile: int) -> dict[str, np.ndarray]:
    """Of the sizes that the profile is optimised for; integers are small enough for indices."""
    random = np.random.default_rng(0)
    feeds = {}
    for i in range(engine.num_io_tensors):
        name = engine.get_tensor_name(i)
        if engine.get_tensor_mode(name) != TensorIOMode.INPUT:
            continue
        shape = tuple(engine.get_tensor_profile_shape(name, profile)[1])
        dtype = np.dtype(nptype(engine.get_tensor_dtype(name)))
        if engine.is_shape_inference_io(name):
            feeds[name] = np.asarray(engine.get_tensor_profile_values(profile, name)[1], dtype).reshape(shape)
        elif dtype.kind in "iub":
            feeds[name] = random.integers(0, 2, shape).astype(dtype)
        else:
            feeds[name] = random.standard_normal(shape).astype(dtype)
    return feeds


class _Times(IProfiler):
    def __init__(self) -> None:
        IProfiler.__init__(self)
        self.layers: dict[str, list[float]] = collections.defaultdict(list)

    def report_layer_time(self, layer_name: str, ms: float) -> None:
        self.layers[layer_name].append(ms)


def layer_times(context: Any, feeds: dict[str, np.ndarray]) -> tuple[dict[str, float], int]:
    """The median milliseconds of each layer in one run, and of how many runs."""
    infer(context, feeds)
    context.profiler = times = _Times()
    runs, end = 0, time.monotonic() + SECONDS
    while runs < RUNS and (runs < 3 or time.monotonic() < end):
        infer(context, feeds)
        runs += 1
    context.profiler = None
    # A layer inside a loop is reported for each iteration.
    return {name: statistics.median(ms) * len(ms) / runs for name, ms in times.layers.items()}, runs
