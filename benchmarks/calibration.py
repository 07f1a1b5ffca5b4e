"""8-bit engines by entropy calibration beside ONNX Runtime's quantize_static on the same data, and f32.

    .venv/bin/python benchmarks/calibration.py [MODEL...] [--threads N] [--seconds S]

Trained models of PyPI wheels; pictures are those of the scikit-image wheel and text that Pillow draws. Errors are
relative L2 distances to each runtime's own f32 results, the mean over pictures that calibration did not see; "read" is
the share of the f32 model's characters that are read as it reads them.
"""

import argparse
import difflib
import importlib.util
import logging
import pathlib
import statistics
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnx import version_converter
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process
from PIL import Image, ImageDraw, ImageFont

import camshaft as trt

CALIBRATION, TESTS = 32, 16
PER_CHANNEL = 13  # the opset that has scales for each channel


def wheel(package):
    return pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0])


def fonts():
    return sorted(pathlib.Path("/usr/share/fonts").rglob("*.ttf")) or [None]


def drawn_text(random, height, width):
    """Lines of words of this file in several sizes, noisy and unevenly lit."""
    words, paths = pathlib.Path(__file__).read_text(encoding="utf-8").split(), fonts()
    background = int(random.integers(150, 256))
    picture = Image.new("RGB", (width, height), (background,) * 3)
    draw, y = ImageDraw.Draw(picture), int(random.integers(2, 8))
    while y < height - 24:
        size, path = int(random.integers(22, 36)), paths[random.integers(len(paths))]
        font = ImageFont.truetype(str(path), size) if path else ImageFont.load_default(size)
        line = " ".join(random.choice(words, 7))
        draw.text((int(random.integers(2, 12)), y), line, (int(random.integers(0, 90)),) * 3, font=font)
        y += int(size * random.uniform(1.3, 2))
    light = numpy.linspace(random.uniform(0.6, 1), 1, width)[None, :, None]
    return numpy.clip(numpy.asarray(picture) * light + random.normal(0, 5, (height, width, 3)), 0, 255)


def photograph(random, height, width):
    """A part of one of scikit-image's pictures."""
    paths = sorted(path for path in (wheel("skimage") / "data").iterdir() if path.suffix in (".png", ".jpg"))
    picture = Image.open(paths[random.integers(len(paths))]).convert("RGB")
    part = [int(size * random.uniform(0.5, 1)) for size in picture.size]
    left, top = (int(random.integers(0, size - cut + 1)) for size, cut in zip(picture.size, part))
    return numpy.asarray(picture.crop((left, top, left + part[0], top + part[1])).resize((width, height)))


def scaled(mean, deviation):
    return lambda pixels: ((pixels / 255 - mean) / deviation).astype(numpy.float32).transpose(2, 0, 1)[None]


def rapidocr(name):
    return lambda: wheel("rapidocr_onnxruntime") / "models" / name


# file, picture, height and width, what is made of its pixels
MODELS = {
    "ppocr_det": (rapidocr("ch_PP-OCRv4_det_infer.onnx"), drawn_text, (480, 640),
                  scaled([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])),
    "ppocr_rec": (rapidocr("ch_PP-OCRv4_rec_infer.onnx"), drawn_text, (48, 320), scaled(0.5, 0.5)),
    "ppocr_cls": (rapidocr("ch_ppocr_mobile_v2.0_cls_infer.onnx"), drawn_text, (48, 192), scaled(0.5, 0.5)),
    "nudenet": (lambda: wheel("nudenet") / "320n.onnx", photograph, (320, 320), scaled(0, 1)),
}


class Calibrator(trt.IInt8EntropyCalibrator2):
    def __init__(self, batches):
        super().__init__()
        self.batches, self.batch = iter(batches), None

    def get_batch_size(self):
        return 1

    def get_batch(self, names):
        self.batch = next(self.batches, None)
        return None if self.batch is None else [self.batch.ctypes.data]

    def read_calibration_cache(self):
        return None

    def write_calibration_cache(self, cache):
        pass


class Feeds(quantization.CalibrationDataReader):
    def __init__(self, name, batches):
        self.left = iter([{name: batch} for batch in batches])

    def get_next(self):
        return next(self.left, None)


