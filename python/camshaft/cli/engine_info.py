"""What an engine says about itself, as plain data: for `camshaft build`, `inspect` and `run`."""

from __future__ import annotations

from collections import Counter
import json
from typing import Any

from .output import size_text, table, time_text

def engine_info(engine: Any) -> dict[str, Any]:
    """Device, memory, tensors and layers. Of layers there is more where it was built with verbosity detailed."""
    from .. import LayerInformationFormat

    inspector = engine.create_engine_inspector()
    told = json.loads(inspector.get_engine_information(LayerInformationFormat.JSON))
    profiles = range(engine.num_optimization_profiles)
    layers = [_layer(i, each) for i, each in enumerate(told["Layers"])]
    return {"name": told.get("Name", ""), "device": told.get("Device", ""), "built_for": told.get("BuiltFor", ""),
            "weights_bytes": told.get("WeightsBytes", 0), "activation_bytes": engine.device_memory_size_v2,
            "tensors": [_tensor(engine, engine.get_tensor_name(i), profiles) for i in range(engine.num_io_tensors)],
            "layers": layers, "types": dict(Counter(layer["type"] for layer in layers).most_common())}


def _tensor(engine: Any, name: str, profiles: range) -> dict[str, Any]:
    is_input = engine.get_tensor_mode(name).name == "INPUT"
    info = {"name": name, "mode": "input" if is_input else "output", "type": type_text(engine.get_tensor_dtype(name)),
            "shape": list(engine.get_tensor_shape(name))}
    if is_input:
        info["profiles"] = [dict(zip(("min", "opt", "max"), map(list, engine.get_tensor_profile_shape(name, profile))))
                            for profile in profiles]
    return info


def type_text(dtype: Any) -> str:
    name = str(dtype.name)
    return {"FLOAT": "fp32", "HALF": "fp16", "DOUBLE": "fp64"}.get(name, name.lower())


def _layer(index: int, told: Any) -> dict[str, Any]:
    if isinstance(told, str):  # a name is all that the engine remembers
        return {"index": index, "name": told, "operator": "", "kernel": "", "type": "", "milliseconds": None,
                "why": "", "onnx": [], "alternatives": [], "shape": []}
    tensors = told.get("Inputs") or told.get("Outputs") or [{}]
    outputs = told.get("Outputs") or [{}]
    return {"index": index, "name": told["Name"], "operator": told.get("LayerType", ""),
            "kernel": told.get("TacticName", ""), "type": tensors[0].get("Datatype", "").lower(),
            "milliseconds": told.get("TimeMs"), "why": told.get("Why", ""), "onnx": told.get("OriginNodes", []),
            "alternatives": told.get("Alternatives", []), "shape": outputs[0].get("Dimensions", [])}


def shape_text(shape: Any) -> str:
    return "x".join("?" if size < 0 else str(size) for size in shape) or "scalar"


def tensor_table(tensors: list[dict[str, Any]]) -> str:
    def ranges(tensor: dict[str, Any]) -> str:
        texts = []
        for profile in tensor.get("profiles", []):
            shapes = [shape_text(profile[key]) for key in ("min", "opt", "max")]
            texts.append(shapes[0] if len(set(shapes)) == 1 else "..".join(shapes))
        return "" if texts == [shape_text(tensor["shape"])] else ", ".join(texts)

    rows = [[each["name"], each["mode"], each["type"], shape_text(each["shape"]), ranges(each)] for each in tensors]
    header = ["tensor", "", "type", "shape", "profile (min..opt..max)"]
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return table(header, rows, flexible=0)


def device_text(info: dict[str, Any]) -> str:
    name = "CPU" if info["device"] == "cpu" else info["device"]
    return f"{name} ({info['built_for']})" if info["built_for"] else name


def memory_text(info: dict[str, Any]) -> str:
    return (f"{size_text(info['weights_bytes'])} of weights, "
            f"{size_text(info['activation_bytes'])} for each context that runs")


def types_text(info: dict[str, Any]) -> str:
    return ", ".join(f"{count} {name}" for name, count in info["types"].items() if name)


def by_kernel(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Layers, time and share of each kernel, the longest first; none where nothing was timed."""
    total = sum(layer["milliseconds"] or 0 for layer in layers)
    groups: dict[str, list[float]] = {}
    for layer in layers:
        groups.setdefault(layer["kernel"], []).append(layer["milliseconds"] or 0)
    rows = [{"kernel": kernel, "layers": len(times), "milliseconds": sum(times), "share": sum(times) / total}
            for kernel, times in groups.items() if total and kernel]
    return sorted(rows, key=lambda row: -row["milliseconds"])


def kernels_text(rows: list[dict[str, Any]], most: int = 8) -> str:
    """Where the time goes, from by_kernel()."""
    if not rows:
        return ""
    total = sum(row["milliseconds"] for row in rows)
    shown = [[row["kernel"], row["layers"], row["milliseconds"], f"{100 * row['share']:.0f} %"] for row in rows[:most]]
    if len(rows) > most:
        rest = sum(row["milliseconds"] for row in rows[most:])
        shown.append([f"{len(rows) - most} others", sum(row["layers"] for row in rows[most:]), rest,
                      f"{100 * rest / total:.0f} %"])
    return (f"where the time goes: {time_text(total / 1000)}, each layer timed alone\n"
            + table(["kernel", "layers", "ms", "share"], shown, flexible=0))
