"""What the page shows of each layer, from the inspector's words and the times of a run."""

from __future__ import annotations

from typing import Any

from . import memory
from .engines import Described
from .words import fused, sentence, title

KINDS = {
    "conv": ("Conv", "DeformColumns", "FoldColumns"),
    "matmul": ("MatMul", "NormMatMul", "MomentMatMul", "Einsum", "Recurrent"),
    "attention": ("Attention", "LinearAttention", "DeformableAttention"),
    "pointwise": ("Pointwise", "DynamicQuantize", "Random"),
    "norm": ("LayerNorm", "GroupNorm", "PointwiseNorm", "RowMoments", "Lrn", "Softmax", "Reduce", "ArgReduce", "CumSum"),
    "pool": ("Pool", "Resize", "GridSample", "Roi"),
    "move": ("Transpose", "Reshape", "Identity", "BitCast", "Expand", "Slice", "Concat", "Pad", "Tile", "Trilu",
             "Gather", "Scatter", "OneHot", "Copy", "ReverseSequence"),
}
PRECISIONS = {"FP32": "f32", "FP16": "f16", "BFloat16": "bf16", "FP64": "f64", "FP8": "f8", "FP4": "f4",
              "Int8": "int8", "UInt8": "int8", "Int4": "int4", "UInt4": "int4"}
SHOWN = {"Name", "LayerType", "Inputs", "Outputs", "TacticName", "TacticValue", "Alternatives", "Why", "TimeMs",
         "Bodies", "Metadata", "Origin", "OriginNodes", "StreamId", "Weights", "WeightBlocks", "Workspace",
         "BytesMoved", "Operations", "ParameterType"}  # not among the parameters, as they have places of their own
ONNX_LAYER = "[ONNX Layer: "


def kind_of(layer_type: str) -> str:
    return next((kind for kind, names in KINDS.items() if layer_type.startswith(names)), "other")


def origins_of(layer: dict[str, Any]) -> list[str]:
    """The ONNX nodes whose work it does; of networks without any, the layers of the network."""
    metadata = str(layer.get("Metadata", "")).split("\x1e")
    nodes = layer.get("OriginNodes", [])
    if len(metadata) != len(nodes) or not any(text.startswith(ONNX_LAYER) for text in metadata):
        return list(nodes)
    return [node for node, text in zip(nodes, metadata) if text.startswith(ONNX_LAYER)]


def precision_of(layer: dict[str, Any]) -> str:
    """Of its arithmetic, as far as the kernel's name and the operands tell."""
    kernel, kind = layer.get("TacticName", ""), layer.get("LayerType", "")
    if "split_bf16" in kernel or ("bf16" in kernel and kind_of(kind) in ("conv", "matmul", "attention")):
        return "bf16"
    if "_f16_" in kernel or kernel.endswith("_f16"):
        return "f16"
    if kind.endswith("Integer") or "int8" in kernel:
        return "int8"
    types = [tensor["Datatype"] for tensor in layer["Outputs"] + layer["Inputs"]]
    floats = [each for each in types if each in ("FP32", "FP16", "BFloat16", "FP64", "FP8", "FP4")]
    if kind_of(kind) == "move" and types:
        return PRECISIONS.get(types[0], types[0].lower())
    return PRECISIONS[floats[0]] if floats else PRECISIONS.get(types[0], types[0].lower()) if types else ""


def flat(layers: list[Any], depth: int = 0, parent: int = -1, into: list[Any] | None = None) -> list[Any]:
    """(layer, depth, index of the layer that runs it), bodies of branches and loops behind it."""
    into = [] if into is None else into
    for layer in layers:
        described: dict[str, Any] = layer if isinstance(layer, dict) else {"Name": str(layer)}
        into.append((described, depth, parent))
        index = len(into) - 1
        for body in described.get("Bodies", []):
            flat(body, depth + 1, index, into)
    return into


def _tensor(tensor: dict[str, Any], writers: list[int] | None = None) -> dict[str, Any]:
    place = tensor.get("Memory", {})
    shown = {"name": tensor["Name"], "dims": tensor["Dimensions"], "type": tensor["Datatype"]}
    if "Bytes" in place:
        shown["bytes"] = place["Bytes"]
    shown["place"] = place.get("Place", "")
    if "Offset" in place:
        shown["offset"] = place["Offset"]
    if "Binding" in place:
        shown["binding"] = place["Binding"]
    if writers is not None:
        shown["from"] = writers
    return shown


