"""A program as tutorials for TensorRT 8 have it, on the CPU: each of its older calls warns once."""

import warnings

import numpy as np

import camshaft as trt


class HostDeviceMem:
    """Memory on the host; on a GPU there is a second buffer beside it."""

    def __init__(self, size: int, dtype: type) -> None:
        self.host = np.zeros(size, dtype)

    def __int__(self) -> int:
        return int(self.host.ctypes.data)


def build_engine() -> trt.ICudaEngine:
    logger = trt.Logger(trt.Logger.WARNING)
    with trt.Builder(logger) as builder, builder.create_network() as network:
        config = builder.create_builder_config()
        config.default_device_type = trt.DeviceType.CPU
        config.max_workspace_size = 1 << 28
        x = network.add_input("x", trt.float32, (2, 4))
        softmax = network.add_softmax(x)
        softmax.axes = 1 << 1
        network.mark_output(softmax.get_output(0))
        return builder.build_engine(network, config)


def allocate_buffers(engine: trt.ICudaEngine) -> tuple[list[HostDeviceMem], list[HostDeviceMem], list[int]]:
    inputs, outputs, bindings = [], [], []
    for binding in engine:
        size = trt.volume(engine.get_binding_shape(binding)) * engine.max_batch_size
        memory = HostDeviceMem(size, trt.nptype(engine.get_binding_dtype(binding)))
        bindings.append(int(memory))
        (inputs if engine.binding_is_input(binding) else outputs).append(memory)
    return inputs, outputs, bindings


def main() -> None:
    with warnings.catch_warnings(record=True) as older:
        warnings.simplefilter("default")
        engine = build_engine()
        inputs, outputs, bindings = allocate_buffers(engine)
        with engine.create_execution_context() as context:
            inputs[0].host[:] = np.arange(8)
            context.execute_async_v2(bindings=bindings, stream_handle=0)
    y = outputs[0].host.reshape(2, 4)
    np.testing.assert_allclose(y.sum(axis=1), 1, rtol=1e-5)
    print(y.round(3).tolist())
    print("\n".join(sorted({str(warning.message) for warning in older})))
    assert older


if __name__ == "__main__":
    main()
