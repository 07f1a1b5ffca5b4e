"""One engine for batches of 1 to 32: sizes that are -1 in the network get a range from a profile."""

import numpy

import camshaft as trt


def build():
    """Sums of the rows of x [-1, 4], for the CPU."""
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (-1, 4))
    sums = network.add_reduce(x, trt.ReduceOperation.SUM, axes=1 << 1, keep_dims=False).get_output(0)
    sums.name = "sums"
    network.mark_output(sums)

    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    # Kernels are chosen for the optimum; every size from the least to the most works.
    profile = builder.create_optimization_profile()
    profile.set_shape("x", min=(1, 4), opt=(8, 4), max=(32, 4))
    config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    return trt.Runtime(logger).deserialize_cuda_engine(plan)


def main():
    context = build().create_execution_context()
    for batch in (1, 8, 32):
        x = numpy.ones((batch, 4), numpy.float32)
        context.set_input_shape("x", x.shape)
        sums = numpy.empty(tuple(context.get_tensor_shape("sums")), numpy.float32)
        context.set_tensor_address("x", x.ctypes.data)  # host memory, as the engine is for the CPU
        context.set_tensor_address("sums", sums.ctypes.data)
        context.execute_async_v3(0)
        print(f"batch {batch}: sums {sums.shape}, the first {sums[0]}")
        assert (sums == 4).all() and len(sums) == batch
    assert not context.set_input_shape("x", (33, 4))  # the log says that the profile ends at 32


if __name__ == "__main__":
    main()
