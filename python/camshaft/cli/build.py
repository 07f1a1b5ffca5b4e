"""camshaft build: an engine of a model."""

from __future__ import annotations

import argparse
import pathlib
import signal
import time
from typing import Any

from .output import Progress, logger, show, size_text, time_text

NAME = "build"
HELP = "build an engine of an ONNX model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..config import BuildConfig
    from .settings import add_settings

    parser.add_argument("model", metavar="MODEL", help="the ONNX model")
    parser.add_argument("-o", "--output", metavar="ENGINE", help="the file to write; MODEL.engine, where it is left out")
    parser.add_argument("-v", "--verbose", action="store_true", help="print all that the builder says")
    add_settings(parser, BuildConfig, "settings (docs/configuration.md)")


class Watch:
    """Draws a build's progress, remembers how long each phase took, and ends it where Ctrl-C is pressed."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.started: dict[str, float] = {}
        self.seconds: dict[str, float] = {}
        self.is_interrupted = False

    def __enter__(self) -> Watch:
        # A KeyboardInterrupt inside a callback would be the library's, which cannot raise it.
        self.handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def _interrupt(self, *_: Any) -> None:
        self.is_interrupted = True

    def __exit__(self, *_: Any) -> None:
        signal.signal(signal.SIGINT, self.handler)
        if self.is_interrupted:
            raise KeyboardInterrupt from None

    def __call__(self, phase: str, done: int, total: int) -> bool:
        now = time.perf_counter()
        self.started.setdefault(phase, now)
        self.seconds[phase] = now - self.started[phase]
        self.progress(phase, done, total)
        return not self.is_interrupted


def run(arguments: argparse.Namespace) -> int:
    from .. import build, load
    from ..config import BuildConfig
    from .engine_info import by_kernel, engine_info
    from .files import expect_model, expect_writable
    from .settings import config_from

    config = config_from(BuildConfig, arguments)
    output = pathlib.Path(arguments.output or pathlib.Path(arguments.model).with_suffix(".engine"))
    expect_model(arguments.model)
    expect_writable(output)
    begin = time.perf_counter()
    with Progress() as progress:
        log = logger(NAME, progress, arguments.verbose)
        with Watch(progress) as watch:
            build(arguments.model, output, config=config, progress=watch, logger=log)
    result: dict[str, Any] = {"engine": output, "bytes": output.stat().st_size,
                              "seconds": time.perf_counter() - begin, "phases": watch.seconds}
    if config.strip_weights or config.compute_capability or config.serialized_plugins:
        # For another machine perhaps, or not to be loaded as it is.
        show(arguments, result, lambda: _head(result))
        return 0
    result.update(engine_info(load(output, logger=log, plugins=config.plugins,
                                   static_plugins=config.static_plugins).engine))
    result["kernels"] = by_kernel(result["layers"])
    result["layers"] = len(result["layers"])
    show(arguments, result, lambda: _summary(result))
    return 0


def _head(result: dict[str, Any]) -> str:
    phases = [f"{name[0].lower()}{name[1:]} {time_text(seconds)}".replace(" for profile 0 ", " ")
              for name, seconds in result["phases"].items() if name != "Building the engine"]
    return (f"{result['engine']}: {size_text(result['bytes'])}, built in {time_text(result['seconds'])}"
            + (f" ({', '.join(phases)})" if phases else ""))


def _summary(result: dict[str, Any]) -> str:
    from .engine_info import device_text, kernels_text, memory_text, tensor_table, types_text

    types = types_text(result)
    return "\n".join([
        _head(result),
        f"  device  {device_text(result)}",
        f"  layers  {result['layers']}" + (f": {types}" if types else ""),
        f"  memory  {memory_text(result)}",
        "", tensor_table(result["tensors"]), "", kernels_text(result["kernels"])])
