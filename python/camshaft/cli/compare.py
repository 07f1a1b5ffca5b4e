"""camshaft compare: a model in Camshaft and in the other runtimes installed here, side by side."""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import tempfile
from typing import Any

from .output import Progress, show, table
from .parser import named_shape

NAME = "compare"
HELP = "measure a model here beside other runtimes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", type=pathlib.Path, help="the ONNX model")
    add("--shapes", type=named_shape, action="append", default=[], metavar="INPUT:SIZES",
        help="of an input whose sizes the model leaves open: x:1x3x224x224; may be given again")
    add("--batch", type=int, help="the first size of inputs that leave it open (1)")
    add("--input", type=_named_file, action="append", default=[], metavar="INPUT=FILE.npy",
        help="an array to run on; random values without it; may be given again")
    add("--data", type=pathlib.Path, help="pictures or arrays: also compare the model quantised with them to int8")
    add("--torch", metavar="FILE", help="the same model for PyTorch: .pt2, TorchScript or package.module:function")
    add("--peers", nargs="+", metavar="PEER", help="only these, e.g. camshaft-f32 onnxruntime openvino")
    add("--device", choices=("all", "cpu", "gpu"), default="all", help="only those that run there")
    add("--threads", type=int, help="of CPU runtimes (the cores that this process may use)")
    add("--rounds", type=int, default=3, help="processes of each peer, in turn (3)")
    add("--seconds", type=float, default=1.0, help="of running, per process (1)")
    add("--save", type=pathlib.Path, metavar="FILE.json", help="write all that was measured")
    add("--page", type=pathlib.Path, metavar="FILE.html", help="write a page with bars and the table")


def _named_file(text: str) -> tuple[str, pathlib.Path]:
    name, equals, path = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form input=file.npy")
    return name, pathlib.Path(path)


def run(arguments: argparse.Namespace) -> int:
    from .. import describe_machine
    from ..compare import Job, chosen, compare, feeds_for
    from ..compare.page import page
    from ..compare.report import document
    from .files import expect_model, expect_writable

    if arguments.rounds < 1 or arguments.seconds <= 0:
        raise ValueError("--rounds and --seconds are more than 0")
    expect_model(arguments.model)
    expect_writable(arguments.save, arguments.page)
    machine = json.loads(describe_machine())
    feeds = feeds_for(arguments.model, dict(arguments.shapes), arguments.batch, _arrays(arguments.input))
    job = Job(arguments.model.resolve(), arguments.threads or machine["cpu"]["cores"], arguments.seconds,
              torch_model=arguments.torch, device=arguments.device)
    with tempfile.TemporaryDirectory() as folder, Progress() as progress:
        if arguments.data:
            job.int8_model = _quantised(job.model, arguments.data, pathlib.Path(folder), progress)
        peers, absent = chosen(job, machine, arguments.peers)
        figures = compare(job, feeds, peers, arguments.rounds, progress)
    facts = {"model": arguments.model.name, "shapes": {name: list(array.shape) for name, array in feeds.items()},
             "threads": job.threads, "rounds": arguments.rounds, "seconds": arguments.seconds, "machine": machine,
             "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes")}
    result = document(facts, figures, absent)
    if arguments.save:
        arguments.save.write_text(json.dumps(result, indent=1))
    if arguments.page:
        arguments.page.write_text(page(result), encoding="utf-8")
    show(arguments, result, lambda: _text(result))
    return 0 if any("median" in own for own in result["peers"]) else 1


def _arrays(files: list[tuple[str, pathlib.Path]]) -> dict[str, Any]:
    import numpy

    arrays = {}
    for name, path in files:
        try:
            arrays[name] = numpy.load(path)
        except ValueError as error:
            raise ValueError(f"'{path}' cannot be read as a numpy array: {error}") from None
    return arrays


def _quantised(model: pathlib.Path, data: pathlib.Path, folder: pathlib.Path, progress: Progress) -> pathlib.Path:
    """Camshaft's quantiser writes a model that all runtimes take."""
    from .. import quantize

    quantize(model, data, folder / "int8.onnx", progress=progress)
    return folder / "int8.onnx"


def _text(result: dict) -> str:
    from ..compare.report import COLUMNS, row

    done = [own for own in result["peers"] if "median" in own]
    lines = [table(COLUMNS, [row(own["peer"], own) for own in done])] if done else []
    lines += [f"{own['peer']} failed: {own['failure']}" for own in result["peers"] if "median" not in own]
    if result["reference"]:
        lines.append(f"\nSpeed and error are against {result['reference']}; {result['threads']} threads.")
    for one in result["absent"]:
        remedy = f" ({one['remedy']})" if one["remedy"] else ""
        lines.append(f"Not measured: {', '.join(one['peers'])}: {one['reason']}{remedy}")
    return "\n".join(lines)
