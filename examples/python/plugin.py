"""An operator of one's own in Python: what comes out of it, how it is computed, and what may be tried."""

import numpy as np

import camshaft as trt
import camshaft.plugin as trtp


@trtp.register("examples::repeat")
def repeat(x: trtp.TensorDesc, times: int) -> trtp.TensorDesc:
    """The rows of x, each so many times: sizes are expressions, so x may have any number of rows."""
    out = x.like()
    out.shape_expr[0] = x.shape_expr[0] * times
    return out


@trtp.impl("examples::repeat")
def compute(x: trtp.Tensor, times: int, outputs: tuple[trtp.Tensor], stream: int) -> None:
    """For engines on the CPU: tensors are arrays in host memory."""
    np.copyto(np.asarray(outputs[0]), np.repeat(np.asarray(x), times, axis=0))


@trtp.autotune("examples::repeat")
def tune(x: trtp.TensorDesc, outputs: tuple[trtp.TensorDesc]) -> list[trtp.AutoTuneCombination]:
    return [trtp.AutoTuneCombination("FP32|FP16, FP32|FP16")]


def build() -> trt.ICudaEngine:
    """relu(repeat(x)), for 1 to 8 rows of three."""
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (-1, 3))
    repeated = network.add_plugin(trtp.op.examples.repeat(x, times=2)).get_output(0)
    y = network.add_activation(repeated, trt.ActivationType.RELU).get_output(0)
    y.name = "y"
    network.mark_output(y)
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    profile = builder.create_optimization_profile()
    profile.set_shape("x", min=(1, 3), opt=(2, 3), max=(8, 3))
    config.add_optimization_profile(profile)
    return trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))


def main() -> None:
    context = build().create_execution_context()
    for rows in (1, 3):
        x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3) - 2
        y = trt.infer(context, {"x": x})["y"]
        print(y.tolist())
        np.testing.assert_array_equal(y, np.maximum(np.repeat(x, 2, axis=0), 0))


if __name__ == "__main__":
    main()
