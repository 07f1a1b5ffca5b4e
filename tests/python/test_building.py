"""Configurations, profiles, timing caches, progress, and what goes wrong."""

import threading

import numpy
import pytest
from onnx import TensorProto, helper
from small_models import perceptron

import camshaft as trt


def add_profile(builder, config, low=1, best=2, high=4):
    profile = builder.create_optimization_profile()
    profile.set_shape("x", min=(low, 4), opt=(best, 4), max=(high, 4))
    return config.add_optimization_profile(profile)


def test_profile_keeps_its_shapes(builder, config):
    profile = builder.create_optimization_profile()
    assert profile.get_shape("x") == []
    profile.set_shape("x", min=(1, 4), opt=numpy.array([2, 4]), max=[8, 4])
    assert profile.get_shape("x") == [(1, 4), (2, 4), (8, 4)]
    assert profile
    assert [config.add_optimization_profile(profile) for _ in range(2)] == [0, 1]
    assert config.num_optimization_profiles == 2


def fixed_to_four(builder, config):
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (4,), (4,), (4,))
    config.add_optimization_profile(profile)


def test_sizes_that_no_profile_lets_vary_are_numbers(builder, config, network, build):
    x = network.add_input("x", trt.float32, (-1,))
    y = network.add_concatenation([x, x]).get_output(0)
    y.name = "y"
    network.mark_output(y)
    fixed_to_four(builder, config)
    engine = build(network)
    assert engine.get_tensor_shape("x") == (4,) and engine.get_tensor_shape("y") == (8,)


def test_a_branch_that_does_not_fit_may_never_be_taken(builder, config, network, logger, build):
    def branch(name, shape):
        nodes = [helper.make_node("Constant", [], [f"{name}_shape"], value_ints=shape),
                 helper.make_node("Reshape", ["x", f"{name}_shape"], [f"{name}_rows"]),
                 helper.make_node("ReduceSum", [f"{name}_rows"], [name], keepdims=0)]
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, [])])

    choose = helper.make_node("If", ["flag"], ["y"], then_branch=branch("yes", [2, 2]),
                              else_branch=branch("no", [3, 3]))
    inputs = [helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
              helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])]
    graph = helper.make_graph([choose], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    assert trt.OnnxParser(network, logger).parse(model.SerializeToString())
    fixed_to_four(builder, config)
    context = build(network).create_execution_context()
    inputs = {"flag": numpy.array(True), "x": numpy.arange(4, dtype=numpy.float32)}
    assert trt.infer(context, inputs)["y"] == 6


def test_config_settings_read_back(config):
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 28)
    assert config.get_memory_pool_limit(trt.MemoryPoolType.WORKSPACE) == 1 << 28
    config.builder_optimization_level = 4
    config.avg_timing_iterations = 3
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    assert (config.builder_optimization_level, config.avg_timing_iterations) == (4, 3)
    assert config.profiling_verbosity == trt.ProfilingVerbosity.DETAILED
    config.set_flag(trt.BuilderFlag.DEBUG)
    assert config.get_flag(trt.BuilderFlag.DEBUG)
    on_by_default = 1 << int(trt.BuilderFlag.TF32)
    assert config.flags == 1 << int(trt.BuilderFlag.DEBUG) | on_by_default
    config.clear_flag(trt.BuilderFlag.DEBUG)
    config.flags = 0
    assert not config.get_flag(trt.BuilderFlag.TF32)


def test_timing_cache_survives_serialisation(builder, config, parsed):
    config.builder_optimization_level = 3
    add_profile(builder, config)
    cache = config.create_timing_cache(b"")
    assert config.set_timing_cache(cache, ignore_mismatch=False)
    builder.build_serialized_network(parsed, config)
    content = bytes(config.get_timing_cache().serialize())
    again = config.create_timing_cache(content)
    assert bytes(again.serialize()) == content
    assert cache.combine(again, ignore_mismatch=True)
    with pytest.raises(trt.Error):
        config.create_timing_cache(b"no timing cache at all")


class Monitor(trt.IProgressMonitor):
    def __init__(self, stop_at=None):
        trt.IProgressMonitor.__init__(self)
        self.started, self.steps, self.finished, self.stop_at = [], 0, [], stop_at

    def phase_start(self, phase_name, parent_phase, num_steps):
        self.started.append((phase_name, parent_phase))
        assert num_steps >= 0

    def step_complete(self, phase_name, step):
        self.steps += 1
        return self.stop_at is None or self.steps < self.stop_at

    def phase_finish(self, phase_name):
        self.finished.append(phase_name)


def test_progress_monitor_follows_the_build(builder, config, parsed):
    add_profile(builder, config)
    config.progress_monitor = monitor = Monitor()
    builder.build_serialized_network(parsed, config)
    assert monitor.steps > 0 and monitor.started[0][1] is None
    assert sorted(monitor.finished) == sorted(name for name, _ in monitor.started)
    assert config.progress_monitor is monitor


def test_progress_monitor_stops_the_build(builder, config, parsed):
    add_profile(builder, config)
    config.progress_monitor = Monitor(stop_at=1)
    with pytest.raises(trt.Error, match="cancel|stop"):
        builder.build_serialized_network(parsed, config)


