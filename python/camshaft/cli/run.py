"""camshaft run: an engine's outputs and how long it takes."""

from __future__ import annotations

import argparse
import pathlib
from typing import Any, get_args

from .output import Progress, logger, show, table

NAME = "run"
HELP = "run an engine or a model, and time it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..config import BuildConfig, InferenceConfig
    from .quantize import add_picture_arguments
    from .settings import add_settings

    add = parser.add_argument
    add("target", metavar="ENGINE|MODEL", help="an engine, or an ONNX model to build one of")
    add("-i", "--input", action="append", default=[], metavar="[NAME:]FILE",
        help="a picture, a .npy file of one input or a .npz file of all; a folder of them; random where it is left "
             "out. May be given again, for several inputs")
    add("-o", "--output", metavar="PATH", help="save the outputs: FILE.npz, or a folder with a file for each sample")
    add("--reference", metavar="FILE", help="outputs as they should be, in a .npz file, or .npy for one output; the "
                                            "exit status is 1 where they differ beyond --atol and --rtol")
    add("--no-timing", action="store_true", help="run once for each sample, and time nothing")
    add("-v", "--verbose", action="store_true", help="print all that the library says")
    add_picture_arguments(add)
    add_settings(parser, InferenceConfig, "settings (docs/configuration.md)")
    group = parser.add_argument_group("of a model, whose engine is built for the shapes that run")
    group.add_argument("--build-config", metavar="FILE", help="settings of the build, in YAML or JSON")
    group.add_argument("--precision", help="types that layers may compute in, as for camshaft build")
    group.add_argument("--device", choices=get_args(BuildConfig.model_fields["device"].annotation),
                       help="what the engine runs on")


def run(arguments: argparse.Namespace) -> int:
    from .. import load
    from .._inputs import random_inputs
    from ..config import InferenceConfig
    from .files import expect_writable, is_engine
    from .measure import compared, measure
    from .settings import config_from

    config = config_from(InferenceConfig, arguments)
    if str(arguments.output).endswith(".npz"):
        expect_writable(arguments.output)
    with Progress() as progress:
        log = logger(NAME, progress, arguments.verbose)
        if is_engine(arguments.target):
            session = load(arguments.target, config, logger=log)
            inputs = [(info.name, session.engine.get_tensor_dtype(info.name), info.shape)
                      for info in session.inputs.values()]
            _check_shapes(config.shapes, inputs)
            samples = _samples(arguments, inputs)
        else:
            plan, samples = _built(arguments, config, log, progress)
            session = load(plan, config, logger=log)
        feeds = [_cast(session, sample) for sample in samples] or [
            random_inputs(session.engine, config.shapes, config.seed, config.profile)]
        outputs = [session(feed) for feed in feeds]
        result: dict[str, Any] = {"target": arguments.target, "inputs": _source(arguments), "samples": len(feeds),
                                  "outputs": {name: _described(value) for name, value in outputs[0].items()}}
        if arguments.reference:
            result["reference"] = compared(outputs[0], _arrays(arguments.reference, list(outputs[0])), config)
        if arguments.output:
            result["saved"] = _save(outputs, pathlib.Path(arguments.output))
        if not arguments.no_timing:
            result["timing"] = measure(session, feeds[0], config, progress)
    show(arguments, result, lambda: _text(result))
    return int(any(each["outside"] for each in result.get("reference", {}).values()))


# Engines of models.

def _built(arguments: argparse.Namespace, config: Any, log: Any, progress: Progress) -> tuple[bytes, list[Any]]:
    """The engine, and the samples."""
    from .. import Builder, build
    from .._build import load_plugins, parsed
    from ..config import BuildConfig
    from .build import Watch

    given = {key: getattr(arguments, key) for key in ("precision", "device") if getattr(arguments, key)}
    settings = BuildConfig.of(arguments.build_config, **given)
    load_plugins(settings)
    network = parsed(arguments.target, Builder(log), log, settings)
    inputs = [(tensor.name, tensor.dtype, tuple(tensor.shape))
              for tensor in (network.get_input(i) for i in range(network.num_inputs))]
    _check_shapes(config.shapes, inputs)
    samples = _samples(arguments, inputs)
    if not settings.all_profiles:
        settings = settings.with_settings({"shapes": {
            name: _shape(name, shape, samples, config.shapes) for name, _, shape in inputs}})
    with Watch(progress) as watch:
        return build(arguments.target, config=settings, progress=watch, logger=log), samples


def _shape(name: str, shape: tuple[int, ...], samples: list[Any], wanted: dict[str, Any]) -> Any:
    """What the run has; of an open batch 1."""
    from .engine_info import shape_text

    if samples:
        sizes = [sample[name].shape for sample in samples]
        return {"min": tuple(map(min, zip(*sizes))), "opt": sizes[0], "max": tuple(map(max, zip(*sizes)))}
    if name in wanted:
        return wanted[name]
    if any(size < 0 for size in shape[1:]):
        example = "x".join(str(size if size > 0 else 1) for size in shape)
        raise ValueError(f"input '{name}' has shape {shape_text(shape)}: say which to run with, "
                         f"such as --shapes {name}:{example}, or give an --input")
    return tuple(1 if size < 0 else size for size in shape)


