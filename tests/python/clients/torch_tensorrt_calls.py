"""What torch-tensorrt's converters call: a network layer by layer, typed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import tensorrt as trt
import tensorrt.tensorrt


def constant(network: trt.INetworkDefinition, value: np.ndarray, name: str) -> trt.ITensor:
    layer = network.add_constant(value.shape, trt.Weights(np.ascontiguousarray(value)))
    layer.name = name
    return layer.get_output(0)


def slice_of(network: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    layer = network.add_slice(x, start=(0, 0), shape=(1, 4), stride=(1, 1))
    layer.mode = trt.SampleMode.STRICT_BOUNDS
    sizes = network.add_shape(x).get_output(0)
    layer.set_input(2, network.add_cast(sizes, trt.int32).get_output(0))
    return layer.get_output(0)


def converted(network: trt.INetworkDefinition) -> tensorrt.tensorrt.ITensor:
    x = network.add_input(name="x", dtype=trt.float32, shape=(-1, 4))
    w = constant(network, np.ones((4, 4), np.float32), "w")
    y = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, w, trt.MatrixOperation.TRANSPOSE).get_output(0)
    y = network.add_elementwise(y, slice_of(network, x), trt.ElementWiseOperation.SUM).get_output(0)
    y = network.add_unary(y, trt.UnaryOperation.ABS).get_output(0)
    activation = network.add_activation(y, trt.ActivationType.CLIP)
    activation.alpha, activation.beta = 0.0, 6.0
    shuffle = network.add_shuffle(activation.get_output(0))
    shuffle.first_transpose = trt.Permutation([1, 0])
    shuffle.second_transpose = (1, 0)
    softmax = network.add_softmax(shuffle.get_output(0))
    softmax.axes = 1 << 1
    top = network.add_topk(softmax.get_output(0), trt.TopKOperation.MAX, 2, 1 << 1)
    gathered = network.add_gather(softmax.get_output(0), top.get_output(1), axis=1)
    gathered.mode = trt.GatherMode.DEFAULT
    reduced = network.add_reduce(top.get_output(0), trt.ReduceOperation.AVG, axes=1 << 1, keep_dims=True)
    reduced.metadata = "aten.mean"
    return reduced.get_output(0)


def loop_of(network: trt.INetworkDefinition, x: trt.ITensor) -> trt.ITensor:
    loop = network.add_loop()
    loop.add_trip_limit(constant(network, np.array(3, np.int32), "trips"), trt.TripLimit.COUNT)
    value = loop.add_recurrence(x)
    doubled = network.add_elementwise(value.get_output(0), value.get_output(0), trt.ElementWiseOperation.SUM)
    value.set_input(1, doubled.get_output(0))
    return loop.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0)


def main(folder: Path) -> None:
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network()
    y = loop_of(network, converted(network))
    y.name = "y"
    network.mark_output(y)
    config = builder.create_builder_config()
    config.avg_timing_iterations = 1
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 28)
    config.clear_flag(trt.BuilderFlag.TF32)
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 4), (2, 4), (4, 4))
    config.add_optimization_profile(profile)
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    settings = engine.create_serialization_config()
    settings.clear_flag(trt.SerializationFlag.EXCLUDE_WEIGHTS)
    (folder / "torch.engine").write_bytes(engine.serialize_with_config(settings))
    strategy = engine.create_runtime_config()
    strategy.set_execution_context_allocation_strategy(trt.ExecutionContextAllocationStrategy.STATIC)
    context = engine.create_execution_context(strategy)
    x, y_host = np.ones((2, 4), np.float32), np.zeros((2, 1), np.float32)
    context.set_input_shape("x", x.shape)
    missing: list[str] = context.infer_shapes()
    context.set_tensor_address("x", x.ctypes.data)
    context.set_tensor_address("y", y_host.ctypes.data)
    context.execute_async_v3(0)
    print(missing, y_host.ravel(), engine.get_aliased_input_tensor("y"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
