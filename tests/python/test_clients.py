"""The sequences of calls that Ultralytics and Polygraphy make, in short, and their own code for INT8."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy
import pytest
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


@pytest.mark.skipif(not all(map(importlib.util.find_spec, ("polygraphy", "ultralytics", "nudenet"))),
                    reason="wants the wheels of scripts/requirements-models.txt")
def test_int8_by_the_code_of_polygraphy_and_ultralytics(tmp_path):
    """A YOLOv8 on gentle pictures: both find a calibrator that they can use, its cache, and outputs near f32."""
    random, steps = numpy.random.default_rng(1), numpy.linspace(0, 1, 320, dtype=numpy.float32)
    waves = [numpy.sin(6 * (random.random() * steps[:, None] + random.random() * steps)) for _ in range(12)]
    numpy.save(tmp_path / "pictures.npy", numpy.stack(waves).reshape(4, 1, 3, 320, 320).astype(numpy.float32) / 2 + 0.5)
    model = pathlib.Path(importlib.util.find_spec("nudenet").submodule_search_locations[0]) / "320n.onnx"
    program = pathlib.Path(__file__).parent / "clients/int8_exports.py"
    done = subprocess.run([sys.executable, "-m", "camshaft.compat", program, model, tmp_path / "pictures.npy",
                           tmp_path], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(pathlib.Path(trt.__file__).parents[1]),
                               "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "INT8 exports of clients: done, CPU" in done.stdout
    assert re.search(r"polygraphy .* [1-9][0-9]* of [0-9]+ layers read bytes", done.stdout), done.stdout
