"""camshaft quantize: an ONNX model in few bits."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import json
from typing import Any

from .output import Progress, logger, show, written_text

NAME = "quantize"
HELP = "write an ONNX model in INT8, FP8 or INT4"


def _numbers(text: str) -> float | list[float]:
    values = [float(value) for value in text.split(",")]
    return values[0] if len(values) == 1 else values


def _size(text: str) -> tuple[int, int]:
    height, _, width = text.partition("x")
    return int(height), int(width or height)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", help="the model to read")
    add("data", metavar="DATA", help="a folder of pictures or of .npy or .npz files; - for none (int4)")
    add("output", metavar="OUT", help="the file to write; weights of models over 2 GiB go into OUT.data")
    add("--format", default="int8", help="int8, fp8, or int4 for weights of matrix products alone")
    add("--range", default="entropy", help="where activations are clipped: entropy, mse, percentile or minmax")
    add("--percentile", type=float, default=99.99, help="the share of elements inside, for --range percentile")
    add("--activations", default="int8", help="int8, around zero, which all runtimes take, or uint8")
    add("--no-equalization", action="store_true", help="leave the channels between layers as they are")
    add("--no-bias-correction", action="store_true", help="leave biases as they are")
    add("--no-residuals", action="store_true", help="add to convolutions in floating point")
    add("--rounding", default="gptq", help="of int4 weights: gptq or nearest")
    add("--block-size", type=int, default=32, help="int4 weights that share a scale: 16 to 256")
    add("--int4-nodes", default="dequantize", help="how int4 is written: dequantize or matmulnbits (com.microsoft)")
    add("--op", action="append", default=[], help="quantise nodes of this type only; may be given again")
    add("--exclude", action="append", default=[], metavar="NODE", help="leave this node; may be given again")
    add("--exclude-op", action="append", default=[], metavar="OP", help="leave nodes of this type")
    add("--threads", type=int, default=0, help="threads to use; 0 for all")
    add_picture_arguments(add)


def add_picture_arguments(add: Callable[..., Any]) -> None:
    """How pictures become arrays."""
    add("--size", type=_size, help="of pictures, HxW, where the model leaves it open")
    add("--mean", type=_numbers, default=0.0, help="of pixels between 0 and 1: one number, or three with commas")
    add("--std", type=_numbers, default=1.0, help="likewise")
    add("--colors", default="rgb", choices=["rgb", "bgr"], help="the order of a picture's channels")
    add("--samples", type=int, help="use so many of the data at most")


def run(given: argparse.Namespace) -> int:
    from .._quantize import quantized_model
    from .files import expect_model, expect_writable

    expect_model(given.model)
    expect_writable(given.output)
    options = {"format": given.format, "range": given.range, "percentile": given.percentile,
               "activations": given.activations, "equalization": "off" if given.no_equalization else "on",
               "bias_correction": "off" if given.no_bias_correction else "on",
               "residuals": "off" if given.no_residuals else "on",
               "rounding": given.rounding, "block_size": given.block_size,
               "int4_nodes": given.int4_nodes, "threads": given.threads}
    lists = {"op": given.op, "exclude": given.exclude, "exclude_op": given.exclude_op}
    preprocessing = {"size": given.size, "mean": given.mean, "std": given.std, "colors": given.colors,
                     "limit": given.samples}
    with Progress() as progress:
        quantizer = quantized_model(given.model, None if given.data == "-" else given.data, options, lists,
                                    preprocessing, progress if progress.shown else None, logger(NAME, progress))
        quantizer.write(given.output)
    show(given, json.loads(quantizer.json), quantizer.table + written_text(given.output))
    return 0
