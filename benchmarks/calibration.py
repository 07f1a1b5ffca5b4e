"""8-bit engines by entropy calibration beside ONNX Runtime's quantize_static on the same data, and f32.

    .venv/bin/python benchmarks/calibration.py [MODEL...] [--threads N] [--seconds S]

Models, data and tasks are those of trained_models.py. Errors are relative L2 distances to each runtime's own f32
results, means over samples that calibration did not see. Of the task stand f32, ours and ONNX Runtime's.
"""

import argparse
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
from trained_models import MODELS, tasks

import camshaft as trt

PER_CHANNEL = 13  # the opset that has scales for each channel


class Calibrator(trt.IInt8EntropyCalibrator2):
    def __init__(self, batches):
        super().__init__()
        self.batches, self.batch = iter(batches), None

    def get_batch_size(self):
        return 1

    def get_batch(self, names):
        self.batch = next(self.batches, None)
        return None if self.batch is None else [self.batch[name].ctypes.data for name in names]

    def read_calibration_cache(self):
        return None

    def write_calibration_cache(self, cache):
        pass


class Feeds(quantization.CalibrationDataReader):
    def __init__(self, samples):
        self.left = iter(samples)

    def get_next(self):
        return next(self.left, None)


def engine_of(model, samples, threads, calibrated):
    """In f32, or in bytes where those are faster by ranges from the samples."""
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    builder.max_threads = threads
    network = builder.create_network()
    assert trt.OnnxParser(network, logger).parse_from_file(str(model))
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    profile = builder.create_optimization_profile()
    for name, array in samples[0].items():
        profile.set_shape(name, array.shape, array.shape, array.shape)
    config.add_optimization_profile(profile)
    calibrator = Calibrator(samples)  # configurations do not own theirs
    if calibrated:
        config.set_flag(trt.BuilderFlag.INT8)
        config.int8_calibrator = calibrator
    return builder.build_serialized_network(network, config)


def camshaft(engine, threads):
    runtime = trt.Runtime(trt.Logger(trt.Logger.ERROR))
    runtime.max_threads = threads
    context = runtime.deserialize_cuda_engine(engine).create_execution_context()
    return lambda sample: list(trt.infer(context, sample).values())


def prepared_for_onnx_runtime(model, folder):
    """The file that quantize_static wants: of a later opset, optimised."""
    prepared, loaded = folder / "prepared.onnx", onnx.load(model)
    if loaded.opset_import[0].version < PER_CHANNEL:
        loaded = version_converter.convert_version(loaded, PER_CHANNEL)
    onnx.save(loaded, prepared)
    quant_pre_process(str(prepared), str(prepared), skip_symbolic_shape=True)
    return str(prepared)


def quantized_by_onnx_runtime(prepared, quantised, samples, **settings):
    try:
        quantization.quantize_static(prepared, quantised, Feeds(samples), per_channel=True, **settings)
    except ValueError:  # it cannot adjust the scales of the channels to those of some biases
        quantization.quantize_static(prepared, quantised, Feeds(samples), per_channel=False, **settings)
    return quantised


def onnx_runtime(model, threads, samples, folder):
    """Functions that run it in f32 and as quantize_static writes it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    quantised = quantized_by_onnx_runtime(prepared_for_onnx_runtime(model, folder), str(folder / "quantised.onnx"),
                                          samples, activation_type=quantization.QuantType.QUInt8)
    sessions = [onnxruntime.InferenceSession(path, options) for path in (model, quantised)]
    return [lambda sample, session=session: session.run(None, sample) for session in sessions]


def milliseconds(run, x, seconds):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        begin = time.perf_counter()
        run(x)
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def error(actual, expected):
    return max(numpy.linalg.norm(a - e) / numpy.linalg.norm(e) for a, e in zip(actual, expected))


def measure(name, task, threads, seconds):
    ours = [camshaft(engine_of(task.path, task.data, threads, calibrated), threads) for calibrated in (False, True)]
    with tempfile.TemporaryDirectory() as folder:
        theirs = onnx_runtime(task.path, threads, task.data, pathlib.Path(folder))
    errors, shares, times = [], [], []
    for real, byte in (ours, theirs):
        expected, actual = ([run(sample) for sample in task.tests] for run in (real, byte))
        errors.append(f"{numpy.mean([error(a, e) for a, e in zip(actual, expected)]):.4f}")
        shares += [task.share(task.answers(outputs), task.truths) for outputs in (expected, actual)]
        times += [f"{milliseconds(run, task.tests[0], seconds):.2f}" for run in (real, byte)]
    right = f"{shares[0]:.1%} | {shares[1]:.1%} | {shares[3]:.1%}"
    return f"| {name} | {' | '.join(errors)} | {task.what} | {right} | {' | '.join(times)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    print("| model | error | ONNX Runtime's | right are | in f32 | in int8 | ONNX Runtime's | f32, ms | int8, ms | "
          "ONNX Runtime's f32, ms | its int8, ms |")
    print("|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for name, task in tasks(arguments.models):
        print(measure(name, task, arguments.threads, arguments.seconds), flush=True)


if __name__ == "__main__":
    main()
