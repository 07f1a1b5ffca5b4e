"""What programs should not do: an exception with the reason, or no harm, never a crash."""

import gc
import os
import pathlib
import subprocess
import sys
import textwrap

import numpy
import onnx
import pytest
from building import build
from onnx import TensorProto, helper
from small_models import one_node, perceptron

import camshaft as trt


def test_objects_outlive_those_that_made_them(logger):
    model, reference = perceptron()
    context = build(model, [{"x": (2, 4)}], logger=logger).create_execution_context()
    inspector = context.engine.create_engine_inspector()
    gc.collect()
    x = numpy.ones((2, 4), numpy.float32)
    numpy.testing.assert_allclose(trt.infer(context, {"x": x})["y"], reference(x), rtol=1e-4)
    assert context.engine.num_io_tensors == 2
    inspector.execution_context = context
    del context
    gc.collect()
    assert "Layers" in inspector.get_engine_information(trt.LayerInformationFormat.JSON)
    profile = trt.Builder(logger).create_optimization_profile()
    gc.collect()
    profile.set_shape("x", (1,), (2,), (3,))
    assert profile.get_shape("x") == [(1,), (2,), (3,)]


def test_errors_of_a_parser_can_be_read_after_they_were_cleared(network, logger):
    parser = trt.OnnxParser(network, logger)
    assert not parser.parse(b"no model")
    error = parser.get_error(0)
    text = error.desc()
    parser.clear_errors()
    assert parser.num_errors == 0 and error.desc() == text
    with pytest.raises(IndexError):
        parser.get_error(0)
    del parser
    gc.collect()
    assert str(error) == text


def test_a_layer_can_be_asked_after_its_tensor_was_removed(network):
    x = network.add_input("x", trt.float32, (2, 3))
    layer = network.add_activation(x, trt.ActivationType.RELU)
    tensor = layer.get_output(0)
    network.remove_tensor(tensor)
    assert layer.name == "activation_0" and tensor.name == ""
    with pytest.raises(trt.Error, match="was removed from the network"):
        layer.alpha = 2.0
    with pytest.raises(trt.Error, match="used again"):
        network.mark_output(tensor)


def test_initializers_live_as_long_as_the_network(builder, network, config, logger):
    w = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor("w", TensorProto.FLOAT, [4, 3], numpy.zeros(12, numpy.float32))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    parser = trt.OnnxParser(network, logger)
    assert parser.load_model_proto(model.SerializeToString())
    assert parser.load_initializer("w", w.tobytes(), w.nbytes)
    assert parser.parse_model_proto()
    del parser
    gc.collect()
    junk = [bytes(48) for _ in range(10000)]
    engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    del junk
    x = numpy.ones((2, 4), numpy.float32)
    numpy.testing.assert_allclose(trt.infer(engine, {"x": x})["y"], x @ w)


def test_property_setters_raise(builder, network, config, logger):
    x = network.add_input("x", trt.float32, (1, 2, 4, 4))
    pooling = network.add_pooling_nd(x, trt.PoolingType.MAX, (2, 2))
    softmax = network.add_softmax(x)
    mistakes = [
        (config, "builder_optimization_level", 9, "0 to 5"),
        (config, "compute_capability", 12, "compute capability"),
        (config, "avg_timing_iterations", 0, "at least 1"),
        (config, "max_aux_streams", -1, "-1"),
        (builder, "max_threads", 0, "at least 1 thread"),
        (trt.Runtime(logger), "max_threads", -3, "at least 1 thread"),
        (pooling, "stride_nd", (0, 0), "pooling_0"),
        (softmax, "axes", 3, "softmax_1"),
        (softmax, "axes", 1 << 9, "softmax_1"),
        (x, "name", "", "no name"),
        (x, "shape", (1, -5), "-5"),
        (softmax.get_output(0), "shape", (1,), "is no input"),
    ]
    for owner, name, value, words in mistakes:
        before = getattr(owner, name)
        with pytest.raises(trt.Error, match=words):
            setattr(owner, name, value)
        assert getattr(owner, name) == before, name
    with pytest.raises(trt.Error, match="no dimension 7"):
        x.set_dimension_name(7, "n")
    with pytest.raises(trt.Error, match="no input 3"):
        softmax.set_input(3, x)


