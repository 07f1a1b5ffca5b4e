"""camshaft inspect: what is in an engine, and why; or in a model."""

from __future__ import annotations

import argparse
from collections import Counter
import fnmatch
from typing import Any

from .output import hanging, logger, show, table

NAME = "inspect"
HELP = "show what is in an engine, and why, or in a model"
NONE_FITS = "no layer fits what was asked for"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="ENGINE|MODEL", help="an engine or an ONNX model")
    add("--layer", metavar="PATTERN", help="only layers of this name, or of ONNX nodes of this name; * stands for any")
    add("--operator", metavar="PATTERN", help="only layers of this operator: Conv, MatMul")
    add("--kernel", metavar="PATTERN", help="only layers of an engine that run on this kernel: cpu/conv*")
    add("--type", metavar="TYPE", help="only layers that read this type: fp32, int8")
    add("--slowest", type=int, metavar="N", help="the layers that take longest")
    add("--why", action="store_true", help="what each layer was in the model, why it has its kernel, and the others")
    add("--measure", action="store_true", help="times of layers in runs of the whole engine, on random inputs")
    add("--plugins", default="", metavar="LIST", help="libraries of plugins to load for that, with commas between")


def run(arguments: argparse.Namespace) -> int:
    from .files import is_engine

    return (_inspect_engine if is_engine(arguments.target) else _inspect_model)(arguments)


