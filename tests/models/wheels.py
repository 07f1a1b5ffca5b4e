"""The trained models inside installed wheels, found without importing the packages around them."""

import dataclasses
import importlib.util
import pathlib

import numpy
from PIL import Image, ImageDraw, ImageFont


@dataclasses.dataclass(frozen=True)
class WheelModel:
    """One model with the input shapes worth running, all of them inside one profile."""

    name: str
    package: str
    file: str
    input: str
    shapes: tuple

    @property
    def path(self):
        spec = importlib.util.find_spec(self.package)
        if spec is None:
            raise FileNotFoundError(f"{self.package} is not installed: run scripts/setup.sh")
        return pathlib.Path(spec.submodule_search_locations[0]) / self.file

    def feeds(self, shape, seed=0):
        """Inputs of this shape: bytes of a file for magika, pictures of text for the others."""
        random = numpy.random.default_rng(seed)
        if self.name == "magika":  # 256 is its padding token
            return {self.input: random.integers(0, 257, shape, dtype=numpy.int32)}
        return {self.input: numpy.stack([picture(shape[1:], random) for _ in range(shape[0])])}


def picture(shape, random):
    """A picture (channels, height, width) in -1…1: lines of random letters with some noise."""
    _, height, width = shape
    canvas = Image.new("RGB", (width, height), (225, 215, 235))
    draw = ImageDraw.Draw(canvas)
    font = ImageFont.load_default(30)
    for top in range(0, height, 48):
        letters = "".join(random.choice(list("ABCDEFGHKLMNRSTabcdefghkmnrst0123456789 "), 80))
        draw.text((4, top + 4), letters, (30, 25, 60), font)
    pixels = numpy.asarray(canvas, numpy.float32).transpose(2, 0, 1) / 127.5 - 1
    return pixels + random.normal(0, 0.02, shape).astype(numpy.float32)


MODELS = {
    model.name: model
    for model in (
        # Text detection, any height and width that are multiples of 32.
        WheelModel("rapidocr_det", "rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx", "x",
                   ((1, 3, 320, 320), (1, 3, 480, 640), (2, 3, 256, 416), (1, 3, 736, 736))),
        # Text recognition: lines 48 high, any width.
        WheelModel("rapidocr_rec", "rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx", "x",
                   ((1, 3, 48, 320), (1, 3, 48, 100), (6, 3, 48, 192), (2, 3, 48, 517))),
        # Which way up a line of text is.
        WheelModel("rapidocr_cls", "rapidocr_onnxruntime",
                   "models/ch_ppocr_mobile_v2.0_cls_infer.onnx", "x",
                   ((1, 3, 48, 192), (6, 3, 48, 192), (2, 3, 48, 100))),
        # File type from the first and last 1,024 bytes.
        WheelModel("magika", "magika", "models/standard_v3_3/model.onnx", "bytes",
                   ((1, 2048), (3, 2048), (16, 2048))),
        # YOLOv8n detection, any height and width that are multiples of 32.
        WheelModel("nudenet", "nudenet", "320n.onnx", "images",
                   ((1, 3, 320, 320), (2, 3, 256, 416), (1, 3, 640, 640), (4, 3, 320, 320))),
    )
}
