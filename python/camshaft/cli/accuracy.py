"""camshaft accuracy: the fastest engine that keeps a bound on its error."""

from __future__ import annotations

import argparse
import json
import pathlib

from .output import Progress, logger, show

NAME = "accuracy"
HELP = "build the fastest mix of precisions that keeps a bound on the error"


def _bound(text: str) -> tuple[str | None, float]:
    output, _, error = text.rpartition("=")
    try:
        return output or None, float(error)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number nor of the form output=0.01") from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..config import BuildConfig
    from .settings import add_settings

    add = parser.add_argument
    add("model", metavar="MODEL", help="the ONNX model to read")
    add("--data", metavar="DATA", required=True,
        help="a folder of pictures or of .npy or .npz files; every other one is held out")
    add("--max-error", type=_bound, action="append", required=True, metavar="[OUTPUT=]ERROR",
        help="the largest relative error of the outputs, or of one of them; may be given again")
    add("-o", "--output", metavar="ENGINE", required=True, help="the engine to write")
    add("--report", metavar="FILE", help="write the report, with the recipe, as JSON")
    add("--sensitivity-samples", type=int, default=8, metavar="N", help="lower each layer alone on so many samples")
    add_settings(parser, BuildConfig, "settings (docs/configuration.md)")


def run(given: argparse.Namespace) -> int:
    from ..accuracy import tune_precision
    from ..config import BuildConfig
    from .files import expect_model, expect_writable
    from .settings import config_from

    expect_model(given.model)
    expect_writable(given.output, given.report)
    config = config_from(BuildConfig, given)
    by_output = {output: error for output, error in given.max_error if output}
    for_all = [error for output, error in given.max_error if not output]
    if by_output and for_all:
        raise ValueError("--max-error is given for all outputs and for one: give it for each")
    with Progress() as progress:
        result = tune_precision(given.model, given.data, max_error=by_output or for_all[-1], config=config,
                                sensitivity_samples=given.sensitivity_samples,
                                progress=progress if progress.shown else None, logger=logger(NAME, progress))
    pathlib.Path(given.output).write_bytes(result.engine)
    if given.report:
        pathlib.Path(given.report).write_text(json.dumps(result.report, indent=1), encoding="utf-8")
    show(given, result.report, result.table)
    return 0
