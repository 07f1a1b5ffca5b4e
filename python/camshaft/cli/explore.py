"""camshaft explore: what an engine is made of, as a page for a browser."""

from __future__ import annotations

import argparse
import os
import pathlib
from typing import Any

from .output import show, time_text, written_text

NAME = "explore"
HELP = "write a page that shows an engine: graph, layers, memory, roofline; or two side by side"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("engine", metavar="ENGINE", help="an engine file, or what `trtexec --exportLayerInfo` wrote of one (.json)")
    add("other", metavar="OTHER", nargs="?", help="another, to be shown beside it")
    add("-o", "--output", metavar="FILE.html", help="the page; ENGINE.html unless it is given")
    add("--profile", type=int, default=0, metavar="N", help="the optimisation profile, from 0")
    add("--time", action=argparse.BooleanOptionalAction, default=True,
        help="run the engine to time its layers, and measure the machine's peaks")


def run(arguments: argparse.Namespace) -> int:
    from .._explore import explore
    from .files import expect_engine, expect_writable

    output = arguments.output or os.fspath(pathlib.Path(arguments.engine).with_suffix(".html"))
    for engine in filter(None, (arguments.engine, arguments.other)):
        if not engine.endswith(".json"):
            expect_engine(engine)
    expect_writable(output)
    result = explore(arguments.engine, output, arguments.other, profile=arguments.profile, time=arguments.time)
    show(arguments, result, lambda: _text(result))
    return 0


def _text(result: dict[str, Any]) -> str:
    lines = []
    for engine in result["engines"]:
        source = {"measured": "measured", "builder": "by the builder's timing", "none": ""}[engine["times"]]
        time = f", {time_text(engine['totalMs'] / 1000)} {source}" if source else ""
        lines.append(f"{engine['file'] or engine['name']}: {engine['layers']} layers{time}")
        lines += [f"  {note}" for note in engine["notes"]]
    return "\n".join([*lines, f"{written_text(result['page'])}: open it in a browser"])