def test_other_threads_run_during_a_build(builder, config, logger):
    """A monitor needs the GIL in the building thread; the others must get it too."""
    network = builder.create_network()
    assert trt.OnnxParser(network, logger).parse(perceptron()[0])
    add_profile(builder, config)
    counts = []

    def build(index):
        own = trt.Builder(logger)
        mine = own.create_network()
        parser = trt.OnnxParser(mine, logger)
        assert parser.parse(perceptron()[0])
        settings = own.create_builder_config()
        settings.default_device_type = trt.DeviceType.CPU
        settings.progress_monitor = monitor = Monitor()
        add_profile(own, settings)
        own.build_serialized_network(mine, settings)
        counts.append(monitor.steps)

    threads = [threading.Thread(target=build, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    builder.build_serialized_network(network, config)
    for thread in threads:
        thread.join()
    assert len(counts) == 4 and min(counts) > 0


def test_errors_carry_the_reason(builder, config, network, parsed, logger):
    with pytest.raises(trt.Error, match="x"):
        profile = builder.create_optimization_profile()
        profile.set_shape("x", min=(5, 4), opt=(2, 4), max=(4, 4))
        config.add_optimization_profile(profile)
        builder.build_serialized_network(parsed, config)
    with pytest.raises(trt.Error, match="output"):
        builder.build_serialized_network(builder.create_network(), config)
    with pytest.raises(trt.Error):
        trt.Runtime(logger).deserialize_cuda_engine(b"not an engine")
    with pytest.raises(TypeError):
        trt.Runtime(logger).deserialize_cuda_engine("path")


def test_parser_names_every_offending_node(network, logger):
    from onnx import TensorProto, helper

    nodes = [helper.make_node("Nonsense", ["x"], ["a"], name="first"),
             helper.make_node("Folly", ["x"], ["b"], name="second")]
    x, a, b = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xab")
    graph = helper.make_graph(nodes, "bad", [x], [a, b])
    parser = trt.OnnxParser(network, logger)
    assert not parser.parse(helper.make_model(graph).SerializeToString())
    errors = [parser.get_error(i) for i in range(parser.num_errors)]
    assert [error.node_name() for error in errors] == ["first", "second"]
    assert [error.node_operator() for error in errors] == ["Nonsense", "Folly"]
    assert "Nonsense" in errors[0].desc() and "first" in str(errors[0])
    parser.clear_errors()
    assert parser.num_errors == 0
    assert parser.supports_operator("Conv") and not parser.supports_operator("Nonsense")
    assert not parser.parse(b"\x08")


def test_logger_subclass_receives_messages():
    class Collector(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)
            self.messages = []

        def log(self, severity, message):
            self.messages.append((severity, message))

    collector = Collector()
    with pytest.raises(trt.Error) as caught:
        trt.Runtime(collector).deserialize_cuda_engine(b"not an engine")
    errors = [text for severity, text in collector.messages
              if severity == trt.ILogger.Severity.ERROR]
    assert errors and errors[0] in str(caught.value)


def test_error_recorder_subclass_counts(builder, config):
    class Recorder(trt.IErrorRecorder):
        def __init__(self):
            trt.IErrorRecorder.__init__(self)
            self.errors = []

        def num_errors(self):
            return len(self.errors)

        def get_error_code(self, index):
            return self.errors[index][0]

        def get_error_desc(self, index):
            return self.errors[index][1]

        def has_overflowed(self):
            return False

        def clear(self):
            self.errors.clear()

        def report_error(self, code, text):
            self.errors.append((code, text))
            return False

    builder.error_recorder = recorder = Recorder()
    with pytest.raises(trt.Error):
        builder.build_serialized_network(builder.create_network(), config)
    assert recorder.num_errors() > 0
    assert isinstance(recorder.get_error_code(0), trt.ErrorCodeTRT) and recorder.get_error_desc(0)


def test_passes_can_be_left_out_and_graphs_written(builder, logger, tmp_path):
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (4, 8))
    weights = network.add_constant((8, 3), numpy.ones((8, 3), numpy.float32)).get_output(0)
    product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, weights,
                                          trt.MatrixOperation.NONE).get_output(0)
    network.mark_output(network.add_activation(product, trt.ActivationType.RELU).get_output(0))
    config = builder.create_builder_config()
    config.default_device_type = trt.DeviceType.CPU
    assert config.graph_folder == "" and config.is_pass_enabled("fuse_epilogues")
    config.graph_folder = str(tmp_path)
    config.set_pass_enabled("fuse_epilogues", False)
    assert not config.is_pass_enabled("fuse_epilogues")
    assert builder.build_serialized_network(network, config)
    names = {path.name.split("-", 1)[1] for path in tmp_path.iterdir()}
    assert "network.txt" in names and "fuse_epilogues.txt" not in names
    with pytest.raises(trt.Error, match="there is no pass 'fusing'"):
        config.set_pass_enabled("fusing", False)
    config.reset()
    assert config.graph_folder == "" and config.is_pass_enabled("fuse_epilogues")
