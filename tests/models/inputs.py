"""Example inputs for the zoo's models, whole or structure-only: shapes worth running and values."""

import numpy
from onnx import helper

# Dimensions by name for the dynamic models of each architecture; all fit in one profile.
PICTURES = ({"batch": 1, "height": 224, "width": 224}, {"batch": 2, "height": 160, "width": 256},
            {"batch": 3, "height": 128, "width": 128})
BATCHES = ({"batch": 1}, {"batch": 2}, {"batch": 3})
TEXTS = ({"batch": 1, "sequence": 32}, {"batch": 2, "sequence": 17}, {"batch": 3, "sequence": 64})
PHOTOS = ({"height": 150, "width": 200}, {"height": 190, "width": 250},
          {"height": 133, "width": 301})


def steps(*sizes, source=()):
    """Dimensions of decoding steps from (batch, sequence[, past]), and lengths of their sources."""
    dims = []
    for index, (batch, sequence, *past) in enumerate(sizes):
        dims.append({"batch": batch, "sequence": sequence})
        if past:
            dims[-1] |= {"past": past[0], "total": past[0] + sequence}
        if source:
            dims[-1]["source"] = source[index]
    return tuple(dims)


DIMS = {
    "resnet50": PICTURES,
    "mobilenet_v3_large": PICTURES,
    "efficientnet_b0": PICTURES,
    "convnext_tiny": PICTURES,
    "vit_b_16": BATCHES,
    "swin_t": BATCHES,
    "bert_base": TEXTS,
    "gpt2": TEXTS,
    "gpt2_past": steps((1, 1, 16), (2, 3, 8), (1, 1, 31), (1, 5, 0)),
    "t5_small_encoder": TEXTS,
    "t5_small_decoder": steps((1, 1), (2, 7), (3, 4), source=(20, 33, 1)),
    "t5_small_decoder_past": steps((1, 1, 16), (2, 3, 8), (1, 1, 31), (3, 4, 0),
                                   source=(20, 33, 1, 20)),
    "whisper_tiny_encoder": ({"batch": 1}, {"batch": 2}),
    "whisper_tiny_decoder": steps((1, 4), (2, 1), (1, 17)),
    "whisper_tiny_decoder_past": steps((1, 1, 16), (2, 3, 8), (1, 1, 31), (1, 4, 0)),
    "clip_text": TEXTS,
    "clip_vision": BATCHES,
    "deeplabv3_resnet50": PICTURES,
    "fasterrcnn_resnet50_fpn": PHOTOS,
    "maskrcnn_resnet50_fpn": PHOTOS,
    "retinanet_resnet50_fpn": PHOTOS,
    "ssd300_vgg16": PHOTOS,
}


def dims(name):
    """The sets of dimensions to run the model called `name` with; a static one has a single one."""
    architecture, _, axes, *_ = name.split("-")
    return DIMS[architecture] if axes == "dynamic" else ({},)


def shapes(model, dims):
    """{input: shape} of `model` with its named dimensions as in `dims`."""
    weights = {tensor.name for tensor in model.graph.initializer}
    return {
        value.name: tuple(dims[d.dim_param] if d.dim_param else d.dim_value
                          for d in value.type.tensor_type.shape.dim)
        for value in model.graph.input if value.name not in weights
    }


def feeds(model, dims, seed=0):
    """{input: array} with sensible values: tokens, masks that pad on the right, normal pixels."""
    random = numpy.random.default_rng(seed)
    types = {v.name: helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)
             for v in model.graph.input}
    return {name: values(name, shape, random).astype(types[name])
            for name, shape in shapes(model, dims).items()}


def values(name, shape, random):
    if name == "input_ids":
        return random.integers(0, 30000, shape)
    if name == "token_type_ids":
        return random.integers(0, 2, shape)
    if name.endswith("attention_mask"):
        batch, length = shape
        kept = numpy.maximum(length - 3 * numpy.arange(batch), 1)
        return numpy.arange(length) < kept[:, None]
    if name == "image" and len(shape) == 3:
        return photo(shape, random)
    return random.standard_normal(shape, dtype=numpy.float32)


def photo(shape, random):
    """Blobs of colour: smooth as photographs are, where resizing does not multiply rounding."""
    channels, height, width = shape
    coarse = random.uniform(0, 1, (channels, height // 16 + 2, width // 16 + 2))
    for axis, size in ((1, height), (2, width)):
        places = numpy.linspace(0, coarse.shape[axis] - 1.001, size)
        weights = (places % 1).reshape((-1, 1) if axis == 1 else (-1,))
        low = places.astype(int)
        coarse = (coarse.take(low, axis) * (1 - weights) + coarse.take(low + 1, axis) * weights)
    return coarse
