"""Engines and contexts: shapes, addresses, allocators, profilers, inspectors, threads."""

import json
import threading

import numpy
import pytest
from small_models import perceptron

import camshaft as trt

reference = perceptron()[1]


def batch(size, seed=0):
    return numpy.random.default_rng(seed).standard_normal((size, 4), dtype=numpy.float32)


def test_engine_describes_itself(engine):
    assert not hasattr(engine, "num_bindings")
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    assert names == ["x", "y"] and engine[0] == "x"
    assert engine.get_tensor_mode("x") == trt.TensorIOMode.INPUT
    assert engine.get_tensor_mode("y") == trt.TensorIOMode.OUTPUT
    assert engine.get_tensor_shape("x") == (-1, 4) and engine.get_tensor_shape("y") == (-1, 3)
    assert engine.get_tensor_dtype("y") == trt.float32
    assert engine.get_tensor_location("x") == trt.TensorLocation.HOST
    assert engine.get_tensor_format("x") == trt.TensorFormat.LINEAR
    assert not engine.is_shape_inference_io("x")
    assert engine.num_optimization_profiles == 2 and engine.num_layers > 0
    assert engine.get_tensor_profile_shape("x", 0) == [(1, 4), (4, 4), (8, 4)]
    assert engine.get_tensor_profile_shape("x", 1)[2] == (32, 4)
    assert engine.device_memory_size_v2 >= engine.get_device_memory_size_for_profile_v2(0) >= 0


def test_every_size_inside_the_profile_runs(engine):
    context = engine.create_execution_context()
    for size in (1, 8, 3, 2, 8):
        numpy.testing.assert_allclose(trt.infer(context, {"x": batch(size)})["y"],
                                      reference(batch(size)), rtol=1e-4, atol=1e-5)


def test_sizes_outside_are_refused(engine):
    context = engine.create_execution_context()
    assert not context.all_binding_shapes_specified
    assert context.set_input_shape("x", (8, 4)) and context.all_binding_shapes_specified
    assert context.get_tensor_shape("y") == (8, 3)
    assert not context.set_input_shape("x", (9, 4))
    assert not context.set_input_shape("x", (2, 5))
    with pytest.raises(ValueError, match="outside the profile"):
        trt.infer(context, {"x": batch(9)})
    with pytest.raises(TypeError, match="float32"):
        trt.infer(context, {"x": batch(2).astype(numpy.float64)})
    with pytest.raises(ValueError, match="no array"):
        trt.infer(context, {})


def test_profiles_switch(engine):
    context = engine.create_execution_context()
    assert context.active_optimization_profile == 0
    assert context.set_optimization_profile_async(1, 0)
    assert context.active_optimization_profile == 1
    assert not context.set_input_shape("x", (4, 4))
    numpy.testing.assert_allclose(trt.infer(context, {"x": batch(20)})["y"], reference(batch(20)),
                                  rtol=1e-4, atol=1e-5)


def test_raw_addresses_as_in_ultralytics(engine):
    context = engine.create_execution_context()
    x, y = batch(2), numpy.full((2, 3), numpy.nan, numpy.float32)
    context.set_input_shape("x", x.shape)
    assert context.set_tensor_address("x", x.ctypes.data)
    assert context.set_tensor_address("y", y.ctypes.data)
    assert context.get_tensor_address("y") == y.ctypes.data
    assert context.execute_async_v3(0)
    numpy.testing.assert_allclose(y, reference(x), rtol=1e-4, atol=1e-5)
    z = numpy.empty_like(y)
    assert context.execute_v2([x.ctypes.data, z.ctypes.data])
    numpy.testing.assert_array_equal(z, y)
    with pytest.raises(ValueError, match="2 addresses"):
        context.execute_v2([x.ctypes.data])


def test_running_without_shapes_or_addresses_raises(engine):
    context = engine.create_execution_context()
    with pytest.raises(trt.Error, match="x"):
        context.execute_async_v3(0)
    assert "x" in context.infer_shapes()


def test_output_allocator_provides_the_memory(engine):
    class Allocator(trt.IOutputAllocator):
        def __init__(self):
            trt.IOutputAllocator.__init__(self)
            self.shape = None

        def reallocate_output(self, tensor_name, memory, size, alignment):
            self.memory = numpy.empty(size + alignment, numpy.uint8)
            address = self.memory.ctypes.data
            return address + -address % alignment

        def notify_shape(self, tensor_name, shape):
            self.shape = tuple(shape)

    context = engine.create_execution_context()
    x = batch(5)
    context.set_input_shape("x", x.shape)
    context.set_tensor_address("x", x.ctypes.data)
    allocator = Allocator()
    assert context.set_output_allocator("y", allocator)
    assert context.execute_async_v3(0)
    assert allocator.shape == (5, 3)


def test_profiler_hears_of_every_layer(engine):
    class Profiler(trt.IProfiler):
        def __init__(self):
            trt.IProfiler.__init__(self)
            self.times = {}

        def report_layer_time(self, layer_name, ms):
            self.times[layer_name] = ms

    context = engine.create_execution_context()
    context.profiler = profiler = Profiler()
    trt.infer(context, {"x": batch(4)})
    assert len(profiler.times) == engine.num_layers and min(profiler.times.values()) >= 0
    profiler.times.clear()
    context.enqueue_emits_profile = False
    trt.infer(context, {"x": batch(4)})
    assert not profiler.times
    assert context.report_to_profiler() and profiler.times


def test_inspector_writes_json_and_lines(engine):
    inspector = engine.create_engine_inspector()
    layer = json.loads(inspector.get_layer_information(0, trt.LayerInformationFormat.JSON))
    for key in ("Name", "LayerType", "Inputs", "Outputs", "TacticName"):
        assert key in layer, layer
    assert {"Name", "Dimensions"} <= set(layer["Inputs"][0])
    whole = json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))
    assert len(whole["Layers"]) >= engine.num_layers
    inspector.execution_context = context = engine.create_execution_context()
    context.set_input_shape("x", (7, 4))
    layer = json.loads(inspector.get_layer_information(0, trt.LayerInformationFormat.JSON))
    assert layer["Inputs"][0]["Dimensions"][0] == 7
    assert inspector.get_layer_information(0, trt.LayerInformationFormat.ONELINE)


def test_contexts_of_one_engine_run_in_threads(engine):
    failures = []

    def work(seed):
        context = engine.create_execution_context()
        for i in range(50):
            x = batch(1 + (seed + i) % 8, seed)
            y = trt.infer(context, {"x": x})["y"]
            if not numpy.allclose(y, reference(x), rtol=1e-4, atol=1e-5):
                failures.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_objects_keep_what_they_need_alive(engine):
    context = engine.create_execution_context()
    assert context.engine.num_io_tensors == 2
    del engine
    numpy.testing.assert_allclose(trt.infer(context, {"x": batch(2)})["y"], reference(batch(2)),
                                  rtol=1e-4, atol=1e-5)


def test_with_statements_as_older_clients_write_them(engine, logger, tmp_path):
    (tmp_path / "engine").write_bytes(engine.serialize())
    with open(tmp_path / "engine", "rb") as file, trt.Runtime(logger) as runtime:
        loaded = runtime.deserialize_cuda_engine(file.read())
    with loaded.create_execution_context() as context:
        assert trt.infer(context, {"x": batch(2)})["y"].shape == (2, 3)
