"""Models that camshaft.quantize writes beside those of ONNX Runtime's quantize_static on the same data, both run by
ONNX Runtime: the error to the f32 model, and what of its task is left.

    .venv/bin/python benchmarks/quantization.py [MODEL...] [--ours NAME...] [--skip-theirs]

Trained models of PyPI wheels. Pictures are those of the scikit-image wheel and text that Pillow draws, speech is what
the program espeak-ng says (without it, silero is left out), files are Python's own. Errors are relative L2 distances
to the f32 results, means over samples that calibration did not see. Beside them stands how well the task is done: of
drawn text the characters and the orientation that are right, and elsewhere what the f32 model itself finds, its text
pixels (intersection over union), boxes (average precision), windows with speech, and labels.
"""

import argparse
import difflib
import logging
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import warnings

from calibration import (CALIBRATION, MODELS as PICTURE_MODELS, Feeds, characters, error, fonts,
                         prepared_for_onnx_runtime, wheel)
import numpy
import onnxruntime
from onnxruntime import quantization
from PIL import Image, ImageDraw, ImageFont

import camshaft

TESTS = 48
PRODUCTS = ["Conv", "ConvTranspose", "Gemm", "MatMul"]


def words_of_this_file():
    return re.findall(r"[a-z]{2,9}", pathlib.Path(__file__).read_text(encoding="utf-8"))


def picture_samples(name):
    path, draw, size, prepare = PICTURE_MODELS[name]
    random = numpy.random.default_rng(1)
    pictures = [numpy.ascontiguousarray(prepare(draw(random, *size))) for _ in range(CALIBRATION + TESTS)]
    session = onnxruntime.InferenceSession(path())
    return path(), [{session.get_inputs()[0].name: picture} for picture in pictures], None


def line_samples(name, flips):
    """Pictures of one line each, every other one upside down if asked for, and what they show."""
    path, _, (height, width), prepare = PICTURE_MODELS[name]
    random, paths = numpy.random.default_rng(4), fonts()
    words = words_of_this_file()
    samples, truths = [], []
    for i in range(CALIBRATION + TESTS):
        path_of_font = paths[random.integers(len(paths))]
        font = ImageFont.truetype(str(path_of_font), 30) if path_of_font else ImageFont.load_default(30)
        line = " ".join(random.choice(words, 3))
        while font.getlength(line) > width - 12:
            line = line[:-1]
        shade = int(random.integers(150, 256))
        picture = Image.new("RGB", (width, height), (shade,) * 3)
        ImageDraw.Draw(picture).text((6, 4), line, (int(random.integers(0, 90)),) * 3, font=font)
        pixels = numpy.clip(numpy.asarray(picture) + random.normal(0, 6, (height, width, 3)), 0, 255)
        upside_down = flips and i % 2 == 1
        pixels = pixels[::-1, ::-1] if upside_down else pixels
        samples.append({"x": numpy.ascontiguousarray(prepare(pixels))})
        truths.append(int(upside_down) if flips else line)
    return path(), samples, truths


def speech_samples():
    """Clips of 31 windows, said at several pitches and speeds, louder and softer, in noise."""
    if not shutil.which("espeak-ng"):
        return None
    words, random = words_of_this_file(), numpy.random.default_rng(2)
    samples = []
    for i in range(CALIBRATION + TESTS):
        text = " ".join(random.choice(words, 4))
        said = subprocess.run(["espeak-ng", "--stdout", "-v", ["en", "de", "fr", "es"][i % 4], "-p", str(20 + i % 60),
                               "-s", str(120 + 3 * (i % 40)), text], check=True, capture_output=True).stdout
        sound = numpy.frombuffer(said[44:], numpy.int16).astype(numpy.float32) / 32768
        sound = numpy.interp(numpy.arange(16000) * 22050 / 16000, numpy.arange(len(sound)), sound, right=0)
        start = int(random.integers(0, 8000))
        clip = numpy.concatenate([numpy.zeros(start), sound])[:31 * 512 + 64] * random.uniform(0.1, 1)
        clip = numpy.resize(clip, 31 * 512 + 64) + random.normal(0, random.uniform(0.001, 0.02), 31 * 512 + 64)
        windows = numpy.stack([clip[512 * j:512 * j + 576] for j in range(31)]).astype(numpy.float32)
        samples.append({"input": windows, "h": numpy.zeros((1, 1, 128), numpy.float32),
                        "c": numpy.zeros((1, 1, 128), numpy.float32)})
    return wheel("silero_vad") / "data/silero_vad_16k_sequence.onnx", samples, None


