"""The 8-bit model that peers named ...-int8 run, by ONNX Runtime's own tool, so that it favours nobody
else: QDQ, calibrated on the inputs that are measured.

    python benchmarks/quantise_with_onnxruntime.py MODEL FEEDS.npz OUT
"""

import pathlib
import sys

import numpy
import onnx
import onnx.version_converter
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

PER_CHANNEL = 13  # the opset from which on QuantizeLinear has an axis


class Feeds(CalibrationDataReader):
    def __init__(self, feeds):
        self.left = [feeds]

    def get_next(self):
        return self.left.pop() if self.left else None


def quantise(model, feeds, out):
    prepared = out.with_suffix(".prepared.onnx")
    graph = onnx.load(model)
    if graph.opset_import[0].version < PER_CHANNEL:
        onnx.save(onnx.version_converter.convert_version(graph, PER_CHANNEL), prepared)
        model = prepared
    quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
    quantize_static(str(prepared), str(out), Feeds(feeds), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    prepared.unlink()


if __name__ == "__main__":
    with numpy.load(sys.argv[2]) as stored:
        quantise(pathlib.Path(sys.argv[1]), dict(stored), pathlib.Path(sys.argv[3]))
