"""Loads the structure-only models of this folder, their weights made again from a seed.

    model = regenerate.load("resnet50-dynamo20-static")     # an onnx.ModelProto

A model here is an ONNX file, compressed by xz, in which a large tensor keeps its name, type and
shape while its data are "external" at a location that says how to make them (strip.py wrote it):

    location "normal"     mean, std        weights of any sign
    location "filters"    mean, std        the same, each filter (row of axis 0) shifted to mean 0
    location "lognormal"  mean, std        weights that must stay positive: variances, scales
    location "zlib"       data (base64)    constants with a meaning: masks, indices

Numbers depend on the tensor's name only, so a file can change without its weights changing.
"""

import base64
import lzma
import pathlib
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy
import onnx
from onnx import TensorProto

FOLDER = pathlib.Path(__file__).parent
SUFFIX = ".onnx.xz"
SEED = 20


def names():
    """The names of all models, sorted."""
    return sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob(f"*{SUFFIX}"))


def structure(name):
    """The model called `name` as it is stored, recipes in place of large tensors."""
    return onnx.load_from_string(lzma.decompress((FOLDER / (name + SUFFIX)).read_bytes()))


def load(name):
    """The model called `name`, complete."""
    return filled(structure(name))


def filled(structure):
    """A copy of a structure-only model with its tensors made."""
    model = onnx.ModelProto()
    model.CopyFrom(structure)
    recipes = [pair for pair in tensors(model.graph)
               if pair[1].data_location == TensorProto.EXTERNAL]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda pair: fill(*pair), recipes))
    return model


def tensors(graph):
    """(name, tensor) for all that hold data: initialisers, constants, and those of subgraphs."""
    for tensor in graph.initializer:
        yield tensor.name, tensor
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield node.output[0], attribute.t
            elif attribute.type == onnx.AttributeProto.GRAPH:
                yield from tensors(attribute.g)


def fill(name, tensor):
    """Replaces the recipe in `tensor` by the data it describes."""
    recipe = {entry.key: entry.value for entry in tensor.external_data}
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    if recipe["location"] == "zlib":
        tensor.raw_data = zlib.decompress(base64.b64decode(recipe["data"]))
        return
    mean, std = float(recipe["mean"]), float(recipe["std"])
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    random = numpy.random.Generator(numpy.random.PCG64([SEED, zlib.crc32(name.encode())]))
    values = random.standard_normal(tuple(tensor.dims), dtype=numpy.float32)
    if recipe["location"] == "lognormal":
        # exp(m + s·n) has this mean and deviation when s² = ln(1 + std²/mean²), m = ln mean − s²/2.
        variance = numpy.log1p((std / mean) ** 2)
        values *= numpy.float32(variance**0.5)
        values += numpy.float32(numpy.log(mean) - variance / 2)
        numpy.exp(values, out=values)
    else:
        if recipe["location"] == "filters":
            values -= values.mean(axis=tuple(range(1, values.ndim)), keepdims=True)
        values *= numpy.float32(std)
        values += numpy.float32(mean)
    tensor.raw_data = values.astype(dtype, copy=False).tobytes()