def file_samples():
    """The first and last kilobyte of files of many kinds."""
    folders = [sysconfig.get_paths()["stdlib"], "/usr/include", "/usr/share"]
    files = [file for folder in folders for file in sorted(pathlib.Path(folder).rglob("*"))[:20000]
             if file.is_file() and file.stat().st_size > 200]
    kinds = {}
    for file in files:
        kinds.setdefault(file.suffix, []).append(file)
    chosen = [group[i] for i in range(40) for _, group in sorted(kinds.items()) if i < len(group)]
    chosen = [chosen[i] for i in numpy.random.default_rng(3).permutation(len(chosen))]
    samples = []
    for file in chosen[:8 * (CALIBRATION + TESTS)]:
        content = numpy.frombuffer(file.read_bytes(), numpy.uint8).astype(numpy.int32)
        row = numpy.full(2048, 256, numpy.int32)
        row[:len(content[:1024])] = content[:1024]
        row[2048 - len(content[-1024:]):] = content[-1024:]
        samples.append(row)
    batches = [numpy.stack(samples[i:i + 8]) for i in range(0, len(samples) - 7, 8)]
    return wheel("magika") / "models/standard_v3_3/model.onnx", [{"bytes": batch} for batch in batches], None


def overlap(a, b):
    low, high = numpy.maximum(a[:2], b[:2]), numpy.minimum(a[2:], b[2:])
    both = numpy.prod(numpy.maximum(high - low, 0))
    return both / (numpy.prod(a[2:] - a[:2]) + numpy.prod(b[2:] - b[:2]) - both + 1e-9)


def yolo_boxes(outputs, least):
    """Score, class and place of boxes, the best first, without those that lie on better ones of their class."""
    rows = outputs[0][0].T
    rows = rows[rows[:, 4:].max(1) > least]
    found = []
    for row in rows[numpy.argsort(-rows[:, 4:].max(1))]:
        box, kind = numpy.concatenate([row[:2] - row[2:4] / 2, row[:2] + row[2:4] / 2]), row[4:].argmax()
        if all(kind != other or overlap(box, place) < 0.45 for _, other, place in found):
            found.append((row[4:].max(), kind, box))
    return found


def precision_of_boxes(actual, expected, _):
    """Average precision, with the f32 model's boxes above a score of 0.25 as the truth."""
    truth = [yolo_boxes(outputs, 0.25) for outputs in expected]
    found = sorted(((score, i, kind, box) for i, outputs in enumerate(actual)
                    for score, kind, box in yolo_boxes(outputs, 0.05)), key=lambda each: -each[0])
    taken, right, area, count = set(), 0, 0.0, sum(map(len, truth))
    for rank, (_, i, kind, box) in enumerate(found, 1):
        same = [j for j, (_, other, place) in enumerate(truth[i])
                if other == kind and (i, j) not in taken and overlap(box, place) > 0.5]
        if same:
            taken.add((i, same[0]))
            right += 1
            area += right / rank
    return area / count


def share_of_text_pixels(actual, expected, _):
    pairs = [(a[0] > 0.3, e[0] > 0.3) for a, e in zip(actual, expected)]
    return sum((a & e).sum() for a, e in pairs) / sum((a | e).sum() for a, e in pairs)


def share_of_labels(actual, expected, truths):
    labels = truths or [e[0].argmax(-1) for e in expected]
    return float(numpy.mean([numpy.mean(a[0].argmax(-1) == label) for a, label in zip(actual, labels)]))


def share_of_windows(actual, expected, _):
    return float(numpy.mean([numpy.mean((a[0] > 0.5) == (e[0] > 0.5)) for a, e in zip(actual, expected)]))


def share_of_characters(actual, _, truths):
    session = onnxruntime.InferenceSession(PICTURE_MODELS["ppocr_rec"][0]())
    alphabet = ["", *session.get_modelmeta().custom_metadata_map["character"].splitlines(), " "]
    read = ["".join(alphabet[c] for c in characters(outputs)).replace(" ", "") for outputs in actual]
    pairs = [(text, truth.replace(" ", "")) for text, truth in zip(read, truths)]
    same = sum(sum(block.size for block in difflib.SequenceMatcher(None, *pair, False).get_matching_blocks())
               for pair in pairs)
    return same / sum(max(map(len, pair)) for pair in pairs)


