"""Sizes that only the run knows: broadcasts follow the standard, and what it forbids is refused."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import camshaft as trt

F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, inputs, outputs=("y",), opset=18, constants=None):
    graph = helper.make_graph(
        nodes,
        "sizes",
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [onnx.numpy_helper.from_array(value, name) for name, value in (constants or {}).items()],
    )
    opsets = [helper.make_opsetid(*pair) for pair in (("", opset), ("com.microsoft", 1), ("ai.onnx.ml", 3))]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def engine_of(data, largest=8, smallest=1):
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    assert parser.parse(data), [parser.get_error(i).desc() for i in range(parser.num_errors)]
    config = builder.create_builder_config()
    profile = builder.create_optimization_profile()
    for i in range(network.num_inputs):
        shape = tuple(network.get_input(i).shape)
        name = network.get_input(i).name
        bounds = [tuple(size if known < 0 else known for known in shape) for size in (smallest, 3, largest)]
        profile.set_shape(name, *bounds)
    config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    return trt.Runtime(logger).deserialize_cuda_engine(plan)


def both(data, runs, largest=8, smallest=1):
    """Every run beside ONNX Runtime: the same, or refused by both."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    context = engine_of(data, largest, smallest).create_execution_context()
    refused = []
    for feeds in runs:
        try:
            expected = session.run(None, feeds)
        except Exception:  # its own exception types are not public
            expected = None
        if expected is None:
            with pytest.raises(trt.Error) as error:
                trt.infer(context, feeds)
            refused.append(str(error.value))
            continue
        for name, want in zip([output.name for output in session.get_outputs()], expected):
            got = trt.infer(context, feeds)[name]
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    return refused


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


PAIRS = [(1, 4), (4, 1), (4, 4), (1, 1)]


@pytest.mark.parametrize("op", ["Add", "Mul", "Min", "PRelu", "Pow", "Less"])
def test_either_side_of_a_broadcast_may_be_one(op):
    data = model([helper.make_node(op, ["a", "b"], ["y"])], [("a", F32, ["n"]), ("b", F32, ["m"])])
    pairs = [(n, m) for n, m in PAIRS if op != "PRelu" or n >= m]  # a slope broadcasts to its input
    runs = [{"a": abs(numbers(n)), "b": numbers(m, seed=1)} for n, m in pairs]
    assert both(data, runs) == []


def test_sizes_that_do_not_broadcast_are_refused():
    data = model([helper.make_node("Add", ["a", "b"], ["y"], name="sum")], [("a", F32, ["n"]), ("b", F32, ["m"])])
    refused = both(data, [{"a": numbers(3), "b": numbers(4)}, {"a": numbers(4), "b": numbers(4)}])
    assert len(refused) == 1 and "'sum'" in refused[0] and "3 and 4 that do not broadcast" in refused[0]


@pytest.mark.parametrize("batches", PAIRS)
def test_products_broadcast_their_batches(batches):
    a, b = batches
    data = model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", F32, ["a", 2, 3]), ("w", F32, ["b", 3, 5])]
    )
    assert both(data, [{"x": numbers(a, 2, 3), "w": numbers(b, 3, 5, seed=1)}]) == []


def test_where_einsum_and_expand():
    nodes = [
        helper.make_node("Greater", ["x", "z"], ["c"]),
        helper.make_node("Where", ["c", "x", "z"], ["w"]),
        helper.make_node("Einsum", ["x", "z"], ["e"], equation="i,i->i"),
        helper.make_node("Shape", ["z"], ["s"]),
        helper.make_node("Expand", ["x", "s"], ["y"]),
    ]
    data = model(nodes, [("x", F32, ["a"]), ("z", F32, ["c0"])], ["w", "e", "y"])
    assert both(data, [{"x": numbers(a), "z": numbers(c, seed=1)} for a, c in PAIRS]) == []


def test_results_of_broadcasts_go_on():
    nodes = [
        helper.make_node("Add", ["x", "z"], ["s"]),
        helper.make_node("Transpose", ["s"], ["t"], perm=[1, 0]),
        helper.make_node("Reshape", ["t", "flat"], ["r"]),
        helper.make_node("Softmax", ["r"], ["y"]),
    ]
    data = model(
        nodes, [("x", F32, ["a", 3]), ("z", F32, ["b", 3])], constants={"flat": np.array([-1], np.int64)}
    )
    assert both(data, [{"x": numbers(a, 3), "z": numbers(b, 3, seed=1)} for a, b in PAIRS]) == []


