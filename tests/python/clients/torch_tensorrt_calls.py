"""What torch-tensorrt calls: an interpreter that adds layers node by node, its builds and its runtime, typed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tensorrt as trt
import tensorrt.tensorrt
from torch_tensorrt_converters import CONVERTERS, Converter

SHAPES = {"x": (-1, 4), "image": (-1, 2, 6, 6)}


class Interpreter:
    def __init__(self, logger: trt.ILogger) -> None:
        self.logger = logger
        self.builder = trt.Builder(logger)
        self.net = self.builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
        self.profile = self.builder.create_optimization_profile()
        self.inputs: dict[str, tensorrt.tensorrt.ITensor] = {}
        for name, shape in SHAPES.items():
            self.inputs[name] = self.net.add_input(name=name, dtype=trt.float32, shape=shape)
            self.profile.set_shape(name, *[(batch, *shape[1:]) for batch in (1, 3, 5)])

    def call(self, node: Converter) -> None:
        before = self.net.num_layers
        output = node.convert(self.net, self.inputs[node.input])
        if output is None or not isinstance(output, trt.ITensor):
            raise RuntimeError(f"{node.target} was not converted")
        for i in range(before, self.net.num_layers):
            layer = self.net.get_layer(i)
            layer.name = f"[{layer.type.name}]-[aten_ops.{node.target}]-[{i}]"
            layer.metadata = node.target
        if output.is_network_input:
            output = self.net.add_identity(output).get_output(0)
        output.name = node.target
        self.net.mark_output(output)

    def config(self) -> trt.IBuilderConfig:
        config = self.builder.create_builder_config()
        config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 28)
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        config.builder_optimization_level = 1
        config.max_aux_streams = 2
        config.engine_capability = trt.EngineCapability.STANDARD
        config.avg_timing_iterations = 1
        config.clear_flag(trt.BuilderFlag.TF32)
        config.tiling_optimization_level = trt.TilingOptimizationLevel.NONE
        config.add_optimization_profile(self.profile)
        if not config.set_timing_cache(config.create_timing_cache(b""), False):
            raise RuntimeError("no timing cache")
        return config

    def run(self) -> trt.ICudaEngine:
        config = self.config()
        engine = self.builder.build_engine_with_config(self.net, config)
        if engine is None:
            raise RuntimeError("the engine was not built; the log says why")
        if len(memoryview(config.get_timing_cache().serialize())) == 0:
            raise RuntimeError("nothing to keep of the timing cache")
        return engine


class OutputAllocator(trt.IOutputAllocator):
    def __init__(self) -> None:
        trt.IOutputAllocator.__init__(self)
        self.buffers: dict[str, np.ndarray] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}

    def reallocate_output_async(self, tensor_name: str, memory: int, size: int, alignment: int, stream: int) -> int:
        self.buffers[tensor_name] = np.empty(size, np.uint8)
        return int(self.buffers[tensor_name].ctypes.data)

    def notify_shape(self, tensor_name: str, shape: Sequence[int]) -> None:
        self.shapes[tensor_name] = tuple(shape)


class Module:
    """A serialised engine with the names of its inputs and outputs, in the order of a module's."""

    def __init__(self, plan: bytes, logger: trt.ILogger) -> None:
        self.engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
        if self.engine.streamable_weights_size > 0:
            self.engine.weight_streaming_budget_v2 = self.engine.get_weight_streaming_automatic_budget()
        strategy = self.engine.create_runtime_config()
        strategy.set_execution_context_allocation_strategy(trt.ExecutionContextAllocationStrategy.STATIC)
        self.context = self.engine.create_execution_context(strategy)
        self.names = [self.engine.get_tensor_name(i) for i in range(self.engine.num_io_tensors)]
        self.allocator = OutputAllocator()

    def is_input(self, name: str) -> bool:
        return self.engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT

    def forward(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        for name, array in inputs.items():
            if self.engine.is_shape_inference_io(name) or not self.context.set_input_shape(name, array.shape):
                raise RuntimeError(f"{name} does not take {array.shape}")
            self.context.set_tensor_address(name, array.ctypes.data)
        uninferred = self.context.infer_shapes()
        if uninferred:
            raise RuntimeError(f"shapes of {uninferred} are not known")
        outputs = [name for name in self.names if not self.is_input(name)]
        for name in outputs:
            is_aliased = bool(self.engine.get_aliased_input_tensor(name))
            if is_aliased or not self.context.set_output_allocator(name, self.allocator):
                raise RuntimeError(f"{name} takes no allocator")
        if not self.context.execute_async_v3(0):
            raise RuntimeError("the run failed")
        results = {}
        for name in outputs:
            dtype, shape = trt.nptype(self.engine.get_tensor_dtype(name)), self.allocator.shapes[name]
            results[name] = self.allocator.buffers[name].view(dtype)[:trt.volume(shape)].reshape(shape).copy()
        return results


def check(module: Module, converters: Sequence[Converter]) -> None:
    random = np.random.default_rng(5)
    for batch in (3, 1, 5):
        inputs = {name: random.standard_normal((batch, *shape[1:]), np.float32) for name, shape in SHAPES.items()}
        results = module.forward({name: inputs[name] for name in module.names if module.is_input(name)})
        for node in converters:
            expected = node.compute(inputs[node.input])
            np.testing.assert_allclose(results[node.target], expected, rtol=1e-4, atol=1e-5, err_msg=node.target)


def refitted(logger: trt.ILogger) -> None:
    """An engine of a linear layer without weights, which a refit gives it by name."""
    builder = trt.Builder(logger)
    network = builder.create_network()
    weight = np.zeros((4, 4), np.float32)
    constant = network.add_constant((4, 4), trt.Weights(weight))
    network.set_weights_name(trt.Weights(weight), "linear.weight")
    x = network.add_input("x", trt.float32, (2, 4))
    y = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, constant.get_output(0), trt.MatrixOperation.NONE)
    y.get_output(0).name = "y"
    network.mark_output(y.get_output(0))
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.REFIT)
    config.set_flag(trt.BuilderFlag.STRIP_PLAN)
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    refitter = trt.Refitter(engine, logger)
    if not engine.refittable or refitter.get_all_weights() != ["linear.weight"]:
        raise RuntimeError("weights have lost their names")
    kept = np.arange(16, dtype=np.float32).reshape(4, 4)
    refitter.set_named_weights("linear.weight", trt.Weights(trt.float32, kept.ctypes.data, kept.size))
    if refitter.get_missing_weights() or not refitter.refit_cuda_engine():
        raise RuntimeError("the refit failed")
    settings = engine.create_serialization_config()
    settings.clear_flag(trt.SerializationFlag.EXCLUDE_WEIGHTS)
    settings.set_flag(trt.SerializationFlag.INCLUDE_REFIT)
    given = np.ones((2, 4), np.float32)
    result = Module(bytes(engine.serialize_with_config(settings)), logger).forward({"x": given})["y"]
    np.testing.assert_allclose(result, given @ kept)


def main(folder: Path) -> None:
    logger = trt.Logger(trt.Logger.ERROR)
    interpreter = Interpreter(logger)
    for node in CONVERTERS:
        interpreter.call(node)
    engine = interpreter.run()
    path = folder / "module.engine"
    path.write_bytes(memoryview(engine.serialize()))
    check(Module(path.read_bytes(), logger), CONVERTERS)
    information = engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON)
    if "aten_ops.convolution" not in information:
        raise RuntimeError("layers have lost their names")
    refitted(logger)
    print(f"{len(CONVERTERS)} operators in {engine.num_layers} layers")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
