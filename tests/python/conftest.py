"""The objects that building and running a small model takes."""

import pytest
from small_models import perceptron

import camshaft as trt


@pytest.fixture
def logger():
    return trt.Logger(trt.Logger.INTERNAL_ERROR)


@pytest.fixture
def builder(logger):
    return trt.Builder(logger)


@pytest.fixture
def network(builder):
    return builder.create_network()


@pytest.fixture
def config(builder):
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    config.builder_optimization_level = 1
    return config


@pytest.fixture
def build(logger, builder, config):
    """Builds a network, as an engine."""

    def build(network):
        plan = builder.build_serialized_network(network, config)
        return trt.Runtime(logger).deserialize_cuda_engine(plan)

    return build


@pytest.fixture
def parsed(logger, network):
    """The perceptron in `network`, batch open."""
    model, _ = perceptron()
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(model)
    return network


@pytest.fixture
def engine(builder, config, parsed, build):
    """The perceptron for batches of 1 to 8, and in a second profile of 16 to 32."""
    for low, best, high in ((1, 4, 8), (16, 16, 32)):
        profile = builder.create_optimization_profile()
        profile.set_shape("x", min=(low, 4), opt=(best, 4), max=(high, 4))
        config.add_optimization_profile(profile)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    return build(parsed)