FORBIDDEN = {
    "Reshape": (
        [helper.make_node("Reshape", ["x", "s"], ["r"], name="bad"), helper.make_node("Relu", ["r"], ["y"])],
        [("x", F32, ["n", 4]), ("s", I64, [2])],
        [({"x": numbers(6, 4), "s": np.array(s, np.int64)}) for s in ([6, 4], [3, 8], [3, 4], [5, 5])],
    ),
    "Split": (
        [helper.make_node("Split", ["x", "parts"], ["y", "z"], name="bad", axis=0)],
        [("x", F32, ["n"]), ("parts", I64, [2])],
        [({"x": numbers(20), "parts": np.array(s, np.int64)}) for s in ([5, 15], [20, 0], [5, 7], [15, 15])],
    ),
    "Squeeze": (
        [helper.make_node("Squeeze", ["x", "axes"], ["y"], name="bad")],
        [("x", F32, ["n", 3])],
        [{"x": numbers(n, 3)} for n in (1, 2, 1, 3)],
    ),
    "DepthToSpace": (
        [helper.make_node("DepthToSpace", ["x"], ["y"], name="bad", blocksize=2)],
        [("x", F32, [1, "c", 2, 2])],
        [{"x": numbers(1, c, 2, 2)} for c in (4, 7, 8, 3)],
    ),
    "MatMul": (
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="bad")],
        [("x", F32, [2, "k"]), ("w", F32, ["m", 3])],
        [{"x": numbers(2, k), "w": numbers(m, 3)} for k, m in ((4, 4), (4, 5), (5, 4), (2, 2))],
    ),
    "Concat": (
        [helper.make_node("Concat", ["x", "w"], ["y"], name="bad", axis=1)],
        [("x", F32, ["a", 2]), ("w", F32, ["b", 3])],
        [{"x": numbers(a, 2), "w": numbers(b, 3)} for a, b in ((4, 4), (4, 5), (1, 4))],
    ),
    "TopK": (
        [helper.make_node("TopK", ["x", "k"], ["y", "i"], name="bad")],
        [("x", F32, [2, "n"])],
        [{"x": numbers(2, n)} for n in (5, 3, 2)],
    ),
}


@pytest.mark.parametrize("op", FORBIDDEN)
def test_what_the_standard_forbids_is_refused_by_name(op):
    nodes, inputs, runs = FORBIDDEN[op]
    constants = {"axes": np.array([0], np.int64), "k": np.array([3], np.int64)}
    used = {name for node in nodes for name in node.input}
    outputs = nodes[-1].output
    data = model(nodes, inputs, outputs, constants={k: v for k, v in constants.items() if k in used})
    refused = both(data, runs, largest=24)
    assert refused and all("'bad'" in message for message in refused)


ONE_WAY = {
    "Gemm": (
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="bad")],
        [("x", F32, [3, 2]), ("w", F32, [2, 1]), ("b", F32, ["m", "n"])],
        [{"x": numbers(3, 2), "w": numbers(2, 1), "b": numbers(*b)} for b in ((3, 1), (1, 1), (3, 2), (2, 1))],
    ),
    "BatchNormalization": (
        [helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], name="bad")],
        [("x", F32, [4, "c"]), *((name, F32, [name + "0"]) for name in "sbmv")],
        [
            {"x": numbers(4, c), "s": numbers(s), "b": numbers(c), "m": numbers(c), "v": abs(numbers(c))}
            for c, s in ((2, 2), (1, 1), (1, 2), (3, 1))
        ],
    ),
    "QuantizeLinear": (
        [helper.make_node("QuantizeLinear", ["x", "s"], ["y"], name="bad", axis=0)],
        [("x", F32, ["n"]), ("s", F32, ["m"])],
        [{"x": numbers(n), "s": abs(numbers(m, seed=1)) + 1} for n, m in ((4, 4), (1, 4))],
    ),
    "Expand": (
        [
            helper.make_node("Shape", ["z"], ["s"]),
            helper.make_node("Expand", ["x", "s"], ["y"], name="bad"),
        ],
        [("x", F32, [5, 1, 3]), ("z", F32, [5, 2, "n"])],
        [{"x": numbers(5, 1, 3), "z": numbers(5, 2, n)} for n in (3, 1, 4)],
    ),
    "ScatterElements": (
        [helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], name="bad", axis=0)],
        [("x", F32, [3, "n"]), ("i", I64, [1, "m"]), ("u", F32, [1, "m"])],
        [{"x": numbers(3, n), "i": np.zeros((1, m), np.int64), "u": numbers(1, m)} for n, m in ((4, 4), (4, 2), (2, 4))],
    ),
}


@pytest.mark.parametrize("op", ONE_WAY)
def test_what_broadcasts_one_way_does_not_grow_the_result(op):
    nodes, inputs, runs = ONE_WAY[op]
    refused = both(model(nodes, inputs), runs)
    assert refused and all("'bad'" in message for message in refused)


def test_a_failed_run_leaves_nothing_behind():
    """A size that computes to a negative number leaves the output's size open, and an allocator."""
    weights = {"w": numbers(1, 1, 3, 3, seed=2)}
    data = model([helper.make_node("Conv", ["x", "w"], ["y"])], [("x", F32, [1, 1, "h", 8])], constants=weights)
    runs = [{"x": numbers(1, 1, h, 8, seed=seed)} for seed, h in enumerate((8, 8, 4, 8))]
    context = engine_of(data).create_execution_context()
    before = [trt.infer(context, feeds)["y"].copy() for feeds in runs]
    for feeds, expected in zip(runs, before):
        with pytest.raises(trt.Error):
            trt.infer(context, {"x": numbers(1, 1, 1, 8)})
        np.testing.assert_array_equal(trt.infer(context, feeds)["y"], expected)
