"""Camshaft as an execution provider of the stock ONNX Runtime (camshaft.onnxruntime)."""

import concurrent.futures
import pathlib
import re

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import camshaft.onnxruntime as provider
from camshaft.config import ConfigError, ProviderConfig

LIGHT = {"optimization_level": 0}  # tests want quick builds
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, inputs, outputs, initializers=()):
    """A model as bytes; inputs and outputs are (name, type, shape)."""
    graph = helper.make_graph(
        nodes, "test", [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(*one) for one in outputs],
        [numpy_helper.from_array(array, name) for name, array in initializers])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)]).SerializeToString()


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def perceptron(batch="n"):
    """A model with weights that are too large to be copied into what the provider writes."""
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"]), helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("MatMul", ["r", "v"], ["y"])]
    weights = [("w", random(64, 32)), ("b", random(32)), ("v", random(32, 16, seed=1))]
    return model(nodes, [("x", FLOAT, [batch, 64])], [("y", FLOAT, [batch, 16])], weights)


def options(level=3):
    made = onnxruntime.SessionOptions()
    made.log_severity_level = level
    made.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    return made


def session(bytes_, **settings):
    return provider.session(bytes_, options(), **{**LIGHT, **settings})


def taken(made):
    """How many nodes Camshaft has, in how many subgraphs, and which operators others have."""
    count = subgraphs = 0
    left = []
    for part in made.get_provider_graph_assignment_info():
        if part.ep_name == provider.PROVIDER:
            count += len(part.get_nodes())
            subgraphs += 1
        else:
            left += [node.op_type for node in part.get_nodes()]
    return count, subgraphs, left