# samples, and how well the task is done, in words and as a function
MODELS = {
    "ppocr_det": (lambda: picture_samples("ppocr_det"), "text pixels", share_of_text_pixels),
    "ppocr_rec": (lambda: line_samples("ppocr_rec", False), "characters", share_of_characters),
    "ppocr_cls": (lambda: line_samples("ppocr_cls", True), "orientations", share_of_labels),
    "nudenet": (lambda: picture_samples("nudenet"), "boxes", precision_of_boxes),
    "silero_vad": (speech_samples, "windows", share_of_windows),
    "magika": (file_samples, "labels", share_of_labels),
}
OURS = {
    "int8": {},
    "int8 minmax": {"range": "minmax"},
    "int8 percentile": {"range": "percentile"},
    "int8 mse": {"range": "mse"},
    "int8 plain": {"equalization": False, "bias_correction": False},
    "int8 equalised": {"bias_correction": False},
    "int8 corrected": {"equalization": False},
    "uint8": {"activations": "uint8"},
    "uint8 mse": {"activations": "uint8", "range": "mse"},
    "uint8 plain": {"activations": "uint8", "equalization": False, "bias_correction": False},
    "fp8": {"format": "fp8"},
}
SHOWN = ["int8", "uint8", "uint8 mse"]
# Its entropy method clips nothing: it counts in no more bins than there are levels.
METHODS = quantization.CalibrationMethod
THEIRS = {
    "i8, symmetric, products": {"activation_type": quantization.QuantType.QInt8, "op_types_to_quantize": PRODUCTS,
                                "extra_options": {"ActivationSymmetric": True}},
    "u8, products": {"activation_type": quantization.QuantType.QUInt8, "op_types_to_quantize": PRODUCTS},
    "u8, products, percentile": {"activation_type": quantization.QuantType.QUInt8, "op_types_to_quantize": PRODUCTS,
                                 "calibrate_method": METHODS.Percentile},
    "u8, everything": {"activation_type": quantization.QuantType.QUInt8},
}


def runner(model):
    session = onnxruntime.InferenceSession(model)
    return lambda sample: session.run(None, sample)


class NamedFeeds(Feeds):
    def __init__(self, samples):
        self.left = iter(samples)


def quantized_by_onnx_runtime(prepared, quantised, data, settings):
    try:
        quantization.quantize_static(prepared, quantised, NamedFeeds(data), per_channel=True, **settings)
    except ValueError:  # it fails at biases of some scales
        settings = {**settings, "extra_options": {**settings.get("extra_options", {}), "QuantizeBias": False}}
        quantization.quantize_static(prepared, quantised, NamedFeeds(data), per_channel=True, **settings)
    return quantised


def measure(name, ours, theirs):
    make, what, share = MODELS[name]
    made = make()
    if made is None:
        return
    path, samples, truths = made
    data, tests = samples[:CALIBRATION], samples[CALIBRATION:CALIBRATION + TESTS]
    truths = truths and truths[CALIBRATION:]
    real = runner(path)
    expected = [real(sample) for sample in tests]

    def row(kind, model):
        run = runner(model)
        actual = [run(sample) for sample in tests]
        errors = numpy.mean([error(a, e) for a, e in zip(actual, expected)])
        print(f"| {name} | {kind} | {errors:.4f} | {share(actual, expected, truths):.2%} of {what} |", flush=True)

    row("nobody: f32", path)
    for kind in ours:
        row(f"Camshaft, {kind}", camshaft.quantize(path, data, **OURS[kind]))
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepared_for_onnx_runtime(path, pathlib.Path(folder))
        for kind in theirs:
            try:
                made = quantized_by_onnx_runtime(prepared, f"{folder}/quantised.onnx", data, THEIRS[kind])
            except ValueError as problem:
                print(f"| {name} | ONNX Runtime, {kind} | fails: {problem} | |", flush=True)
                continue
            row(f"ONNX Runtime, {kind}", made)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--ours", nargs="*", default=SHOWN, choices=list(OURS))
    parser.add_argument("--skip-theirs", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    print("| model | quantised by | error | right |")
    print("|---|---|---:|---|", flush=True)
    for name in arguments.models:
        measure(name, arguments.ours, [] if arguments.skip_theirs else THEIRS)


if __name__ == "__main__":
    main()
