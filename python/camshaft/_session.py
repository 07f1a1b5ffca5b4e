"""Engines that are ready to run."""

from __future__ import annotations

from collections import deque
import dataclasses
import os
from typing import Any

import numpy as np

from . import Error
from ._build import load_plugins
from ._camshaft import (EngineStat, ExecutionContextAllocationStrategy, ICudaEngine, ILogger, Logger,
                        OnnxParserRefitter, Refitter, Runtime)
from ._inputs import checked_names
from ._types import nptype
from .inference import infer


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """An input or output of an engine. Sizes that a run decides are -1."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    min: tuple[int, ...] | None = None  # of inputs, as the profile has them
    opt: tuple[int, ...] | None = None
    max: tuple[int, ...] | None = None


class Session:
    """An engine to call with arrays: one for each input, in order or by name, or a dict of them.

    Numpy arrays and PyTorch tensors are taken as :func:`camshaft.infer` takes them, and the outputs come as a dict.
    Several threads may call it at once; each run has an execution context of its own.
    """

    def __init__(self, engine: ICudaEngine, config: Any) -> None:
        self.engine, self.config = engine, config
        count = engine.num_optimization_profiles
        if config.profile >= count:
            raise ValueError(f"profile is {config.profile}, and the engine has {count}, counted from 0")
        names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
        infos = [self._info(name) for name in names]
        self.inputs = {info.name: info for info in infos if info.opt is not None}
        self.outputs = {info.name: info for info in infos if info.opt is None}
        self._contexts: deque[Any] = deque([self.create_context()])

    def _info(self, name: str) -> TensorInfo:
        engine = self.engine
        shape = tuple(engine.get_tensor_shape(name))
        info = TensorInfo(name, np.dtype(nptype(engine.get_tensor_dtype(name))), shape)
        if engine.get_tensor_mode(name).name != "INPUT":
            return info
        return TensorInfo(name, info.dtype, shape,
                          *map(tuple, engine.get_tensor_profile_shape(name, self.config.profile)))

    def create_context(self) -> Any:
        """A new execution context with the config's profile."""
        strategy = {"static": ExecutionContextAllocationStrategy.STATIC,
                    "profile": ExecutionContextAllocationStrategy.ON_PROFILE_CHANGE}[self.config.allocation]
        context = self.engine.create_execution_context(strategy)
        if self.config.profile:
            context.set_optimization_profile_async(self.config.profile, 0)
        return context

    def __call__(self, *arrays: Any, **named: Any) -> dict[str, Any]:
        feeds = self._feeds(arrays, named)
        try:
            context = self._contexts.pop()
        except IndexError:  # all are in use
            context = self.create_context()
        try:
            return infer(context, feeds)
        finally:
            self._contexts.append(context)

    def _feeds(self, arrays: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        if len(arrays) == 1 and isinstance(arrays[0], dict):
            return {**arrays[0], **named}
        if len(arrays) > len(self.inputs):
            raise ValueError(f"{len(arrays)} arrays were given, and the engine has {len(self.inputs)} inputs")
        feeds = {**dict(zip(self.inputs, arrays)), **named}
        checked_names(self.engine, feeds)
        return feeds

    def __repr__(self) -> str:
        def listed(tensors: dict[str, TensorInfo]) -> str:
            return ", ".join(f"{info.name}: {info.dtype}{list(info.shape)}" for info in tensors.values())

        return f"<camshaft.Session ({listed(self.inputs)}) -> ({listed(self.outputs)})>"


def load(engine: Any, config: Any = None, *, logger: ILogger | None = None, **settings: Any) -> Session:
    """Loads an engine, from a path or bytes, to be called with arrays.

    ``config`` is a :class:`camshaft.config.InferenceConfig`, a dict or the path of a YAML or JSON file; ``settings``
    are fields of it that go before: ``load("m.engine", threads=2)``.
    """
    from .config import InferenceConfig

    wanted = InferenceConfig.of(config, **settings)
    logger = logger or Logger(Logger.WARNING)
    load_plugins(wanted)
    runtime = Runtime(logger)
    if wanted.threads or wanted.streams > 1:
        # Contexts that run at the same time share the cores instead of fighting for them.
        runtime.max_threads = wanted.threads or max(1, runtime.max_threads // wanted.streams)
    if wanted.host_code_allowed:
        runtime.engine_host_code_allowed = True
    loaded = _deserialized(runtime, engine)
    _give_weights(loaded, wanted, logger)
    budget = wanted.budget_of(loaded)
    if budget is not None:
        loaded.weight_streaming_budget_v2 = budget
    return Session(loaded, wanted)


def load_for_inspection(engine: Any, logger: ILogger) -> ICudaEngine:
    """An engine, from a path or bytes, that can be asked what it is made of on any machine, and not run."""
    runtime = Runtime(logger)
    runtime.inspection_only = True
    return _deserialized(runtime, engine)


def _deserialized(runtime: Runtime, engine: Any) -> ICudaEngine:
    if isinstance(engine, ICudaEngine):
        return engine
    if isinstance(engine, (str, os.PathLike)):
        return runtime.deserialize_cuda_engine_from_file(os.fspath(engine))
    return runtime.deserialize_cuda_engine(engine)


def _give_weights(engine: ICudaEngine, config: Any, logger: ILogger) -> None:
    if config.weights:
        refitter = Refitter(engine, logger)
        parser = OnnxParserRefitter(refitter, logger)
        if not parser.refit_from_file(config.weights):
            raise Error("\n".join(parser.get_error(i).desc() for i in range(parser.num_errors)))
        refitter.refit_cuda_engine()
    elif engine.get_engine_stat(EngineStat.STRIPPED_WEIGHTS_SIZE) > 0:
        raise Error("the engine was built without its weights: give the model that has them, weights=\"model.onnx\"")
