"""camshaft slim: a smaller ONNX model that computes the same."""

from __future__ import annotations

import argparse
import json

from .output import logger, show, written_text
from .parser import named_shape

NAME = "slim"
HELP = "write a smaller ONNX model that computes the same"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="IN", help="the ONNX model to read")
    parser.add_argument("output", metavar="OUT", help="the file to write; weights over 2 GiB go beside it")
    parser.add_argument("--check", action="store_true",
                        help="run both models on random inputs and give the largest difference")
    parser.add_argument("--shape", type=named_shape, action="append", default=[], metavar="INPUT:SIZES",
                        help="of an input, for --check: x:1x3x224x224; may be given again")


def run(arguments: argparse.Namespace) -> int:
    from .._slim import largest_difference, slimmed_model
    from .files import expect_model, expect_writable

    expect_model(arguments.model)
    expect_writable(arguments.output)
    slimmed = slimmed_model(arguments.model, logger(NAME))
    slimmed.write(arguments.output)
    report = json.loads(slimmed.json)
    text = slimmed.table
    if arguments.check:
        report["difference"] = largest_difference(arguments.model, arguments.output, dict(arguments.shape))
        text += "".join(f"largest relative difference of '{name}': {value:.2g}\n"
                        for name, value in report["difference"].items())
    show(arguments, report, text + written_text(arguments.output))
    return 0
