"""Building an engine in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
import ctypes
import os
import pathlib
from typing import Any

from . import Error
from ._camshaft import (Builder, FileWriter, ILogger, IProgressMonitor, Logger, NetworkDefinitionCreationFlag,
                        OnnxParser, OnnxParserFlag, get_plugin_registry)

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
    if wanted.device == "gpu" and not wanted.compute_capability and not builder.platform_has_tf32:
        raise Error("device is 'gpu', and no GPU can be used here: the engine would be one for the CPU")
    monitor = _Monitor(progress) if progress else None
    build_config.progress_monitor = monitor
    try:
        if output is None:
            result: Any = bytes(builder.build_serialized_network(network, build_config))
        else:
            result = pathlib.Path(output)
            build_file(builder, network, build_config, output)
    except Error:
        if monitor and monitor.failure:
            raise monitor.failure from None
        raise
    if wanted.timing_cache:
        build_config.get_timing_cache().save(wanted.timing_cache)
    return result


class CannotWrite(Error):
    """The engine's file cannot be written; what was to be built may be fine."""


def build_file(builder: Builder, network: Any, build_config: Any, path: Any) -> None:
    """Builds into a file, so that the engine is never in memory as a whole."""
    writer, is_built = None, False
    try:
        writer = FileWriter(path)
        builder.build_serialized_network_to_stream(network, build_config, writer)
        is_built = True
        writer.commit()
    except Error as error:
        if writer is None or is_built or not writer.is_good:
            raise CannotWrite(str(error)) from None
        raise


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
    network = builder.create_network(network_flags(settings) if settings else 0)
    parser = parser_of(network, logger, settings)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    is_bytes = isinstance(model, (bytes, bytearray, memoryview))
    if not (parser.parse(bytes(model)) if is_bytes else parser.parse_from_file(os.fspath(model))):
        raise Error("\n".join(_sentences(parser)))
    return network


def network_flags(settings: Any) -> int:
    return 1 << int(NetworkDefinitionCreationFlag.STRONGLY_TYPED) if settings.strongly_typed else 0


def parser_of(network: Any, logger: ILogger, settings: Any = None) -> OnnxParser:
    parser = OnnxParser(network, logger)
    if settings and settings.plugin_override:
        parser.set_flag(OnnxParserFlag.ENABLE_PLUGIN_OVERRIDE)
    if settings and settings.fixed_caches:
        parser.set_flag(OnnxParserFlag.CAMSHAFT_FIXED_CACHES)
    return parser


def _sentences(parser: OnnxParser) -> Iterable[str]:
    return (parser.get_error(i).desc() for i in range(parser.num_errors))


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
