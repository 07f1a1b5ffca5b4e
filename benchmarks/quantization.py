"""Models that camshaft.quantize writes beside those of ONNX Runtime's quantize_static on the same data, both run by
ONNX Runtime: the error to the f32 model, and what of its task is left.

    .venv/bin/python benchmarks/quantization.py [MODEL...] [--ours NAME...] [--theirs NAME...]

Models, data and tasks are those of trained_models.py. Errors are relative L2 distances to the f32 results, means over
samples that calibration did not see. "Right" is what the model says beside what is true, "as f32" beside what the f32
model says.
"""

import argparse
import logging
import pathlib
import tempfile
import warnings

from calibration import error, prepared_for_onnx_runtime, quantized_by_onnx_runtime
import numpy
from onnxruntime import quantization
from task import runner
from trained_models import MODELS, tasks

import camshaft

PRODUCTS = ["Conv", "ConvTranspose", "Gemm", "MatMul"]
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


def measure(name, task, ours, theirs):
    real = runner(task.path)
    expected = [real(sample) for sample in task.tests]
    said = task.answers(expected)

    def row(kind, model):
        run = runner(model)
        actual = [run(sample) for sample in task.tests]
        errors = numpy.mean([error(a, e) for a, e in zip(actual, expected)])
        answers = task.answers(actual)
        print(f"| {name} | {kind} | {errors:.4f} | {task.share(answers, task.truths):.2%} of {task.what} | "
              f"{task.share(answers, said):.2%} |", flush=True)

    row("nobody: f32", task.path)
    for kind in ours:
        row(f"Camshaft, {kind}", camshaft.quantize(task.path, task.data, **OURS[kind]))
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepared_for_onnx_runtime(task.path, pathlib.Path(folder)) if theirs else None
        for kind in theirs:
            row(f"ONNX Runtime, {kind}",
                quantized_by_onnx_runtime(prepared, f"{folder}/quantised.onnx", task.data, **THEIRS[kind]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--ours", nargs="*", default=SHOWN, choices=list(OURS))
    parser.add_argument("--theirs", nargs="*", default=list(THEIRS), choices=list(THEIRS))
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    print("| model | quantised by | error | right | as f32 |")
    print("|---|---|---:|---|---:|", flush=True)
    for name, task in tasks(arguments.models):
        measure(name, task, arguments.ours, arguments.theirs)


if __name__ == "__main__":
    main()
