"""What Ultralytics calls to export a model and to run it, typed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import tensorrt as trt


class Calibrator(trt.IInt8Calibrator):
    def __init__(self, batches: list[np.ndarray], cache: Path) -> None:
        trt.IInt8Calibrator.__init__(self)
        self.batches, self.cache = batches, cache

    def get_algorithm(self) -> trt.CalibrationAlgoType:
        return trt.CalibrationAlgoType.MINMAX_CALIBRATION

    def get_batch_size(self) -> int:
        return 1

    def get_batch(self, names: list[str]) -> list[int] | None:
        return [int(self.batches.pop().ctypes.data)] if self.batches else None

    def read_calibration_cache(self) -> bytes | None:
        return self.cache.read_bytes() if self.cache.exists() else None

    def write_calibration_cache(self, cache: bytes) -> None:
        self.cache.write_bytes(cache)


def export(onnx: Path, engine: Path, half: bool = False, dla: int | None = None) -> None:
    logger = trt.Logger(trt.Logger.INFO)
    logger.min_severity = trt.Logger.Severity.ERROR
    builder = trt.Builder(logger)
    config = builder.create_builder_config()
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)
    flag = 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)
    network = builder.create_network(flag)
    half = builder.platform_has_fast_fp16 and half
    if dla is not None:
        config.default_device_type = trt.DeviceType.DLA
        config.DLA_core = dla
        config.set_flag(trt.BuilderFlag.GPU_FALLBACK)
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file(str(onnx)):
        raise RuntimeError(f"failed to load ONNX file: {onnx}")
    inputs = [network.get_input(i) for i in range(network.num_inputs)]
    outputs = [network.get_output(i) for i in range(network.num_outputs)]
    for tensor in inputs + outputs:
        print(tensor.name, tensor.shape, tensor.dtype)
    profile = builder.create_optimization_profile()
    for tensor in inputs:
        shape = tuple(tensor.shape)
        profile.set_shape(tensor.name, min=(1, *shape[1:]), opt=(2, *shape[1:]), max=(4, *shape[1:]))
    config.add_optimization_profile(profile)
    if half:
        config.set_flag(trt.BuilderFlag.FP16)
    for i in range(network.num_layers):
        layer = network.get_layer(i)
        if layer.type == trt.LayerType.ACTIVATION and layer.num_outputs == 0:
            layer.precision = trt.float32
            layer.set_output_type(0, trt.float32)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    plan = builder.build_serialized_network(network, config)
    with open(engine, "wb") as file:
        file.write(plan)


def predict(path: Path, x: np.ndarray) -> dict[str, np.ndarray]:
    logger = trt.Logger(trt.Logger.INFO)
    logger.min_severity = trt.Logger.Severity.ERROR
    with open(path, "rb") as file, trt.Runtime(logger) as runtime:
        model = runtime.deserialize_cuda_engine(file.read())
    context = model.create_execution_context()
    if hasattr(model, "num_bindings"):
        raise RuntimeError("not TensorRT 10")
    bindings: dict[str, np.ndarray] = {}
    for i in range(model.num_io_tensors):
        name = model.get_tensor_name(i)
        dtype = trt.nptype(model.get_tensor_dtype(name))
        if model.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
            if -1 in tuple(model.get_tensor_shape(name)):
                context.set_input_shape(name, tuple(model.get_tensor_profile_shape(name, 0)[2]))
            context.set_input_shape(name, x.shape)
        bindings[name] = np.empty(tuple(context.get_tensor_shape(name)), dtype)
    next(iter(bindings.values()))[:] = x
    context.execute_v2([array.ctypes.data for array in bindings.values()])
    return bindings


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    export(folder / "model.onnx", folder / "model.engine")
    print(predict(folder / "model.engine", np.ones((2, 4), np.float32))["y"])