class _Table:
    """Lists of alternatives, each once: layers alike have the same."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.indices: dict[str, int] = {}

    def index(self, row: Any) -> int:
        key = repr(row)
        if key not in self.indices:
            self.indices[key] = len(self.rows)
            self.rows.append(row)
        return self.indices[key]


def _alternative(each: dict[str, Any]) -> dict[str, Any]:
    shown = {"kernel": each["Kernel"], "note": each["Note"]}
    return shown | ({"ms": each["TimeMs"]} if "TimeMs" in each else {})


def _layer(layer: dict[str, Any], writers: list[list[int]], alternatives: _Table) -> dict[str, Any]:
    weights = {block["Offset"]: block.get("Bytes", 0) for block in layer.get("WeightBlocks", [])}
    shown: dict[str, Any] = {
        "name": layer["Name"], "type": layer["LayerType"], "kind": kind_of(layer["LayerType"]),
        "title": title(layer), "words": sentence(layer), "fused": len(fused(layer)),
        "kernel": layer.get("TacticName", ""), "why": layer.get("Why", ""), "precision": precision_of(layer),
        "origins": origins_of(layer), "weights": sum(weights.values()),
        "workspace": layer.get("Workspace", {}).get("Bytes", 0),
        "inputs": [_tensor(tensor, each) for tensor, each in zip(layer["Inputs"], writers)],
        "outputs": [_tensor(tensor) for tensor in layer["Outputs"]],
        "alternatives": alternatives.index([_alternative(each) for each in layer.get("Alternatives", [])]),
        "parameters": {key: value for key, value in layer.items() if key not in SHOWN},
    }
    for key, name in (("Operations", "operations"), ("BytesMoved", "bytes"), ("TimeMs", "builderMs")):
        if key in layer:
            shown[name] = layer[key]
    return shown


def _bare(layer: dict[str, Any]) -> dict[str, Any]:
    """A layer of which the engine tells the name alone."""
    return {"name": layer["Name"], "type": "", "kind": "other", "title": layer["Name"], "words": "", "fused": 0,
            "kernel": "", "why": "", "precision": "", "origins": [], "weights": 0, "workspace": 0, "inputs": [],
            "outputs": [], "alternatives": 0, "parameters": {}}


def _set_times(layers: list[dict[str, Any]], described: Described) -> str:
    """Each layer's time, and where it is from: measured, builder or none."""
    if described.milliseconds:
        for layer in layers:
            if layer["name"] in described.milliseconds:
                layer["ms"] = described.milliseconds[layer["name"]]
        return "measured"
    for layer in layers:
        if "builderMs" in layer:
            layer["ms"] = layer["builderMs"]
    return "builder" if any("ms" in layer for layer in layers) else "none"


def _notes(layers: list[dict[str, Any]], detailed: bool, described: Described) -> list[str]:
    notes = list(described.notes)
    if not layers:
        notes.append("The engine tells nothing of its layers: it was built with profiling verbosity NONE.")
    elif not detailed:
        notes.append("The engine tells the names of its layers alone.")
    if not detailed:
        notes.append("Build it again with detailed profiling verbosity (trtexec --profilingVerbosity=detailed, or "
                     "config.profiling_verbosity = ProfilingVerbosity.DETAILED) for all there is to see.")
    return notes


def engine_data(described: Described) -> dict[str, Any]:
    """All the page knows of one engine."""
    information = described.information
    rows = flat(information.get("Layers", []))
    detailed = bool(rows) and all("LayerType" in layer for layer, _, _ in rows)
    alternatives = _Table()
    alternatives.index([])
    top = [layer for layer, depth, _ in rows if depth == 0] if detailed else []
    number = [i for i, (_, depth, _) in enumerate(rows) if depth == 0]
    writers = {number[i]: [[number[w] for w in each] for each in found]
               for i, found in enumerate(memory.producers(top))}
    layers = []
    for i, (layer, depth, parent) in enumerate(rows):
        found = writers.get(i, [[] for _ in layer.get("Inputs", [])])
        shown = _layer(layer, found, alternatives) if detailed else _bare(layer)
        layers.append(shown | ({"depth": depth, "parent": parent} if depth else {}))
    times = _set_times(layers, described)
    blocks = memory.plan(top)
    live = memory.live_bytes(blocks, len(top))
    return {
        "name": information.get("Name", ""), "file": described.file, "device": information.get("Device", ""),
        "builtFor": information.get("BuiltFor", ""), "detailed": detailed, "profile": described.profile,
        "profiles": described.profiles, "weightsBytes": information.get("WeightsBytes", 0),
        "arenaBytes": information.get("ActivationBytes", 0), "tensors": described.tensors, "times": times,
        "runs": described.runs, "totalMs": sum(layer.get("ms", 0) for layer in layers if "depth" not in layer),
        "notes": _notes(layers, detailed, described), "layers": layers, "alternatives": alternatives.rows,
        "memory": {"blocks": blocks, "live": live, "steps": number},
    }
