"""What Ultralytics calls to export a model and to run it, typed."""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

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
        if not self.batches:
            return None
        self.current = self.batches.pop()
        return [int(self.current.ctypes.data)]

    def read_calibration_cache(self) -> bytes | None:
        return self.cache.read_bytes() if self.cache.exists() else None

    def write_calibration_cache(self, cache: bytes) -> None:
        self.cache.write_bytes(cache)


def export(onnx: Path, engine: Path, metadata: dict[str, Any] | None, dynamic: bool = True, half: bool = False,
           batches: list[np.ndarray] | None = None, dla: int | None = None, verbose: bool = False) -> None:
    logger = trt.Logger(trt.Logger.INFO)
    logger.min_severity = trt.Logger.Severity.VERBOSE if verbose else trt.Logger.Severity.ERROR
    builder = trt.Builder(logger)
    config = builder.create_builder_config()
    is_trt10 = int(trt.__version__.split(".", 1)[0]) >= 10
    if hasattr(config, "set_memory_pool_limit"):
        config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)
    flag = 0 if is_trt10 else 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)
    network = builder.create_network(flag)
    use_fp16 = getattr(builder, "platform_has_fast_fp16", True) and half
    use_int8 = getattr(builder, "platform_has_fast_int8", True) and batches is not None
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
        print(f'"{tensor.name}" with shape{tensor.shape} {tensor.dtype}')
    profile = builder.create_optimization_profile()
    for tensor in inputs:
        shapes = [tuple(size if size != -1 else batch for size in tensor.shape) for batch in (1, 2, 4)]
        profile.set_shape(tensor.name, min=shapes[0], opt=shapes[1], max=shapes[2])
    if dynamic:
        config.add_optimization_profile(profile)
    if use_int8 and batches is not None:
        config.set_flag(trt.BuilderFlag.INT8)
        config.set_calibration_profile(profile)
        config.int8_calibrator = Calibrator(batches, engine.with_suffix(".cache"))
    elif use_fp16:
        config.set_flag(trt.BuilderFlag.FP16)
    constrained = 0
    for i in range(network.num_layers):
        layer = network.get_layer(i)
        if layer.type == trt.LayerType.ACTIVATION and "sigmoid" in layer.name.lower():
            layer.precision = trt.float32
            for j in range(layer.num_outputs):
                layer.set_output_type(j, trt.float32)
            constrained += 1
    if constrained:
        config.set_flag(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    plan = builder.build_serialized_network(network, config)
    if plan is None:
        raise RuntimeError("the engine was not built; the log says why")
    with open(engine, "wb") as file:
        if metadata is not None:
            text = json.dumps(metadata)
            file.write(len(text).to_bytes(4, byteorder="little", signed=True))
            file.write(text.encode())
        file.write(plan)


class Binding(NamedTuple):
    name: str
    dtype: type
    shape: tuple[int, ...]
    data: np.ndarray


class Backend:
    def __init__(self, path: Path) -> None:
        logger = trt.Logger(trt.Logger.INFO)
        logger.min_severity = trt.Logger.Severity.ERROR
        with open(path, "rb") as file, trt.Runtime(logger) as runtime:
            length = int.from_bytes(file.read(4), byteorder="little")
            self.metadata = json.loads(file.read(length).decode())
            if self.metadata.get("dla") is not None:
                runtime.DLA_core = int(self.metadata["dla"])
            model = runtime.deserialize_cuda_engine(file.read())
            if model is None:
                raise RuntimeError(f"{path} is no engine")
            self.context = model.create_execution_context()
        self.bindings: OrderedDict[str, Binding] = OrderedDict()
        self.output_names: list[str] = []
        self.dynamic = self.fp16 = False
        is_trt10 = not hasattr(model, "num_bindings")
        if not is_trt10:
            raise RuntimeError("bindings are no more")
        for i in range(model.num_io_tensors):
            name = model.get_tensor_name(i)
            dtype = trt.nptype(model.get_tensor_dtype(name))
            if model.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
                largest = tuple(model.get_tensor_profile_shape(name, 0)[2])
                if -1 in tuple(model.get_tensor_shape(name)):
                    self.dynamic = True
                    self.context.set_input_shape(name, largest)
                self.fp16 |= dtype == np.float16
            else:
                self.output_names.append(name)
            shape = tuple(self.context.get_tensor_shape(name))
            self.bindings[name] = Binding(name, dtype, shape, np.empty(shape, dtype))
        self.model = model

    def forward(self, x: np.ndarray) -> list[np.ndarray]:
        name = next(iter(self.bindings))
        if self.dynamic and x.shape != self.bindings[name].shape:
            if not self.context.set_input_shape(name, x.shape):
                raise ValueError(f"input size {x.shape} is outside the optimization profile")
            for output in self.output_names:
                self.bindings[output].data.resize(tuple(self.context.get_tensor_shape(output)), refcheck=False)
        self.bindings[name] = self.bindings[name]._replace(shape=x.shape, data=np.ascontiguousarray(x))
        if not self.context.execute_v2([binding.data.ctypes.data for binding in self.bindings.values()]):
            raise RuntimeError("the run failed")
        return [self.bindings[output].data for output in sorted(self.output_names)]

    def forward_as_captured(self, x: np.ndarray) -> list[np.ndarray]:
        """With addresses that are set once, as what a CUDA graph replays."""
        for name, binding in self.bindings.items():
            self.context.set_tensor_address(name, binding.data.ctypes.data)
        next(iter(self.bindings.values())).data[:] = x
        if not self.context.execute_async_v3(0):
            raise RuntimeError("the run failed")
        return [self.bindings[output].data for output in sorted(self.output_names)]


def main(folder: Path) -> None:
    metadata = {"description": "a model", "stride": 32, "names": {"0": "a", "1": "b"}, "dla": None}
    x, expected = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    export(folder / "model.onnx", folder / "model.engine", metadata, half=True)
    backend = Backend(folder / "model.engine")
    if backend.metadata != metadata or not backend.dynamic or backend.fp16:
        raise RuntimeError("what was exported has changed")
    for rows in (len(x), 1, 4):
        (y,) = backend.forward(np.resize(x, (rows, *x.shape[1:])))
        np.testing.assert_allclose(y, np.resize(expected, (rows, *expected.shape[1:])), rtol=1e-2, atol=1e-2)
    try:
        backend.forward(np.resize(x, (5, *x.shape[1:])))
        raise RuntimeError("a batch of 5 was taken")
    except ValueError as error:
        print(error)

    for _ in range(2):  # with data, then from the cache
        batches = [np.resize(x, (2, *x.shape[1:]))]
        export(folder / "model.onnx", folder / "bytes.engine", metadata, batches=batches)
        (y,) = Backend(folder / "bytes.engine").forward(x)
        np.testing.assert_allclose(y, expected, rtol=0.1, atol=0.1)
    cache = (folder / "bytes.cache").read_text()
    if batches == [] or not cache.startswith("TRT-101600-MinMaxCalibration\n"):
        raise RuntimeError(f"the calibration cache was not used: {cache}")

    export(folder / "static.onnx", folder / "static.engine", metadata, dynamic=False)
    backend = Backend(folder / "static.engine")
    (y,) = backend.forward(x)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    y[:] = 0
    (y,) = backend.forward_as_captured(x)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
