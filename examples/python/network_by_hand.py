"""A network layer by layer, without a model file: y = relu(x @ w + b), compared with numpy."""

import numpy

import camshaft as trt


def build(w, b):
    """An engine for the CPU; weights are given as arrays."""
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network()

    # Tensors connect layers: every add_... returns a layer, whose outputs the next ones read.
    x = network.add_input("x", trt.float32, (2, w.shape[0]))
    matrix = network.add_constant(w.shape, w).get_output(0)
    product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, matrix, trt.MatrixOperation.NONE)
    bias = network.add_constant((1, b.size), b).get_output(0)
    total = network.add_elementwise(product.get_output(0), bias, trt.ElementWiseOperation.SUM)
    relu = network.add_activation(total.get_output(0), trt.ActivationType.RELU)
    relu.name = "relu"  # what a profiler or the inspector shows
    relu.get_output(0).name = "y"
    network.mark_output(relu.get_output(0))

    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    plan = builder.build_serialized_network(network, config)
    return trt.Runtime(logger).deserialize_cuda_engine(plan)


def main():
    random = numpy.random.default_rng(0)
    w, b, x = (random.standard_normal(shape, numpy.float32) for shape in ((3, 4), (4,), (2, 3)))
    y = trt.infer(build(w, b), {"x": x})["y"]
    print(y)
    numpy.testing.assert_allclose(y, numpy.maximum(x @ w + b, 0), atol=1e-5)


if __name__ == "__main__":
    main()
