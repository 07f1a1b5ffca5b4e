"""What Polygraphy calls beyond that: caches, inspection, allocators, layers by class, typed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tensorrt as trt


class OutputAllocator(trt.IOutputAllocator):
    def __init__(self) -> None:
        trt.IOutputAllocator.__init__(self)
        self.buffers: dict[str, np.ndarray] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}

    def reallocate_output(self, tensor_name: str, memory: int, size: int, alignment: int) -> int:
        self.buffers[tensor_name] = np.zeros(size, np.uint8)
        return int(self.buffers[tensor_name].ctypes.data)

    def reallocate_output_async(self, tensor_name: str, memory: int, size: int, alignment: int, stream: int) -> int:
        return self.reallocate_output(tensor_name, memory, size, alignment)

    def notify_shape(self, tensor_name: str, shape: Sequence[int]) -> None:
        self.shapes[tensor_name] = tuple(shape)


class Progress(trt.IProgressMonitor):
    def __init__(self) -> None:
        trt.IProgressMonitor.__init__(self)
        self.phases: list[str] = []

    def phase_start(self, phase_name: str, parent_phase: str | None, num_steps: int) -> None:
        self.phases.append(phase_name)

    def step_complete(self, phase_name: str, step: int) -> bool:
        return True

    def phase_finish(self, phase_name: str) -> None:
        pass


CLASSES: dict[trt.LayerType, type[trt.ILayer]] = {
    trt.LayerType.CONVOLUTION: trt.IConvolutionLayer,
    trt.LayerType.ACTIVATION: trt.IActivationLayer,
    trt.LayerType.POOLING: trt.IPoolingLayer,
    trt.LayerType.ELEMENTWISE: trt.IElementWiseLayer,
    trt.LayerType.MATRIX_MULTIPLY: trt.IMatrixMultiplyLayer,
}


def describe(network: trt.INetworkDefinition) -> list[str]:
    lines = []
    for layer in network:
        if layer.type in CLASSES:
            layer.__class__ = CLASSES[layer.type]
        attributes = [name for name in dir(layer) if not name.startswith("_") and name not in dir(trt.ILayer)]
        lines.append(f"{layer.name} {[getattr(layer, name) for name in attributes]}")
    return lines


def flags_of(config: trt.IBuilderConfig) -> list[str]:
    return [name for name, flag in trt.BuilderFlag.__members__.items() if config.get_flag(flag)]


def main(folder: Path) -> None:
    logger = trt.Logger(trt.Logger.ERROR)
    trt.init_libnvinfer_plugins(logger, "")
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    parser = trt.OnnxParser(network, logger)
    if not parser.parse((folder / "model.onnx").read_bytes()):
        errors = [parser.get_error(i) for i in range(parser.num_errors)]
        raise RuntimeError("\n".join(f"{e.node_name()} {e.node_operator()}: {e.desc()}" for e in errors))
    print("\n".join(describe(network)))
    config = builder.create_builder_config()
    cache = config.create_timing_cache(b"")
    if not config.set_timing_cache(cache, ignore_mismatch=True):
        raise RuntimeError("no timing cache")
    config.builder_optimization_level = 1
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    progress = Progress()
    config.progress_monitor = progress
    profile = builder.create_optimization_profile()
    for i in range(network.num_inputs):
        tensor = network.get_input(i)
        if tensor.is_shape_tensor:
            profile.set_shape_input(tensor.name, [1], [1], [1])
        else:
            profile.set_shape(tensor.name, (1, 4), (2, 4), (4, 4))
    config.add_optimization_profile(profile)
    print(flags_of(config), config.engine_capability, config.tiling_optimization_level, config.runtime_platform)
    plan = builder.build_serialized_network(network, config)
    assert progress.phases
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    inspector = engine.create_engine_inspector()
    print(inspector.get_layer_information(0, trt.LayerInformationFormat.JSON))
    context = engine.create_execution_context(trt.ExecutionContextAllocationStrategy.USER_MANAGED)
    scratch = np.zeros(engine.device_memory_size_v2 + 256, np.uint8)
    context.set_device_memory(scratch.ctypes.data + -scratch.ctypes.data % 256, engine.device_memory_size_v2)
    x, allocator = np.ones((2, 4), np.float32), OutputAllocator()
    context.set_input_shape("x", x.shape)
    context.set_tensor_address("x", x.ctypes.data)
    context.set_output_allocator("y", allocator)
    if not context.execute_async_v3(0) or engine.is_shape_inference_io("x"):
        raise RuntimeError("the run failed")
    print(allocator.buffers["y"].view(np.float32).reshape(allocator.shapes["y"]))
    print(engine.refittable, engine.streamable_weights_size, engine.get_tensor_format("x"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