def agree(bytes_, made, feed, tolerance=1e-5):
    own = onnxruntime.InferenceSession(bytes_, options(), providers=["CPUExecutionProvider"])
    for ours, theirs in zip(made.run(None, feed), own.run(None, feed), strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def test_registers_once_and_has_the_cpu():
    provider.register()
    provider.register()
    (cpu,) = provider.devices("cpu")
    assert (cpu.ep_name, cpu.ep_vendor) == ("CamshaftExecutionProvider", "Camshaft")
    assert pathlib.Path(provider.library_path()).name == "libcamshaft_onnxruntime.so"
    with pytest.raises(ValueError, match="'cpu' or 'gpu', not 'tpu'"):
        provider.devices("tpu")


def test_takes_a_whole_model():
    made = session(perceptron(batch=3))
    assert made.get_providers()[0] == provider.PROVIDER
    assert taken(made) == (3, 1, [])
    agree(perceptron(batch=3), made, {"x": random(3, 64)})


def test_sizes_that_change_get_engines_that_take_them():
    made = session(perceptron())
    for batch in (4, 4, 9, 2, 30, 1, 31):
        agree(perceptron(), made, {"x": random(batch, 64, seed=batch)})


def test_profiles_bound_the_sizes():
    made = session(perceptron(), shapes={"x": "1x64..4x64..8x64"})
    for batch in (1, 8):
        agree(perceptron(), made, {"x": random(batch, 64)})
    with pytest.raises(Exception, match="'x'.*9.*8"):
        made.run(None, {"x": random(9, 64)})
    with pytest.raises(Exception, match="shapes.x has min, opt and max of different ranks"):
        session(perceptron(), shapes={"x": "4..4x64"})


def foreign(x, y):
    """Nodes that Camshaft does not take: to strings and back."""
    return [helper.make_node("Cast", [x], [f"{x}_text"], to=TensorProto.STRING),
            helper.make_node("Cast", [f"{x}_text"], [y], to=FLOAT)]


def mixed_model():
    """Two products around what Camshaft does not take."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
             *foreign("b", "c"), helper.make_node("Add", ["c", "b"], ["d"]),
             helper.make_node("MatMul", ["d", "w"], ["y"])]
    return model(nodes, [("x", FLOAT, ["n", 32])], [("y", FLOAT, ["n", 32])], [("w", random(32, 32))])


def test_leaves_what_it_does_not_take():
    made = session(mixed_model())
    assert taken(made) == (4, 2, ["Cast", "Cast"])
    for rows in (5, 7):
        agree(mixed_model(), made, {"x": random(rows, 32)}, 1e-4)


def test_small_islands_stay_where_they_are():
    nodes = [helper.make_node("Abs", ["x"], ["a"]), *foreign("a", "b"), helper.make_node("Neg", ["b"], ["y"])]
    bytes_ = model(nodes, [("x", FLOAT, [2, 3])], [("y", FLOAT, [2, 3])])
    assert taken(session(bytes_))[0] == 0
    assert taken(session(bytes_, min_nodes=1))[:2] == (2, 2)
    agree(bytes_, session(bytes_, min_nodes=1), {"x": random(2, 3)})


def test_control_flow_is_taken_with_its_bodies():
    value = helper.make_tensor_value_info("o", FLOAT, None)
    branches = {key: helper.make_graph([helper.make_node(op, ["h", "w"], ["o"])], key, [], [value])
                for key, op in (("then_branch", "MatMul"), ("else_branch", "Add"))}
    nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("If", ["c"], ["y"], **branches)]
    bytes_ = model(nodes, [("x", FLOAT, [32, 32]), ("c", TensorProto.BOOL, [])], [("y", FLOAT, [32, 32])],
                   [("w", random(32, 32))])
    made = session(bytes_)
    assert taken(made) == (2, 1, [])
    for condition in (True, False):
        agree(bytes_, made, {"x": random(32, 32), "c": np.array(condition)})


def test_outputs_of_sizes_that_the_data_decide():
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("NonZero", ["r"], ["y"])]
    bytes_ = model(nodes, [("x", FLOAT, [4, 6])], [("y", INT64, [2, "found"])])
    made = session(bytes_)
    assert taken(made)[:2] == (2, 1)
    for seed in range(3):
        agree(bytes_, made, {"x": random(4, 6, seed=seed)})
    agree(bytes_, made, {"x": np.zeros((4, 6), np.float32)})


def test_runs_of_several_threads():
    made = session(perceptron())
    feeds = [{"x": random(1 + i % 5, 64, seed=i)} for i in range(64)]
    expected = [made.run(None, feed)[0] for feed in feeds]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda feed: made.run(None, feed)[0], feeds))
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_engines_are_kept_by_content(tmp_path):
    cache = tmp_path / "engines"
    feed = {"x": random(4, 64)}
    session(perceptron(), engine_cache=cache).run(None, feed)
    (kept,) = cache.iterdir()
    written = kept.stat().st_mtime_ns
    agree(perceptron(), session(perceptron(), engine_cache=cache), feed)
    assert kept.stat().st_mtime_ns == written  # found, and not built again
    session(perceptron(), engine_cache=cache).run(None, {"x": random(6, 64)})
    assert list(cache.iterdir()) == [kept] and kept.stat().st_mtime_ns > written  # it takes both sizes now
    agree(perceptron(), session(perceptron(), engine_cache=cache), feed)
    kept.write_bytes(b"damaged")
    agree(perceptron(), session(perceptron(), engine_cache=cache), feed)
    session(perceptron(), engine_cache=cache, optimization_level=1).run(None, feed)
    assert len(list(cache.iterdir())) == 2  # other settings, another engine


def test_timing_cache_and_dumped_subgraphs(tmp_path):
    session(mixed_model(), timing_cache=tmp_path / "timings", dump_subgraphs=tmp_path / "parts",
            optimization_level=1).run(None, {"x": random(5, 32)})
    assert (tmp_path / "timings").stat().st_size > 0
    parts = sorted((tmp_path / "parts").iterdir())
    assert [part.name for part in parts] == ["subgraph_0.onnx", "subgraph_1.onnx"]
    for part in parts:
        onnx.checker.check_model(part)
    assert "MatMul" in [node.op_type for node in onnx.load(parts[0]).graph.node]


@pytest.mark.parametrize(("settings", "message"), [
    ({"precison": "bf16"}, "precison is no setting; did you mean 'precision'?"),
    ({"precision": "int3"}, "precision[0] should be 'fp32', 'tf32', 'fp16', 'bf16'"),
    ({"threads": "many"}, "threads should be a valid integer, not 'many'"),
    ({"shapes": "1x3"}, "shapes should be a valid dictionary, not '1x3'"),
    ({"tensor_types": '{"x": "fp16"}'}, "tensor_types cannot be set here: ONNX Runtime says"),
])
def test_wrong_options_are_named(settings, message):
    """In the words of camshaft.config, which has no part in it."""
    with pytest.raises(Exception, match=re.escape(message)):
        session(perceptron(), **settings)
    with pytest.raises(ConfigError, match=re.escape(message)):
        ProviderConfig(**settings)


def test_precisions_are_near():
    for precision, tolerance in (("fp32", 1e-5), ("bf16", 0.3), ("fp16,bf16", 0.3)):
        agree(perceptron(batch=3), session(perceptron(batch=3), precision=precision, threads=1),
              {"x": random(3, 64)}, tolerance)


def test_what_a_run_refuses_is_said():
    nodes = [helper.make_node("Reshape", ["x", "s"], ["y"])]
    bytes_ = model(nodes, [("x", FLOAT, ["n", 4]), ("s", INT64, [2])], [("y", FLOAT, ["a", "b"])])
    made = session(bytes_)
    x = random(6, 4)
    assert made.run(None, {"x": x, "s": np.array([8, 3])})[0].shape == (8, 3)
    with pytest.raises(Exception, match="Reshape|24|elements"):
        made.run(None, {"x": x, "s": np.array([5, 5])})
    assert made.run(None, {"x": x, "s": np.array([12, 2])})[0].shape == (12, 2)
