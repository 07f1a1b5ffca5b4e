"""Building an engine in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
import ctypes
import os
import pathlib
from typing import Any

from . import Error
from ._camshaft import (Builder, ILogger, IProgressMonitor, Logger, NetworkDefinitionCreationFlag, OnnxParser,
                        OnnxParserFlag, Runtime, get_plugin_registry, write_file)

Progress = Callable[[str, int, int], Any]


def build(model: Any, output: Any = None, *, config: Any = None, progress: Progress | None = None,
          logger: ILogger | None = None, **settings: Any) -> Any:
    """Builds an engine of ``model``: a path, bytes, or an onnx ModelProto.

    ``config`` is a :class:`camshaft.config.BuildConfig`, a dict or the path of a YAML or JSON file; ``settings`` are
    fields of it that go before: ``build("m.onnx", precision="fp16", shapes={"x": (1, 3, 224, 224)})``.

    Returns the engine as bytes, or writes it to the path ``output`` and returns that.
    ``progress(phase, done, total)`` is called on the way, and stops it by returning False.
    """
    logger = logger or Logger(Logger.WARNING)
    wanted, builder, network, build_config = prepared(model, config, settings, logger)
    monitor = _Monitor(progress) if progress else None
    build_config.progress_monitor = monitor
    try:
        plan = builder.build_serialized_network(network, build_config)
    except Error:
        if monitor and monitor.failure:
            raise monitor.failure from None
        raise
    if wanted.device == "gpu" and not wanted.compute_capability:
        _require_gpu(plan, logger)
    if wanted.timing_cache:
        build_config.get_timing_cache().save(wanted.timing_cache)
    if output is None:
        return bytes(plan)
    write_file(os.fspath(output), plan)
    return pathlib.Path(output)


def prepared(model: Any, config: Any, settings: dict[str, Any], logger: ILogger) -> tuple[Any, Builder, Any, Any]:
    """The settings, and a builder, a network and a builder config to which they are applied."""
    from .config import BuildConfig

    wanted = BuildConfig.of(config, **settings)
    load_plugins(wanted)
    builder = Builder(logger)
    network = parsed(model, builder, logger, wanted)
    build_config = builder.create_builder_config()
    wanted.apply(builder, network, build_config)
    return wanted, builder, network, build_config


def load_plugins(settings: Any) -> None:
    for path in settings.static_plugins:
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
    for path in settings.plugins:
        get_plugin_registry().load_library(path)


def parsed(model: Any, builder: Builder, logger: ILogger, settings: Any = None) -> Any:
    """The network of a model. Raises Error with all that is wrong with it."""
    typing = 1 << int(NetworkDefinitionCreationFlag.STRONGLY_TYPED) if settings and settings.strongly_typed else 0
    network = builder.create_network(typing)
    parser = OnnxParser(network, logger)
    if settings and settings.plugin_override:
        parser.set_flag(OnnxParserFlag.ENABLE_PLUGIN_OVERRIDE)
    if settings and settings.fixed_caches:
        parser.set_flag(OnnxParserFlag.CAMSHAFT_FIXED_CACHES)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    is_bytes = isinstance(model, (bytes, bytearray, memoryview))
    if not (parser.parse(bytes(model)) if is_bytes else parser.parse_from_file(os.fspath(model))):
        raise Error("\n".join(_sentences(parser)))
    return network


def _sentences(parser: OnnxParser) -> Iterable[str]:
    return (parser.get_error(i).desc() for i in range(parser.num_errors))


def _require_gpu(plan: Any, logger: ILogger) -> None:
    if Runtime(logger).deserialize_cuda_engine(plan).device is None:
        raise Error("device is 'gpu', and no GPU can be used here: the engine would be one for the CPU")


class _Monitor(IProgressMonitor):
    """Hands phases on. What the callback raises ends the build, and is for build() to raise."""

    def __init__(self, progress: Progress) -> None:
        IProgressMonitor.__init__(self)
        self.progress = progress
        self.steps: dict[str, int] = {}
        self.failure: BaseException | None = None

    def _tell(self, phase: str, done: int) -> bool:
        try:
            return self.failure is None and self.progress(phase, done, self.steps[phase]) is not False
        except BaseException as error:
            self.failure = error
            return False

    def phase_start(self, phase_name: str, parent_phase: str | None, num_steps: int) -> None:
        self.steps[phase_name] = num_steps
        self._tell(phase_name, 0)

    def step_complete(self, phase_name: str, step: int) -> bool:
        return self._tell(phase_name, min(step + 1, self.steps[phase_name]))

    def phase_finish(self, phase_name: str) -> None:
        self._tell(phase_name, self.steps[phase_name])