def _kept(layers: list[dict[str, Any]], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Those that the filters leave."""
    def fits(text: str, pattern: str | None) -> bool:
        return pattern is None or fnmatch.fnmatch(text.lower(), pattern.lower())

    kept = [layer for layer in layers
            if any(fits(name, arguments.layer) for name in [layer["name"], *layer.get("onnx", [])])
            and fits(layer["operator"], arguments.operator) and fits(layer.get("kernel", ""), arguments.kernel)
            and fits(layer["type"], arguments.type)]
    if arguments.slowest:
        kept = sorted(kept, key=lambda layer: -(layer.get("milliseconds") or 0))[:arguments.slowest]
    return kept


# Engines.

def _inspect_engine(arguments: argparse.Namespace) -> int:
    from .._session import load, load_for_inspection
    from .engine_info import engine_info

    if arguments.measure:
        session = load(arguments.target, logger=logger(NAME), plugins=arguments.plugins)
        info = engine_info(session.engine)
        _measure(session, info["layers"])
    else:
        info = engine_info(load_for_inspection(arguments.target, logger(NAME)))
    total = sum(layer["milliseconds"] or 0 for layer in info["layers"])
    for layer in info["layers"]:
        layer["share"] = layer["milliseconds"] / total if total and layer["milliseconds"] else None
    all_layers = info["layers"]
    info["layers"] = _kept(all_layers, arguments)
    show(arguments, info, lambda: _engine_text(info, all_layers, arguments))
    return 0


def _measure(session: Any, layers: list[dict[str, Any]], runs: int = 20) -> None:
    """Times of layers within whole runs, in place of those from the build."""
    from .. import IProfiler, infer
    from .._inputs import random_inputs

    class Times(IProfiler):
        def __init__(self) -> None:
            IProfiler.__init__(self)
            self.milliseconds: Counter[str] = Counter()

        def report_layer_time(self, layer_name: str, ms: float) -> None:
            self.milliseconds[layer_name] += ms  # type: ignore[assignment]

    context, times = session.create_context(), Times()
    feeds = random_inputs(session.engine, {})
    for _ in range(3):
        infer(context, feeds)
    context.profiler = times
    for _ in range(runs):
        infer(context, feeds)
    for layer in layers:
        layer["milliseconds"] = times.milliseconds[layer["name"]] / runs


def _engine_text(info: dict[str, Any], all_layers: list[dict[str, Any]], arguments: argparse.Namespace) -> str:
    from .engine_info import device_text, memory_text, shape_text, tensor_table, types_text

    layers = info["layers"]
    types = types_text(info)
    few = "" if len(layers) == len(all_layers) else f", {len(layers)} of them shown"
    head = [f"engine  {info['name'] or arguments.target}", f"device  {device_text(info)}",
            f"layers  {len(all_layers)}" + (f": {types}" if types else "") + few, f"memory  {memory_text(info)}", "",
            tensor_table(info["tensors"]), ""]
    if not any(layer["kernel"] for layer in all_layers):
        head.append("the engine was built without details of its layers; camshaft build --verbosity detailed has them\n")
    if not layers:
        return "\n".join([*head, NONE_FITS])
    if arguments.why:
        return "\n".join(head) + "\n" + "\n\n".join(map(_why, layers))
    rows = [[layer["index"], layer["name"], layer["operator"], shape_text(layer["shape"]), layer["type"],
             layer["kernel"], layer["milliseconds"], "" if layer["share"] is None else f"{100 * layer['share']:.1f} %"]
            for layer in layers]
    header = ["#", "layer", "operator", "output", "type", "kernel", "ms", "share"]
    return "\n".join(head) + "\n" + table(header, rows, flexible=(1, 3, 5))


def _why(layer: dict[str, Any]) -> str:
    time = "" if layer["milliseconds"] is None else f", {layer['milliseconds']:.3f} ms"
    lines = [f"{layer['index']} {layer['name']}: {layer['operator']} in {layer['type']} on {layer['kernel']}{time}"]
    if layer["onnx"]:
        lines.append(hanging("  of  ", ", ".join(layer["onnx"])))
    if layer["why"]:
        lines.append(hanging("  why ", layer["why"]))
    for each in layer["alternatives"]:
        told = [f"{each['TimeMs']:.3f} ms"] if "TimeMs" in each else []
        told += [each["Note"]] if each.get("Note") else []
        lines.append(hanging("  not ", f"{each['Kernel']}: {', '.join(told)}"))
    return "\n".join(lines)


# Models.

def _inspect_model(arguments: argparse.Namespace) -> int:
    from .. import Builder
    from .._build import parsed

    for flag in ("kernel", "why", "measure"):
        if getattr(arguments, flag):
            raise ValueError(f"--{flag} is for engines, and '{arguments.target}' is a model: camshaft build makes one")
    log = logger(NAME)
    builder = Builder(log)
    network = parsed(arguments.target, builder, log)
    layers = [_model_layer(i, network.get_layer(i)) for i in range(network.num_layers)]
    tensors = [_model_tensor(network.get_input(i), "input") for i in range(network.num_inputs)]
    tensors += [_model_tensor(network.get_output(i), "output") for i in range(network.num_outputs)]
    operators = dict(Counter(layer["operator"] for layer in layers).most_common())
    info = {"name": network.name, "tensors": tensors, "operators": operators, "layers": _kept(layers, arguments)}
    is_filtered = any((arguments.layer, arguments.operator, arguments.type, arguments.slowest))
    show(arguments, info, lambda: _model_text(info, len(layers), is_filtered, arguments))
    return 0


def _model_tensor(tensor: Any, mode: str) -> dict[str, Any]:
    from .engine_info import type_text

    return {"name": tensor.name, "mode": mode, "type": type_text(tensor.dtype), "shape": list(tensor.shape)}


def _model_layer(index: int, layer: Any) -> dict[str, Any]:
    from .engine_info import type_text

    first = layer.get_output(0) if layer.num_outputs else None
    return {"index": index, "name": layer.name, "operator": layer.type.name.lower(),
            "type": type_text(first.dtype) if first else "", "shape": list(first.shape) if first else []}


def _model_text(info: dict[str, Any], count: int, is_filtered: bool, arguments: argparse.Namespace) -> str:
    from .engine_info import shape_text, tensor_table

    head = [f"model   {info['name'] or arguments.target}", f"layers  {count}", "", tensor_table(info["tensors"]), ""]
    if is_filtered and not info["layers"]:
        return "\n".join([*head, NONE_FITS])
    if is_filtered:
        rows = [[layer["index"], layer["name"], layer["operator"], shape_text(layer["shape"]), layer["type"]]
                for layer in info["layers"]]
        return "\n".join(head) + "\n" + table(["#", "layer", "operator", "output", "type"], rows, flexible=1)
    return "\n".join(head) + "\n" + table(["operator", "layers"], list(info["operators"].items()))
