"""python -m camshaft.slim IN OUT: slims an ONNX model and says what went."""

import argparse
import json
import sys

from ._slim import largest_difference, slim, slimmed_model  # noqa: F401


def _shape(text):
    name, _, sizes = text.rpartition(":")
    if not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form input:1x3x224x224")
    return name, tuple(int(size) for size in sizes.split("x"))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m camshaft.slim", description=__doc__)
    parser.add_argument("input", metavar="IN")
    parser.add_argument("output", metavar="OUT")
    parser.add_argument("--json", action="store_true", help="say what went as JSON")
    parser.add_argument("--check", action="store_true",
                        help="run both models on random inputs and give the largest difference")
    parser.add_argument("--shape", type=_shape, action="append", default=[],
                        help="of an input, for --check: name:1x3x224x224")
    options = parser.parse_args(arguments)
    slimmed = slimmed_model(options.input)
    slimmed.write(options.output)
    report = json.loads(slimmed.json)
    text = slimmed.table
    if options.check:
        report["difference"] = largest_difference(options.input, options.output, dict(options.shape))
        text += "".join(f"largest relative difference of '{name}': {value:.2g}\n"
                        for name, value in report["difference"].items())
    print(json.dumps(report) if options.json else text.rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
