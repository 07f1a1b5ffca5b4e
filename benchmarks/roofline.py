"""What layers compute and move, beside what the machine can.

Operations of products, convolutions and attention, and the bytes of all operands, follow from the
inspector's JSON and, for the sizes of convolution kernels, from the model. Peaks are measured by
build/bin/cpu_peaks.
"""

import json
import math
import pathlib
import subprocess

import onnx

ROOT = pathlib.Path(__file__).parents[1]
PEAKS = ROOT / "build" / "bin" / "cpu_peaks"
BYTES = {"FP64": 8, "Int64": 8, "UInt64": 8, "FP32": 4, "Int32": 4, "UInt32": 4, "FP16": 2, "BFloat16": 2,
         "Int16": 2, "UInt16": 2, "Int4": 0.5, "UInt4": 0.5, "FP4": 0.5}  # others have 1
CONVOLUTIONS = {"Conv", "ConvInteger", "QLinearConv", "ConvTranspose"}


def peaks(threads):
    """{"f32": operations per second, ..., "read": bytes per second}; empty where it was not built."""
    if not PEAKS.exists():
        return {}
    return json.loads(subprocess.run([PEAKS, str(threads)], capture_output=True, text=True, check=True).stdout)


def patches(path):
    """{name of a convolution: elements of its kernel for one channel}, by which operations() multiplies."""
    graph = onnx.load(path, load_external_data=False).graph
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    for node in graph.node:  # weights that are dequantised or constants
        if node.op_type == "Constant" and node.attribute[0].HasField("t"):
            shapes[node.output[0]] = list(node.attribute[0].t.dims)
        elif node.op_type in ("DequantizeLinear", "Cast", "Identity") and node.input[0] in shapes:
            shapes[node.output[0]] = shapes[node.input[0]]
    sizes = {}
    for node in graph.node:
        if node.op_type in CONVOLUTIONS:
            weights = shapes.get(node.input[3 if node.op_type == "QLinearConv" else 1])
            sizes |= {node.name: math.prod(weights[1:])} if weights else {}
    return sizes


def count(tensor):
    return math.prod(tensor["Dimensions"])


def operations(layer, patch_sizes):
    """Multiplications and additions; 0 for what is bound by memory anyway."""
    inputs, outputs, kind = layer["Inputs"], layer["Outputs"], layer["LayerType"]
    if kind.startswith("Conv"):  # of integers too
        # Each result is a sum over its patch; of a transposed one, each input is added to a patch.
        patch = next((patch_sizes[name] for name in layer["OriginNodes"] if name in patch_sizes), 0)
        return 2 * count((inputs if kind == "ConvTranspose" else outputs)[0]) * patch
    if "MatMul" in kind or kind == "Gemm":
        return 2 * count(outputs[0]) * inputs[0]["Dimensions"][-2 if layer.get("TransposeA") else -1]
    if kind == "Attention" and len(inputs) >= 3:
        # Whether heads are apart [batch, heads, length, size] or side by side [batch, length, heads * size].
        queries, keys = (inputs[i]["Dimensions"][-2] for i in (0, 1))
        width = count(outputs[0]) // queries  # of all heads' values
        return 4 * queries * keys * width
    return 0


def bytes_moved(layer):
    """Of all operands, each once. Of tables only what is looked up."""
    weights = layer.get("Weights")
    tensors = layer["Inputs"] + layer["Outputs"]
    moved = sum(count(tensor) * BYTES.get(tensor["Datatype"], 1) for tensor in tensors)
    if layer["LayerType"].startswith("Gather"):
        return moved + sum(count(tensor) * BYTES.get(tensor["Datatype"], 1) for tensor in layer["Outputs"])
    return moved + (weights["Count"] * BYTES.get(weights["Type"], 1) if weights else 0)


def precision(kernel):
    """Of a kernel's products, and how many of them stand for one."""
    if "split_bf16" in kernel:
        return "bf16", 3  # halves of f32 numbers
    return next(((name, 1) for name, part in (("int8", "int8"), ("bf16", "bf16")) if part in kernel), ("f32", 1))


def add_shares(layers, machine):
    """Adds to each layer which part of the machine's peaks it reaches, where both are known."""
    for layer in layers:
        seconds = layer["ms"] / 1e3
        kind, products = precision(layer["kernel"])
        if seconds and layer["operations"] and kind in machine:
            layer["compute"] = layer["operations"] * products / seconds / machine[kind]
        if seconds and "read" in machine:
            layer["memory"] = layer["bytes"] / seconds / machine["read"]


def table(layers, rows):
    """The slowest layers as text."""
    slowest = sorted(layers, key=lambda layer: -layer["ms"])
    total = sum(layer["ms"] for layer in layers)
    lines = [f"  {total:8.3f} ms in {len(layers)} layers", "        time  share  compute  memory  kernel"]
    for layer in slowest[:rows]:
        compute, memory = (f"{layer[key]:.0%}" if key in layer else "" for key in ("compute", "memory"))
        lines.append(f"  {layer['ms']:7.3f} ms {layer['ms'] / total:6.1%} {compute:>8} {memory:>7}  "
                     f"{layer['kernel']:28} {layer['name'][:60]}")
    return "\n".join(lines)
