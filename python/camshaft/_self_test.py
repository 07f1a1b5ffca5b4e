"""python -m camshaft._self_test cpu|gpu: builds and runs a tiny engine there, and checks its result.

A process of its own, since what is broken may end it.
"""

from __future__ import annotations

import sys

import numpy as np

from . import (ActivationType, Builder, DataType, DeviceType, Logger, MatrixOperation, Runtime, infer)


def self_test(device: str) -> str:
    """What it ran on; raises where something is wrong. relu(x W) with numbers that are exact in
    every precision."""
    logger = Logger(Logger.ERROR)
    builder = Builder(logger)
    network = builder.create_network()
    weights = (np.arange(8 * 5).reshape(8, 5) % 7 - 3).astype(np.float32)
    x = network.add_input("x", DataType.FLOAT, (4, 8))
    constant = network.add_constant(weights.shape, weights).get_output(0)
    product = network.add_matrix_multiply(x, MatrixOperation.NONE, constant, MatrixOperation.NONE)
    y = network.add_activation(product.get_output(0), ActivationType.RELU).get_output(0)
    y.name = "y"
    network.mark_output(y)
    config = builder.create_builder_config()
    config.default_device_type = DeviceType.GPU if device == "gpu" else DeviceType.CPU
    config.builder_optimization_level = 0  # the first kernel, unchecked: what is wrong with it shows
    engine = Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    if device == "gpu" and engine.device is None:
        raise RuntimeError("the build took the CPU although a GPU was asked for")
    data = (np.arange(4 * 8).reshape(4, 8) % 5 - 2).astype(np.float32)
    result = infer(engine.create_execution_context(), {"x": data})["y"]
    if not np.array_equal(result, np.maximum(data @ weights, 0)):
        raise RuntimeError("the engine's result is wrong")
    return engine.device.name if engine.device else "cpu"


if __name__ == "__main__":
    try:
        print(self_test(sys.argv[1]))
    except Exception as error:  # one line for whoever started it
        sys.exit(str(error).strip() or type(error).__name__)