def test_a_name_that_is_not_there_raises(engine):
    context = engine.create_execution_context()
    for call in (engine.get_tensor_shape, engine.get_tensor_dtype, engine.get_tensor_location,
                 context.get_tensor_shape, context.get_tensor_strides, context.get_max_output_size):
        with pytest.raises(trt.Error, match="'z' is no input or output of the engine"):
            call("z")
    with pytest.raises(trt.Error, match="profile 7 does not exist"):
        engine.get_tensor_profile_shape("x", 7)
    assert engine.get_tensor_mode("z") == trt.TensorIOMode.NONE
    profile = trt.Builder(trt.Logger()).create_optimization_profile()
    assert profile.get_shape("z") == [] and profile.get_shape_input("z") == []


def renamed(model, names):
    """The model's bytes with names replaced by bytes of the same length, which may be no text."""
    for old, new in names.items():
        assert len(old) == len(new)
        model = model.replace(old, new)
    return model


@pytest.fixture
def strange_names():
    """A model whose tensors and nodes have names that are no UTF-8."""
    model = one_node("Relu", {"in_put": (TensorProto.FLOAT, ["n", 2])}, (TensorProto.FLOAT, ["n", 2]), name="layer!")
    return renamed(model, {b"in_put": b"\xff\xfe_put", b"layer!": b"\xc3(yer!"})


def test_names_that_are_no_text_are_shown(strange_names):
    engine = build(strange_names)
    assert engine.get_tensor_name(0) == "\\xff\\xfe_put" and engine[1] == "y"
    context = engine.create_execution_context()
    seen = []

    class Profiler(trt.IProfiler):
        def __init__(self):
            trt.IProfiler.__init__(self)

        def report_layer_time(self, name, ms):
            seen.append(name)

    context.profiler = Profiler()
    x = numpy.array([[-1, 2]], numpy.float32)
    numpy.testing.assert_array_equal(trt.infer(context, {"\\xff\\xfe_put": x})["y"], [[0, 2]])
    assert seen == ["\\xc3(yer!"]
    inspector = engine.create_engine_inspector()
    for format in (trt.LayerInformationFormat.JSON, trt.LayerInformationFormat.ONELINE):
        assert "yer!" in inspector.get_engine_information(format)
    with pytest.raises((trt.Error, ValueError), match=r"\\xff\\xfe_put"):
        trt.infer(context, {"\\xff\\xfe_put": numpy.zeros((0, 3), numpy.float32)})


def test_messages_with_names_that_are_no_text_arrive():
    model = one_node("Mystery", {"in_put": (TensorProto.FLOAT, [2])}, (TensorProto.FLOAT, [2]), name="layer!")
    model = renamed(model, {b"in_put": b"\xff\xfe_put", b"layer!": b"\xc3(yer!", b"Mystery": b"\xf0yst\xa0ry"})
    messages = []

    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)

        def log(self, severity, text):
            messages.append(text)

    logger = Logger()
    network = trt.Builder(logger).create_network()
    parser = trt.OnnxParser(network, logger)
    assert not parser.parse(model)
    error = parser.get_error(0)
    assert error.node_operator() == "\\xf0yst\\xa0ry" and error.node_name() == "\\xc3(yer!"
    assert "\\xf0yst\\xa0ry" in error.desc() and any("\\xf0yst\\xa0ry" in text for text in messages)


def run_python(code, **environment):
    """A program of its own, with what it printed."""
    package = pathlib.Path(trt.__file__).parents[1]
    paths = os.pathsep.join([str(package), str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])])
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300,
                          env=os.environ | {"PYTHONPATH": paths} | environment)