def camshaft(model, shape, threads, batches=None):
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    builder.max_threads = threads
    network = builder.create_network()
    assert trt.OnnxParser(network, logger).parse_from_file(str(model))
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    name, profile = network.get_input(0).name, builder.create_optimization_profile()
    profile.set_shape(name, shape, shape, shape)
    config.add_optimization_profile(profile)
    calibrator = Calibrator(batches) if batches else None
    if calibrator:
        config.set_flag(trt.BuilderFlag.INT8)
        config.int8_calibrator = calibrator
    runtime = trt.Runtime(logger)
    runtime.max_threads = threads
    engine = runtime.deserialize_cuda_engine(builder.build_serialized_network(network, config))
    context = engine.create_execution_context()
    return lambda x: list(trt.infer(context, {name: x}).values())


def prepared_for_onnx_runtime(model, folder):
    """The file that quantize_static wants: of a later opset, optimised."""
    prepared, loaded = folder / "prepared.onnx", onnx.load(model)
    if loaded.opset_import[0].version < PER_CHANNEL:
        loaded = version_converter.convert_version(loaded, PER_CHANNEL)
    onnx.save(loaded, prepared)
    quant_pre_process(str(prepared), str(prepared), skip_symbolic_shape=True)
    return str(prepared)


def onnx_runtime(model, threads, batches, folder):
    """Functions that run it in f32 and as quantize_static writes it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    real = onnxruntime.InferenceSession(model, options)
    name, quantised = real.get_inputs()[0].name, folder / "quantised.onnx"
    quantization.quantize_static(prepared_for_onnx_runtime(model, folder), str(quantised), Feeds(name, batches),
                                 per_channel=True, activation_type=quantization.QuantType.QUInt8)
    sessions = real, onnxruntime.InferenceSession(quantised, options)
    return [lambda x, session=session: session.run(None, {name: x}) for session in sessions]


def milliseconds(run, x, seconds):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        begin = time.perf_counter()
        run(x)
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def error(actual, expected):
    return max(numpy.linalg.norm(a - e) / numpy.linalg.norm(e) for a, e in zip(actual, expected))


def characters(outputs):
    best = outputs[0][0].argmax(-1)
    return [c for i, c in enumerate(best) if c and (i == 0 or c != best[i - 1])]


def share_read(actual, expected):
    pairs = [(characters(a), characters(e)) for a, e in zip(actual, expected)]
    same = sum(sum(block.size for block in difflib.SequenceMatcher(None, *pair, False).get_matching_blocks())
               for pair in pairs)
    return same / sum(max(map(len, pair)) for pair in pairs)


def measure(name, threads, seconds):
    path, draw, size, prepare = MODELS[name]
    random = numpy.random.default_rng(1)
    pictures = [numpy.ascontiguousarray(prepare(draw(random, *size))) for _ in range(CALIBRATION + TESTS)]
    batches, tests = pictures[:CALIBRATION], pictures[CALIBRATION:]
    ours = [camshaft(path(), tests[0].shape, threads, data) for data in (None, batches)]
    with tempfile.TemporaryDirectory() as folder:
        theirs = onnx_runtime(path(), threads, batches, pathlib.Path(folder))
    cells = []
    for real, byte in (ours, theirs):
        expected, actual = ([run(x) for x in tests] for run in (real, byte))
        read = f", {share_read(actual, expected):.1%} read" if name == "ppocr_rec" else ""
        cells += [f"{numpy.mean([error(a, e) for a, e in zip(actual, expected)]):.4f}{read}",
                  f"{milliseconds(real, tests[0], seconds):.2f}", f"{milliseconds(byte, tests[0], seconds):.2f}"]
    return f"| {name} | {cells[0]} | {cells[3]} | {cells[1]} | {cells[2]} | {cells[4]} | {cells[5]} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    print("| model | error | ONNX Runtime's | f32, ms | int8, ms | ONNX Runtime's f32, ms | its int8, ms |")
    print("|---|---|---|---:|---:|---:|---:|", flush=True)
    for name in arguments.models:
        print(measure(name, arguments.threads, arguments.seconds), flush=True)


if __name__ == "__main__":
    main()