# Inputs and outputs.

def _check_shapes(shapes: dict[str, Any], inputs: list[Any]) -> None:
    names = [name for name, _, _ in inputs]
    for unknown in [name for name in shapes if name not in names]:
        raise ValueError(f"--shapes names '{unknown}', which is no input; there is {', '.join(names)}")


def _samples(arguments: argparse.Namespace, inputs: list[Any]) -> list[dict[str, Any]]:
    from .._calibration_data import Preprocessing, samples_from

    if not arguments.input:
        return []
    names = [name for name, _, _ in inputs]
    named: dict[str, str] = {}
    for text in arguments.input:
        name = next((name for name in names if text.startswith(f"{name}:")), "")
        if not name and (len(names) > 1 and len(arguments.input) > 1 or named):
            raise ValueError(f"several inputs are given as NAME:FILE, with the names {', '.join(names)}")
        named[name] = text[len(name) + 1:] if name else text
        if not pathlib.Path(named[name]).exists():
            raise ValueError(f"there is no input at '{named[name]}'")
    data: Any = next(iter(named.values()))
    if len(names) > 1 and "" not in named:
        data = {name: _arrays(path, [name])[name] for name, path in named.items()}
    preprocessing = Preprocessing(arguments.size, arguments.mean, arguments.std, arguments.colors, arguments.samples)
    return [dict(zip(names, sample)) for sample in samples_from(data, inputs, preprocessing)]


def _cast(session: Any, sample: dict[str, Any]) -> dict[str, Any]:
    return {name: array.astype(session.inputs[name].dtype, copy=False) for name, array in sample.items()}


def _arrays(path: str, names: list[str]) -> dict[str, Any]:
    """Of a .npz file by name, of a .npy file for the one name there is."""
    import numpy as np

    loaded = np.load(path)
    if hasattr(loaded, "files"):
        return {name: loaded[name] for name in loaded.files}
    if len(names) != 1:
        raise ValueError(f"'{path}' is one array, and there are {', '.join(names)}: give a .npz file")
    return {names[0]: loaded}


def _save(outputs: list[dict[str, Any]], path: pathlib.Path) -> list[pathlib.Path]:
    import numpy as np

    if path.suffix == ".npz":
        if len(outputs) > 1:
            raise ValueError(f"'{path}' is one file, and there are {len(outputs)} samples: give a folder")
        files = [path]
    else:
        path.mkdir(parents=True, exist_ok=True)
        files = [path / f"{i}.npz" for i in range(len(outputs))]
    for file, arrays in zip(files, outputs):
        with file.open("wb") as stream:  # names of outputs may be those of savez's arguments
            np.savez(stream, **arrays)
    return files


def _source(arguments: argparse.Namespace) -> str:
    return ", ".join(arguments.input) or "random"


def _described(value: Any) -> dict[str, Any]:
    import numpy as np

    summary: dict[str, Any] = {"type": str(value.dtype), "shape": list(value.shape)}
    if value.size and value.dtype.kind in "fiu":
        numbers = np.asarray(value, np.float64)
        summary.update(min=float(numbers.min()), mean=float(numbers.mean()), max=float(numbers.max()))
    return summary


def _text(result: dict[str, Any]) -> str:
    from .engine_info import shape_text

    samples = f", {result['samples']} samples, the first of which is shown" if result["samples"] > 1 else ""
    rows = [[name, each["type"], shape_text(each["shape"]), *(f"{each[key]:.5g}" if key in each else ""
                                                              for key in ("min", "mean", "max"))]
            for name, each in result["outputs"].items()]
    parts = [f"inputs: {result['inputs']}{samples}",
             table(["output", "type", "shape", "min", "mean", "max"], rows, flexible=0)]
    if "saved" in result:
        parts.append("saved: " + ", ".join(map(str, result["saved"][:3])) + (" …" if len(result["saved"]) > 3 else ""))
    if "reference" in result:
        parts.append(table(["output", "largest difference", "relative error", "beyond tolerance"],
                           [[name, f"{each['largest_difference']:.3g}", f"{each['relative_error']:.3g}",
                             f"{each['outside']} of {each['elements']}"]
                            for name, each in result["reference"].items()], flexible=0))
    if "timing" in result:
        timing = result["timing"]
        parts.append(table([*timing["milliseconds"], ""], [[*timing["milliseconds"].values(), "ms"]]))
        streams = f" in {timing['streams']} streams" if timing["streams"] > 1 else ""
        parts.append(f"{timing['runs']} runs{streams}, {timing['runs_per_second']:.1f} a second")
    return "\n\n".join(parts)
