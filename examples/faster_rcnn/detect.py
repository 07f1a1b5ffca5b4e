"""Finds objects in a picture with a detector such as Faster R-CNN, and draws boxes around them, in
the style of TensorRT 8 that tutorials teach: bindings by number, buffers allocated beforehand.

    python examples/faster_rcnn/detect.py faster_rcnn.onnx picture.jpg found.png [--threshold 0.7]

The model takes `image`, f32[3, height, width] from 0 to 1, and gives `boxes`, `labels` and `scores`
of as many objects as there are; export.py writes one.
"""

import argparse
import warnings

import numpy as np
from PIL import Image, ImageDraw

import camshaft as trt

LOGGER = trt.Logger(trt.Logger.WARNING)


class HostDeviceMem:
    """Memory on the host; on a GPU there is a second buffer beside it."""

    def __init__(self, shape, dtype):
        self.host = np.zeros(trt.volume(shape), dtype)
        self.shape = tuple(shape)

    def __int__(self):
        return int(self.host.ctypes.data)

    def array(self):
        return self.host.reshape(self.shape)


def build_engine(path, shape):
    """An engine for pictures from half this size to twice."""
    explicit_batch = 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)
    with trt.Builder(LOGGER) as builder, builder.create_network(explicit_batch) as network, \
            trt.OnnxParser(network, LOGGER) as parser, open(path, "rb") as model:
        if not parser.parse(model.read()):
            raise SystemExit("\n".join(parser.get_error(i).desc() for i in range(parser.num_errors)))
        config = builder.create_builder_config()
        config.default_device_type = trt.DeviceType.CPU
        config.max_workspace_size = 1 << 30
        channels, height, width = shape
        profile = builder.create_optimization_profile()
        profile.set_shape(network.get_input(0).name, (channels, height // 2, width // 2), shape,
                          (channels, 2 * height, 2 * width))
        config.add_optimization_profile(profile)
        return builder.build_engine(network, config)


def allocate_buffers(engine, context):
    """Memory for every binding; an output of as many objects as there are gets room for the most."""
    buffers = {}
    for binding in engine:
        dtype = trt.nptype(engine.get_binding_dtype(binding))
        buffers[binding] = HostDeviceMem(context.get_binding_shape(engine[binding]), dtype)
    return buffers


def detect(engine, image):
    """Boxes, labels and scores. What lies behind the last object is as it was: a score of zero."""
    with engine.create_execution_context() as context:
        context.set_binding_shape(engine.get_binding_index("image"), image.shape)
        buffers = allocate_buffers(engine, context)
        buffers["image"].host[:] = image.ravel()
        if not context.execute_async_v2(bindings=[int(buffer) for buffer in buffers.values()], stream_handle=0):
            raise SystemExit("the run failed")
    return [buffers[name].array() for name in ("boxes", "labels", "scores")]


def draw(picture, boxes, labels, scores):
    pen = ImageDraw.Draw(picture)
    for box, label, score in zip(boxes, labels, scores):
        pen.rectangle([float(edge) for edge in box], outline="red", width=2)
        pen.text((float(box[0]) + 4, float(box[1]) + 2), f"{label}: {score:.0%}", fill="red")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("model")
    arguments.add_argument("picture")
    arguments.add_argument("found", help="the picture to write")
    arguments.add_argument("--threshold", type=float, default=0.7)
    options = arguments.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)  # each of the older calls names the newer one

    picture = Image.open(options.picture).convert("RGB")
    image = np.asarray(picture, np.float32).transpose(2, 0, 1) / 255
    engine = build_engine(options.model, image.shape)
    found = detect(engine, image)
    kept = found[2] > options.threshold
    boxes, labels, scores = [values[kept] for values in found]
    for box, label, score in zip(boxes, labels, scores):
        print(f"{score:.2f}  class {label}  at {box.round().astype(int).tolist()}")
    draw(picture, boxes, labels, scores)
    picture.save(options.found)
    print(f"{len(boxes)} objects in {options.found}")


if __name__ == "__main__":
    main()
