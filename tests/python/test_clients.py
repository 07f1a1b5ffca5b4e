"""The sequences of calls that Ultralytics and Polygraphy make, in short."""

import json

import numpy
from small_models import perceptron

import camshaft as trt


def test_ultralytics_export_and_predict(tmp_path):
    logger = trt.Logger(trt.Logger.INFO)
    logger.min_severity = trt.Logger.Severity.ERROR
    builder = trt.Builder(logger)
    config = builder.create_builder_config()
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    parser = trt.OnnxParser(network, logger)
    path = tmp_path / "model.onnx"
    path.write_bytes(perceptron()[0])
    assert parser.parse_from_file(str(path))
    inputs = [network.get_input(i) for i in range(network.num_inputs)]
    described = [(tensor.name, tensor.shape[-1], tensor.dtype) for tensor in inputs]
    assert described == [("x", 4, trt.float32)]
    profile = builder.create_optimization_profile()
    for tensor in inputs:
        profile.set_shape(tensor.name, min=(1, 4), opt=(2, 4), max=(4, 4))
    config.add_optimization_profile(profile)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    with open(tmp_path / "model.engine", "wb") as file:
        file.write(builder.build_serialized_network(network, config))

    with open(tmp_path / "model.engine", "rb") as file, trt.Runtime(logger) as runtime:
        model = runtime.deserialize_cuda_engine(file.read())
    context = model.create_execution_context()
    x = numpy.ones((3, 4), numpy.float32)
    bindings = {}
    for i in range(model.num_io_tensors):
        name = model.get_tensor_name(i)
        if model.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
            assert -1 in tuple(model.get_tensor_shape(name))
            assert tuple(model.get_tensor_profile_shape(name, 0)[2]) == (4, 4)
            context.set_input_shape(name, x.shape)
        shape = tuple(context.get_tensor_shape(name))
        bindings[name] = numpy.empty(shape, trt.nptype(model.get_tensor_dtype(name)))
    bindings["x"][:] = x
    assert context.execute_v2([array.ctypes.data for array in bindings.values()])
    numpy.testing.assert_allclose(bindings["y"], perceptron()[1](x), rtol=1e-4, atol=1e-5)


def test_polygraphy_like_inspection():
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(perceptron()[0])
    described = [(layer.name, layer.type.name,
                  [layer.get_input(i).name for i in range(layer.num_inputs) if layer.get_input(i)],
                  [layer.get_output(i).shape for i in range(layer.num_outputs)])
                 for layer in network]
    assert described
    config = builder.create_builder_config()
    cache = config.create_timing_cache(b"")
    config.set_timing_cache(cache, ignore_mismatch=False)
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 4), (1, 4), (2, 4))
    config.add_optimization_profile(profile)
    assert {name for name in trt.MemoryPoolType.__members__} >= {"WORKSPACE"}
    plan = builder.build_serialized_network(network, config)
    assert len(bytes(cache.serialize())) > 0
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    inspector = engine.create_engine_inspector()
    for index in range(engine.num_layers):
        layer = inspector.get_layer_information(index, trt.LayerInformationFormat.JSON)
        assert json.loads(layer)