DAEMON = """
    import sys, threading, time
    import numpy
    import camshaft as trt
    from building import build
    from small_models import perceptron

    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)
        def log(self, severity, text):
            pass

    engine = build(perceptron()[0], [{"x": (8, 4)}], threads=2, logger=Logger())
    started = threading.Semaphore(0)

    def work():
        context = engine.create_execution_context()
        x = numpy.ones((8, 4), numpy.float32)
        for i in range(10 ** 9):
            if i % 7 == 0 and i % 2:
                try:
                    trt.infer(context, {"x": x[:0]})
                except Exception:
                    pass
            trt.infer(context, {"x": x})
            if i == 3:
                started.release()

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    for _ in range(3):
        started.acquire()
    time.sleep(DELAY)
    print("leaving", flush=True)
"""


@pytest.mark.parametrize("delay", [0, 0.001, 0.003, 0.01, 0.02, 0.05])
def test_exit_while_threads_are_inside_infer(delay):
    done = run_python(DAEMON.replace("DELAY", str(delay)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "leaving\n", "")


def test_exit_says_nothing_of_what_is_left():
    done = run_python("""
        import camshaft as trt
        from building import build
        from small_models import perceptron

        class Profiler(trt.IProfiler):
            def __init__(self, context):
                trt.IProfiler.__init__(self)
                self.context = context
            def report_layer_time(self, name, ms):
                pass

        class Recorder(trt.IErrorRecorder):
            pass

        engine = build(perceptron()[0], [{"x": (8, 4)}])
        context = engine.create_execution_context()
        context.profiler = Profiler(context)
        context.error_recorder = Recorder()
        recorder = Recorder()
        recorder.engine = engine
        engine.error_recorder = recorder
        """)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_refers_to_each_other_is_collected(engine):
    dead = []

    class Profiler(trt.IProfiler):
        def __init__(self, context):
            trt.IProfiler.__init__(self)
            self.context = context

        def __del__(self):
            dead.append("profiler")

    context = engine.create_execution_context()
    context.profiler = Profiler(context)
    del context
    gc.collect()
    assert dead == ["profiler"]


def test_files_are_replaced_as_a_whole(tmp_path):
    path = tmp_path / "an.engine"
    trt.write_file(path, b"old")
    trt.write_file(path, memoryview(b"new"))
    assert path.read_bytes() == b"new" and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(trt.Error, match="No such file or directory"):
        trt.write_file(tmp_path / "no" / "where", b"x")
    with pytest.raises(TypeError):
        trt.write_file(path, 7)


def test_engines_can_be_built_into_files(tmp_path, builder, config, parsed, logger):
    path = tmp_path / "an.engine"
    writer = trt.FileWriter(path)
    builder.build_serialized_network_to_stream(parsed, config, writer)
    assert writer.is_good and not path.exists()
    writer.commit()
    assert trt.Runtime(logger).deserialize_cuda_engine_from_file(path).num_io_tensors > 0
    with pytest.raises(trt.Error, match="No such file or directory"):
        trt.FileWriter(tmp_path / "no" / "where")
    full = trt.FileWriter("/dev/full")
    with pytest.raises(trt.Error, match="No space left|stream writer failed"):
        builder.build_serialized_network_to_stream(parsed, config, full)
    assert not full.is_good


def test_timing_caches_add_to_what_is_there(tmp_path, builder, config, parsed):
    path = tmp_path / "timings"
    config.set_timing_cache(config.create_timing_cache(b""), True)
    builder.build_serialized_network(parsed, config)
    config.get_timing_cache().save(path)
    first = path.read_bytes()
    config.create_timing_cache(b"").save(path)
    assert path.read_bytes() == first
    path.write_bytes(b"something else")
    with pytest.raises(trt.Error, match="not a Camshaft timing cache"):
        config.get_timing_cache().save(path)
    assert path.read_bytes() == b"something else"


def test_pipes_are_read(tmp_path, network, logger):
    model = tmp_path / "model.onnx"
    model.write_bytes(perceptron()[0])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["cp", model, pipe])
    assert trt.OnnxParser(network, logger).parse_from_file(str(pipe))
    assert writer.wait(10) == 0 and network.num_inputs == 1
    onnx.checker.check_model(str(model))
