"""Engines from ONNX models in one call, for tests.

CAMSHAFT_TEST_ENGINES=gpu builds them for the GPU, which must be there; they are built for the CPU
otherwise.
"""

import os

import numpy

import camshaft as trt

ON_GPU = os.environ.get("CAMSHAFT_TEST_ENGINES") == "gpu"
DEVICE = trt.DeviceType.GPU if ON_GPU else trt.DeviceType.CPU


def loaded(plan, threads, logger, device=DEVICE):
    """The engine of a plan, on the device that it was to be built for."""
    runtime = trt.Runtime(logger)
    runtime.max_threads = threads
    engine = runtime.deserialize_cuda_engine(plan)
    assert (engine.device is not None) == (device == trt.DeviceType.GPU), f"the engine was not built for {device}"
    return engine


def build(model, shapes=(), level=1, threads=2, logger=None, tf32=False, detailed=False, selector=None,
          device=DEVICE):
    """An engine of `model` (bytes or a path) for any of `shapes`, dicts of shape by input.

    One profile covers them all: smallest and largest size per dimension, the first one as optimum.
    Without `tf32` products are computed in f32 throughout. A `detailed` engine tells its kernels.
    A `selector` chooses them.
    """
    logger = logger or trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    builder.max_threads = threads
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    parsed = parser.parse(model) if isinstance(model, bytes) else parser.parse_from_file(str(model))
    assert parsed, "\n".join(parser.get_error(i).desc() for i in range(parser.num_errors))
    config = builder.create_builder_config()
    config.default_device_type = device
    config.builder_optimization_level = level
    if detailed:
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    config.algorithm_selector = selector
    if not tf32:
        config.clear_flag(trt.BuilderFlag.TF32)
    profile = builder.create_optimization_profile()
    for name in shapes[0] if shapes else ():
        sizes = [shape[name] for shape in shapes]
        profile.set_shape(name, min=numpy.min(sizes, axis=0), opt=sizes[0],
                          max=numpy.max(sizes, axis=0))
    config.add_optimization_profile(profile)
    return loaded(builder.build_serialized_network(network, config), threads, logger, device)
