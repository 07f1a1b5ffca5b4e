"""python -m camshaft.quantize MODEL DATA OUT: quantises an ONNX model and says how exact each layer is."""

import argparse
import sys

from . import Error
from ._quantize import quantize, quantized_model  # noqa: F401


def _numbers(text):
    values = [float(value) for value in text.split(",")]
    return values[0] if len(values) == 1 else values


def _size(text):
    height, _, width = text.partition("x")
    return int(height), int(width or height)


class ProgressBar:
    """One line that is drawn anew, and closed when a phase ends."""

    WIDTH = 30

    def __init__(self, stream):
        self.stream = stream

    def __call__(self, phase, done, total):
        filled = self.WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (self.WIDTH - filled)
        self.stream.write(f"\r{phase:<20} [{bar}] {done}/{total}" + ("\n" if done >= total else ""))
        self.stream.flush()


def parser(name):
    made = argparse.ArgumentParser(prog=name, description="Quantises an ONNX model: the same model with "
                                   "QuantizeLinear and DequantizeLinear nodes, for any runtime.")
    add = made.add_argument
    add("model", metavar="MODEL", help="the model to read")
    add("data", metavar="DATA", help="a folder of pictures or of .npy or .npz files; - for none (int4)")
    add("output", metavar="OUT", help="the file to write; weights of models over 2 GiB go into OUT.data")
    add("--format", default="int8", help="int8, fp8, or int4 for weights of matrix products alone")
    add("--range", default="entropy", help="where activations are clipped: entropy, mse, percentile or minmax")
    add("--percentile", type=float, default=99.99, help="the share of elements inside, for --range percentile")
    add("--activations", default="int8", help="int8, around zero, which all runtimes take, or uint8")
    add("--no-equalization", action="store_true", help="leave the channels between layers as they are")
    add("--no-bias-correction", action="store_true", help="leave biases as they are")
    add("--rounding", default="gptq", help="of int4 weights: gptq or nearest")
    add("--block-size", type=int, default=32, help="int4 weights that share a scale: 16 to 256")
    add("--int4-nodes", default="dequantize", help="how int4 is written: dequantize or matmulnbits (com.microsoft)")
    add("--op", action="append", default=[], help="quantise nodes of this type only; may be given again")
    add("--exclude", action="append", default=[], metavar="NODE", help="leave this node; may be given again")
    add("--exclude-op", action="append", default=[], metavar="OP", help="leave nodes of this type")
    add("--size", type=_size, help="of pictures, HxW, where the model leaves it open")
    add("--mean", type=_numbers, default=0.0, help="of pixels between 0 and 1: one number, or three with commas")
    add("--std", type=_numbers, default=1.0, help="likewise")
    add("--colors", default="rgb", choices=["rgb", "bgr"])
    add("--samples", type=int, help="use so many of the data at most")
    add("--threads", type=int, default=0)
    add("--json", action="store_true", help="print the report as JSON")
    return made


def main(arguments=None, name="python -m camshaft.quantize"):
    given = parser(name).parse_args(arguments)
    options = {"format": given.format, "range": given.range, "percentile": given.percentile,
               "activations": given.activations, "equalization": "off" if given.no_equalization else "on",
               "bias_correction": "off" if given.no_bias_correction else "on",
               "rounding": given.rounding, "block_size": given.block_size,
               "int4_nodes": given.int4_nodes, "threads": given.threads}
    lists = {"op": given.op, "exclude": given.exclude, "exclude_op": given.exclude_op}
    preprocessing = {"size": given.size, "mean": given.mean, "std": given.std, "colors": given.colors,
                     "limit": given.samples}
    progress = ProgressBar(sys.stderr) if sys.stderr.isatty() else None
    try:
        quantizer = quantized_model(given.model, None if given.data == "-" else given.data, options, lists,
                                    preprocessing, progress, _quiet())
        quantizer.write(given.output)
    except (Error, OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    print(quantizer.json if given.json else quantizer.table.rstrip())
    return 0


def _quiet():
    """Errors are raised, and printed once."""
    from . import ILogger

    class Quiet(ILogger):
        def log(self, severity, message):
            if severity == ILogger.Severity.WARNING:
                print(f"camshaft-quantize: {message}", file=sys.stderr)

    return Quiet()


if __name__ == "__main__":
    sys.exit(main())
