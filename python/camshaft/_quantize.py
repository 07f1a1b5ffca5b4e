"""ONNX models in few bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import json
import os
from typing import Any

from ._calibration_data import Preprocessing, samples_from
from ._camshaft import ILogger, Logger, quantizer_of_bytes, quantizer_of_file


def quantize(model: Any, data: Any = None, output: Any = None, *, format: str = "int8", range: str = "entropy",
             percentile: float = 99.99, activations: str = "int8", equalization: bool = True,
             bias_correction: bool = True, residuals: bool = True, rounding: str = "gptq", block_size: int = 32,
             int4_nodes: str = "dequantize", ops: Iterable[str] = (), exclude: Iterable[str] = (),
             exclude_ops: Iterable[str] = (), preprocessing: Mapping[str, Any] | None = None, threads: int = 0,
             progress: Callable[[str, int, int], Any] | None = None, logger: ILogger | None = None) -> Any:
    """Quantises ``model``: a path, bytes, or an onnx ModelProto.

    ``data`` is what ranges are found with: a folder of pictures or of ``.npy`` or ``.npz`` files, or an iterable of
    dicts of arrays by input name (of arrays, where the model has one input). ``format`` is "int8", "fp8" or "int4"
    (weights of matrix products alone, which needs no data); ``range`` "entropy", "mse", "percentile" or "minmax";
    ``activations`` "int8", around zero, or "uint8", with a zero point. docs/quantization.md says more.

    Returns the quantised model as bytes, or writes it to the path ``output`` (models over 2 GiB with their weights
    beside it) and returns the report, as a dict: layer by layer signal to noise, range, scale and clipped share.
    ``progress(phase, done, total)`` is called on the way, and stops it by returning False.
    """
    options = {"format": format, "range": range, "percentile": percentile, "activations": activations,
               "equalization": _switch(equalization), "bias_correction": _switch(bias_correction),
               "residuals": _switch(residuals), "rounding": rounding, "block_size": block_size,
               "int4_nodes": int4_nodes, "threads": threads}
    lists = {"op": ops, "exclude": exclude, "exclude_op": exclude_ops}
    quantizer = quantized_model(model, data, options, lists, preprocessing, progress, logger)
    if output is None:
        return bytes(quantizer.serialize())
    quantizer.write(os.fspath(output))
    return json.loads(quantizer.json)


def _switch(value):
    return "on" if value else "off"


def quantized_model(model, data, options, lists, preprocessing=None, progress=None, logger=None):
    logger = logger or Logger(Logger.WARNING)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        quantizer = quantizer_of_bytes(bytes(model), logger)
    else:
        quantizer = quantizer_of_file(os.fspath(model), logger)
    for option, value in options.items():
        quantizer.set(option, str(value))
    for option, values in lists.items():
        for value in [values] if isinstance(values, str) else values:
            quantizer.set(option, value)
    samples = None if data is None else samples_from(data, quantizer.inputs, Preprocessing(**(preprocessing or {})))
    quantizer.run(samples, progress)
    return quantizer
