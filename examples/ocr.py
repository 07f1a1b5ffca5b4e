"""Reads the text of a photographed page with PP-OCRv4, the trained models in the PyPI wheel
rapidocr-onnxruntime, on engines that Camshaft builds for this CPU.

    .venv/bin/python examples/ocr.py [PICTURE] [--threads N]

Prints what it read, then build, load and run times beside ONNX Runtime's.
"""

import argparse
import difflib
import os
import pathlib
import shutil
import time

import ocr_latency
import ocr_text
import picture
from PIL import Image

import camshaft as trt

CACHE = pathlib.Path(__file__).parents[1] / ".cache" / "ocr"
# One engine each takes any picture up to these sizes: (min, opt, max) shapes of the input x.
PROFILES = {
    "detection": ((1, 3, 32, 32), (1, 3, 480, 960), (1, 3, 1280, 1280)),
    "recognition": ((1, 3, 48, 48), (1, 3, 48, 800), (4, 3, 48, 2048)),
}


def build(task, threads):
    """The path of the engine file for this machine, and the seconds that building it took."""
    start = time.perf_counter()
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    builder.max_threads = threads
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    model = CACHE / f"{task}.onnx"  # a short path to try other things on
    shutil.copyfile(ocr_latency.model(task), model)
    if not parser.parse_from_file(str(model)):
        raise SystemExit("\n".join(parser.get_error(i).desc() for i in range(parser.num_errors)))

    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    profile = builder.create_optimization_profile()
    minimum, optimum, maximum = PROFILES[task]
    profile.set_shape("x", min=minimum, opt=optimum, max=maximum)
    config.add_optimization_profile(profile)

    # Kernels timed once are remembered, so a second build takes a fraction of the first.
    timings = CACHE / "timings"
    config.set_timing_cache(
        config.create_timing_cache(timings.read_bytes() if timings.exists() else b""), True)
    engine = builder.build_serialized_network(network, config)
    config.get_timing_cache().save(timings)
    path = CACHE / f"{task}.engine"
    trt.write_file(path, engine)
    return path, time.perf_counter() - start


def load(path, threads):
    """A context to run the engine in that file with, and the seconds that loading took."""
    start = time.perf_counter()
    runtime = trt.Runtime(trt.Logger(trt.Logger.WARNING))
    runtime.max_threads = threads
    context = runtime.deserialize_cuda_engine_from_file(path).create_execution_context()
    return context, time.perf_counter() - start


def run(context, x):
    (output,) = trt.infer(context, {"x": x}).values()
    return output


def read(page, contexts):
    """Yields (text, confidence) for each line on the page."""
    characters = ocr_text.alphabet(ocr_latency.model("recognition"))
    probability = run(contexts["detection"], ocr_text.pixels(ocr_text.enlarge(page)))[0, 0]
    for line in ocr_text.lines(probability, page.size):
        classes = run(contexts["recognition"], ocr_text.pixels(line.cut(page)))[0]
        text, confidence = ocr_text.decode(classes, characters)
        if confidence > ocr_text.SURE:
            yield text, confidence


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("picture", nargs="?", help="a picture of text; else a sample page")
    arguments.add_argument("--threads", type=int, default=os.cpu_count())
    options = arguments.parse_args()
    page = Image.open(options.picture).convert("RGB") if options.picture else picture.page()
    CACHE.mkdir(parents=True, exist_ok=True)

    engines, contexts, seconds = {}, {}, {}
    for task in PROFILES:
        print(f"Building the {task} engine …", end=" ", flush=True)
        engines[task], built = build(task, options.threads)
        contexts[task], loaded = load(engines[task], options.threads)
        seconds[task] = built, loaded
        size = engines[task].stat().st_size / 1e6
        print(f"{built:.1f} s, {size:.1f} MB; loaded in {loaded * 1e3:.0f} ms")

    print(f"\nText on the page ({page.width}×{page.height} pixels):\n")
    found = list(read(page, contexts))
    for text, confidence in found:
        print(f"  {confidence:4.0%}  {text}")
    if not options.picture:
        read_text, true_text = "\n".join(text for text, _ in found), "\n".join(picture.TEXT)
        right = difflib.SequenceMatcher(None, true_text, read_text).ratio()
        print(f"\n{right:.1%} of the characters are what stands there.")
    del contexts
    print()
    ocr_latency.print_table(engines, seconds, options.threads)


if __name__ == "__main__":
    main()
