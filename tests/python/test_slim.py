"""camshaft.slim: what goes, what stays, and that the rest computes the same in ONNX Runtime."""

import json
import subprocess
import sys

import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import camshaft

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node, info = helper.make_node, helper.make_tensor_value_info


def model_of(nodes, inputs, outputs, weights=(), opset=17, domains=(), functions=(), value_info=()):
    """Weights are {name: array or tensor}. Shapes of outputs that are left out are inferred."""
    tensors = [value if isinstance(value, TensorProto) else numpy_helper.from_array(numpy.asarray(value), name)
               for name, value in dict(weights).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, tensors, value_info=list(value_info))
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in domains)]
    model = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    for own, known in zip(model.graph.output, inferred.graph.output):
        own.CopyFrom(known)
    onnx.checker.check_model(model)
    return model


def slimmed(model):
    slim = onnx.load_from_string(camshaft.slim(model))
    onnx.checker.check_model(slim)
    return slim


def operators(model):
    return operators_in(model.graph)


def operators_in(graph):
    return [one.op_type for one in graph.node]


def run(model, feeds):
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def assert_same(before, after, *feeds):
    for feed in feeds:
        for expected, actual in zip(run(before, feed), run(after, feed), strict=True):
            numpy.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def random(*shape):
    return numpy.random.default_rng(5).standard_normal(shape, dtype=numpy.float32)


def heads():
    """x in four heads, its sizes computed as exporters do."""
    return model_of(
        [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["n"]),
         node("Gather", ["shape", "one"], ["s"]),
         node("Unsqueeze", ["n", "first"], ["n1"]), node("Unsqueeze", ["s", "first"], ["s1"]),
         node("Concat", ["n1", "s1", "heads", "rest"], ["target"], axis=0),
         node("Identity", ["x"], ["same"]), node("Reshape", ["same", "target"], ["split"]),
         node("Transpose", ["split"], ["y"], perm=[0, 2, 1, 3])],
        [info("x", FLOAT, ["n", "s", 8])], [info("y", FLOAT, ["n", 4, "s", 2])],
        {"zero": numpy.int64(0), "one": numpy.int64(1), "first": [0], "heads": [4], "rest": [-1]})


def test_shape_arithmetic_goes():
    model = heads()
    slim = slimmed(model)
    assert operators(slim) == ["Reshape", "Transpose"]
    assert slim.graph.input == model.graph.input
    assert slim.graph.output == model.graph.output
    assert_same(model, slim, {"x": random(2, 3, 8)}, {"x": random(1, 7, 8)})


def test_slim_again_changes_nothing():
    once = slimmed(heads())
    assert slimmed(once) == once


def test_paths_bytes_and_report(tmp_path):
    source, target = tmp_path / "in.onnx", tmp_path / "out.onnx"
    onnx.save(heads(), source)
    report = camshaft.slim(source, target)
    assert report["nodes"] == {"before": 9, "after": 2}
    assert report["operators"]["Shape"] == {"before": 1, "after": 0}
    assert report["operators"]["Transpose"] == {"before": 1, "after": 1}
    assert report["bytes"] == {"before": source.stat().st_size, "after": target.stat().st_size}
    assert report["kept"] == []
    assert camshaft.slim(str(source)) == camshaft.slim(source.read_bytes()) == target.read_bytes()


def test_command(tmp_path):
    source, target = tmp_path / "in.onnx", tmp_path / "out.onnx"
    onnx.save(heads(), source)
    command = [sys.executable, "-m", "camshaft.slim", source, target]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [line.split() for line in table.splitlines() if "all nodes" in line] == [["all", "nodes", "9", "2"]]
    checked = subprocess.run([*command, "--json", "--check", "--shape", "x:2x5x8"],
                             capture_output=True, text=True, check=True).stdout
    assert json.loads(checked)["difference"] == {"y": 0.0}


def test_unreadable_models_say_why(tmp_path):
    with pytest.raises(camshaft.Error, match="nowhere"):
        camshaft.slim(tmp_path / "nowhere.onnx")
    with pytest.raises(camshaft.Error):
        camshaft.slim(b"this is no model")


def test_unknown_operators_stay_with_their_declaration():
    swirl = node("Swirl", ["a"], ["b"], name="swirl", domain="my.domain", strength=3)
    model = model_of([node("Identity", ["x"], ["a"]), swirl, node("Identity", ["b"], ["c"]),
                      node("Relu", ["c"], ["y"])],
                     [info("x", FLOAT, ["n", 3])], [info("y", FLOAT, ["n", 3])],
                     domains=["my.domain"], value_info=[info("b", FLOAT, ["n", 3])])
    slim = slimmed(model)
    assert operators(slim) == ["Swirl", "Relu"]
    kept = slim.graph.node[0]
    assert (kept.name, kept.domain, list(kept.input)) == ("swirl", "my.domain", ["x"])
    assert kept.attribute == swirl.attribute
    assert [value.name for value in slim.graph.value_info] == list(kept.output)
    assert slimmed(slim) == slim


def test_external_data(tmp_path):
    weights = random(64, 32)
    model = model_of([node("Identity", ["w"], ["same"]), node("MatMul", ["x", "same"], ["y"])],
                     [info("x", FLOAT, ["n", 64])], [info("y", FLOAT, ["n", 32])], {"w": weights})
    (tmp_path / "in").mkdir()
    onnx.save(model, tmp_path / "in/model.onnx", save_as_external_data=True, location="weights.bin",
              size_threshold=0)
    report = camshaft.slim(tmp_path / "in/model.onnx", tmp_path / "slim.onnx")
    assert report["bytes"]["before"] > weights.nbytes
    slim = onnx.load(tmp_path / "slim.onnx", load_external_data=False)
    assert operators(slim) == ["MatMul"]
    assert slim.graph.initializer[0].data_location == TensorProto.DEFAULT
    numpy.testing.assert_array_equal(numpy_helper.to_array(slim.graph.initializer[0]), weights)


def branching():
    """An If whose branches read what the graph around them computes."""
    def branch(name, operator):
        return helper.make_graph([node(operator, ["b", "two"], [name])], name, [],
                                 [info(name, FLOAT, None)])

    return model_of(
        [node("Identity", ["x"], ["a"]), node("Relu", ["a"], ["b"]),
         node("ReduceSum", ["b"], ["sum"], keepdims=0), node("Greater", ["sum", "two"], ["many"]),
         node("If", ["many"], ["y"], then_branch=branch("yes", "Mul"), else_branch=branch("no", "Add"))],
        [info("x", FLOAT, ["n"])], [info("y", FLOAT, ["n"])], {"two": numpy.float32(2)})


def test_branches_stay():
    model = branching()
    slim = slimmed(model)
    assert operators(slim) == ["Relu", "ReduceSum", "Greater", "If"]
    assert_same(model, slim, {"x": numpy.float32([1, -1, 0.5])}, {"x": numpy.float32([1, 7])})


def test_loops_stay_without_their_copies():
    body = helper.make_graph(
        [node("Identity", ["going"], ["still"]), node("Identity", ["state"], ["same"]),
         node("Constant", [], ["three"], value=numpy_helper.from_array(numpy.float32(3))),
         node("Mul", ["same", "three"], ["threefold"]), node("Exp", ["threefold"], ["unread"]),
         node("Mul", ["threefold", "factor"], ["next"])],
        "body", [info("i", INT64, []), info("going", BOOL, []), info("state", FLOAT, None)],
        [info("still", BOOL, []), info("next", FLOAT, None)])
    model = model_of(
        [node("Identity", ["x"], ["a"]), node("Add", ["half", "half"], ["one"]),
         node("Add", ["one", "half"], ["factor"]),
         node("Loop", ["count", "", "a"], ["y"], body=body)],
        [info("x", FLOAT, ["n"]), info("count", INT64, [])], [info("y", FLOAT, ["n"])],
        {"half": numpy.float32(0.5)})
    slim = slimmed(model)
    assert operators(slim) == ["Loop"]
    assert operators_in(slim.graph.node[0].attribute[0].g) == ["Identity", "Mul", "Mul"]
    assert_same(model, slim, {"x": random(3), "count": numpy.array(4)},
                {"x": random(2), "count": numpy.array(0)})


def squeezing():
    """x.squeeze(1) as exporters write it for a size that only a run tells."""
    def branch(name, operator, *inputs):
        return helper.make_graph([node(operator, ["x", *inputs], [name])], name, [],
                                 [info(name, FLOAT, None)])

    return model_of(
        [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "one"], ["size"]),
         node("Equal", ["size", "one"], ["single"]),
         node("If", ["single"], ["z"], then_branch=branch("yes", "Squeeze", "axes"),
              else_branch=branch("no", "Identity")),
         node("Unsqueeze", ["z", "axes"], ["wide"]), node("Relu", ["wide"], ["y"])],
        [info("x", FLOAT, ["n", "m", 3])], [info("y", FLOAT, [None, None, 3])],
        {"one": numpy.int64(1), "axes": [1]})


def test_squeezes_are_never_taken_for_granted():
    model = squeezing()
    slim = slimmed(model)
    assert_same(model, slim, {"x": random(2, 1, 3)})
    wide = {"x": random(2, 4, 3)}
    try:
        actual = run(slim, wide)
    except Exception as error:  # noqa: BLE001 - onnxruntime has no common base for them
        assert "Squeeze" in str(error)
    else:
        numpy.testing.assert_array_equal(actual[0], run(model, wide)[0])


def test_functions_are_expanded():
    twice = helper.make_function("my.domain", "Twice", ["v"], ["w"], [node("Add", ["v", "v"], ["w"])],
                                 [helper.make_opsetid("", 17)])
    model = model_of([node("Twice", ["x"], ["t"], domain="my.domain"),
                      node("Twice", ["t"], ["y"], domain="my.domain")],
                     [info("x", FLOAT, ["n"])], [info("y", FLOAT, ["n"])],
                     domains=["my.domain"], functions=[twice])
    slim = slimmed(model)
    assert operators(slim) == ["Add", "Add"]
    assert not slim.functions
    assert_same(model, slim, {"x": random(5)})


def test_ranks_without_known_sizes_stay():
    model = model_of([node("Identity", ["x"], ["a"]), node("ReduceMax", ["a"], ["y"], keepdims=0)],
                     [info("x", FLOAT, [None, None])], [info("y", FLOAT, [])])
    slim = slimmed(model)
    assert slim.graph.input == model.graph.input
    assert slim.graph.output == model.graph.output
    assert_same(model, slim, {"x": random(2, 3)})


def test_sequences_stay():
    model = model_of([node("Identity", ["x"], ["a"]), node("SplitToSequence", ["a", "two"], ["y"])],
                     [info("x", FLOAT, [6])],
                     [helper.make_tensor_sequence_value_info("y", FLOAT, [2])],
                     {"two": numpy.int64(2)})
    slim = slimmed(model)
    assert operators(slim) == ["SplitToSequence"]
    for expected, actual in zip(*(run(one, {"x": random(6)})[0] for one in (model, slim)), strict=True):
        numpy.testing.assert_array_equal(actual, expected)


def test_results_of_searches():
    """A Transpose of what NonZero finds cancels one that the importer added."""
    model = model_of(
        [node("Greater", ["x", "zero"], ["mask"]), node("NonZero", ["mask"], ["found"]),
         node("Transpose", ["found"], ["columns"], perm=[1, 0]),
         node("Split", ["columns", "one"], ["column"], axis=1), node("Squeeze", ["column", "axis"], ["places"]),
         node("Gather", ["x", "places"], ["y"])],
        [info("x", FLOAT, ["n"])], [info("y", FLOAT, ["k"])],
        {"zero": numpy.float32(0), "one": [1], "axis": [1]})
    slim = slimmed(model)
    assert len(slim.graph.node) < len(model.graph.node)
    assert_same(model, slim, {"x": random(9)}, {"x": -numpy.ones(3, numpy.float32)})


def test_quantised_weights_stay_so():
    weights = numpy.random.default_rng(6).integers(-127, 127, (64, 64), dtype=numpy.int8)
    model = model_of(
        [node("Identity", ["w"], ["same"]),
         node("DequantizeLinear", ["same", "scale", "zero"], ["weights"]),
         node("Identity", ["weights"], ["weights_again"]), node("MatMul", ["x", "weights_again"], ["y"])],
        [info("x", FLOAT, ["n", 64])], [info("y", FLOAT, ["n", 64])],
        {"w": weights, "scale": numpy.float32(0.01), "zero": numpy.int8(3)})
    slim = slimmed(model)
    assert operators(slim) == ["DequantizeLinear", "MatMul"]
    assert slim.ByteSize() < 1.2 * weights.nbytes
    assert_same(model, slim, {"x": random(2, 64)})


def test_filled_tensors_stay_computed():
    model = model_of(
        [node("ConstantOfShape", ["sizes"], ["zeros"]), node("Identity", ["zeros"], ["same"]),
         node("Add", ["x", "same"], ["y"])],
        [info("x", FLOAT, [1024, 1])], [info("y", FLOAT, [1024, 1024])], {"sizes": [1024, 1024]})
    slim = slimmed(model)
    assert slim.ByteSize() < 1000
    assert_same(model, slim, {"x": random(1024, 1)})


SIZES = ((1, 4), (4, 1), (3, 3))


def test_sizes_that_may_broadcast_either_way():
    """The size of a sum of two open sizes is that of neither operand; what follows still goes."""
    model = model_of(
        [node("Identity", ["x"], ["same"]), node("Add", ["same", "y"], ["sum"]),
         node("Shape", ["sum"], ["sizes"]), node("Mul", ["sum", "y"], ["product"]),
         node("Shape", ["product"], ["again"]), node("Concat", ["again", "one"], ["column"], axis=0),
         node("Reshape", ["product", "column"], ["z"])],
        [info("x", FLOAT, ["n"]), info("y", FLOAT, ["m"])],
        [info("sizes", INT64, [1]), info("z", FLOAT, [None, 1])], {"one": [1]})
    slim = slimmed(model)
    assert sorted(operators(slim)) == ["Add", "Mul", "Reshape", "Shape"]
    for one, other in SIZES:
        assert_same(model, slim, {"x": random(one), "y": random(other)})


def test_expansions_that_may_broadcast_either_way():
    model = model_of(
        [node("Shape", ["y"], ["sizes"]), node("Expand", ["x", "sizes"], ["wide"]),
         node("Identity", ["wide"], ["same"]), node("Relu", ["same"], ["z"])],
        [info("x", FLOAT, ["n"]), info("y", FLOAT, ["m"])], [info("z", FLOAT, [None])])
    slim = slimmed(model)
    assert operators(slim) == ["Shape", "Expand", "Relu"]
    for one, other in SIZES:
        assert_same(model, slim, {"x": random(one), "y": random(other)})


@pytest.mark.parametrize("expands", [False, True])
def test_branches_that_broadcast_either_way(expands):
    def branch(output, last):
        nodes = [node("Shape", ["y"], ["sizes"]), node("Expand", ["x", "sizes"], [output])]
        return helper.make_graph(nodes if expands else [last], output, [],
                                 [info(output, FLOAT, [None])])

    model = model_of(
        [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "limit"], ["large"]),
         node("If", ["large"], ["z"], then_branch=branch("yes", node("Add", ["x", "y"], ["yes"])),
              else_branch=branch("no", node("Mul", ["x", "y"], ["no"]))),
         node("Shape", ["z"], ["size"]), node("Concat", ["size", "one"], ["column"], axis=0),
         node("Reshape", ["z", "column"], ["wide"])],
        [info("x", FLOAT, ["n"]), info("y", FLOAT, ["m"])],
        [info("wide", FLOAT, [None, 1]), info("size", INT64, [1])],
        {"limit": numpy.float32(0), "one": [1]})
    slim = slimmed(model)
    for one, other in SIZES:
        for sign in (1, -1):
            assert_same(model, slim, {"x": sign * random(one), "y": random(other)})


def test_the_larger_of_two_sizes_is_known():
    """A row of at most eight is added: for other sizes the model fails."""
    model = model_of(
        [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "one"], ["n"]),
         node("Slice", ["table", "zero", "n", "one"], ["row"]), node("Add", ["row", "x"], ["sum"]),
         node("Shape", ["sum"], ["sizes"]), node("Reshape", ["sum", "sizes"], ["y"])],
        [info("x", FLOAT, [2, "n"])], [info("y", FLOAT, [2, "n"])],
        {"one": [1], "zero": [0], "table": random(1, 8)})
    slim = slimmed(model)
    assert operators(slim)[-2:] == ["Slice", "Add"]
    assert_same(model, slim, {"x": random(2, 5)}, {"x": random(2, 1)})


def arithmetic_in_branches():
    """Shape arithmetic in both branches, on an input, a weight and a name that both sides have."""
    def branch(operator, output):
        nodes = [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["n"]),
                 node("Concat", ["n", "rest"], ["target"], axis=0),
                 node("Reshape", ["x", "target"], ["flat"]), node(operator, ["flat"], ["changed"]),
                 node("MatMul", ["changed", "weight"], [output])]
        return helper.make_graph(nodes, output, [], [info(output, FLOAT, None)])

    return model_of(
        [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "limit"], ["large"]),
         node("If", ["large"], ["z"], then_branch=branch("Relu", "yes"),
              else_branch=branch("Neg", "no")),
         node("Add", ["z", "bias"], ["y"])],
        [info("x", FLOAT, ["n", 2, 3])], [info("y", FLOAT, ["n", 4])],
        {"zero": [0], "rest": [-1], "limit": numpy.float32(0), "weight": random(6, 4),
         "bias": random(4)})


def test_branches_are_slimmed():
    model = arithmetic_in_branches()
    slim = slimmed(model)
    branches = [one for one in slim.graph.node if one.op_type == "If"][0].attribute
    for branch, operator in zip(branches, ("Neg", "Relu"), strict=True):
        assert operators_in(branch.g) == ["Reshape", operator, "MatMul"]
        assert "weight" not in [tensor.name for tensor in branch.g.initializer]
    assert_same(model, slim, {"x": random(2, 2, 3)}, {"x": -random(2, 2, 3)}, {"x": random(1, 2, 3)})


def test_branches_read_sizes():
    """The size is computed outside, and that is all that is left of the shape arithmetic."""
    def branch(output, operator):
        return helper.make_graph([node(operator, ["n", "n"], [output])], output, [],
                                 [info(output, INT64, [1])])

    model = model_of(
        [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["one"]),
         node("Identity", ["one"], ["n"]), node("ReduceSum", ["x"], ["sum"], keepdims=0),
         node("Greater", ["sum", "limit"], ["large"]),
         node("If", ["large"], ["y"], then_branch=branch("yes", "Add"),
              else_branch=branch("no", "Mul"))],
        [info("x", FLOAT, ["n", 2])], [info("y", INT64, [1])],
        {"zero": [0], "limit": numpy.float32(0)})
    slim = slimmed(model)
    assert_same(model, slim, {"x": random(5, 2)}, {"x": -random(5, 2)})


def test_what_a_loop_only_passes_on():
    """The loop gives what it got, and nothing outside reads its copy of a weight."""
    body = helper.make_graph(
        [node("Identity", ["going"], ["still"]), node("Shape", ["state"], ["shape"]),
         node("Mul", ["state", "factor"], ["scaled"]), node("Reshape", ["scaled", "shape"], ["next"])],
        "body", [info("i", INT64, []), info("going", BOOL, []), info("state", FLOAT, ["n", 2]),
                 info("factor", FLOAT, [2])],
        [info("still", BOOL, []), info("next", FLOAT, ["n", 2]), info("factor", FLOAT, [2])])
    model = model_of(
        [node("Loop", ["count", "", "x", "two"], ["z", "factors"], body=body),
         node("Mul", ["z", "factors"], ["y"])],
        [info("x", FLOAT, ["n", 2]), info("count", INT64, [])], [info("y", FLOAT, ["n", 2])],
        {"two": numpy.float32([2, 3])})
    slim = slimmed(model)
    assert operators(slim) == ["Loop", "Mul"]
    assert operators_in(slim.graph.node[0].attribute[0].g) == ["Mul", "Identity"]
    assert_same(model, slim, {"x": random(3, 2), "count": numpy.array(4)},
                {"x": random(1, 2), "count": numpy.array(0)})


def test_what_a_loop_carries_may_be_empty():
    """The last element is taken of a tensor that begins without any."""
    body = helper.make_graph(
        [node("Identity", ["going"], ["still"]), node("Slice", ["state", "minus", "end"], ["last"]),
         node("Identity", ["last"], ["same"]), node("Shape", ["same"], ["size"]),
         node("Cast", ["size"], ["number"], to=FLOAT), node("Squeeze", ["number"], ["value"]),
         node("Pad", ["state", "one_more", "value"], ["next"])],
        "body", [info("i", INT64, []), info("going", BOOL, []), info("state", FLOAT, ["k"])],
        [info("still", BOOL, []), info("next", FLOAT, [None])])
    model = model_of(
        [node("Loop", ["count", "", "none"], ["y"], body=body)],
        [info("count", INT64, [])], [info("y", FLOAT, [None])],
        {"none": numpy.zeros(0, numpy.float32), "minus": [-1], "one_more": [0, 1],
         "end": [numpy.iinfo(numpy.int64).max]})
    assert_same(model, slimmed(model), {"count": numpy.array(3)})


def test_slices_of_slices():
    model = model_of(
        [node("Slice", ["x", "zero", "end", "one", "two"], ["even"]),
         node("Slice", ["even", "zero", "end", "two", "two"], ["a"]),
         node("Slice", ["even", "one", "end", "two", "two"], ["b"]), node("Sub", ["a", "b"], ["y"])],
        [info("x", FLOAT, ["n", "h", 6])], [info("y", FLOAT, ["n", None, 3])],
        {"zero": [0], "one": [1], "two": [2], "end": [numpy.iinfo(numpy.int64).max]})
    slim = slimmed(model)
    assert operators(slim) == ["Slice", "Slice", "Sub"]
    assert_same(model, slim, {"x": random(2, 7, 6)}, {"x": random(1, 4, 6)})


def test_joins_of_joins():
    model = model_of(
        [node("Concat", ["x", "y"], ["pair"], axis=1), node("Concat", ["x", "pair", "x"], ["z"], axis=1)],
        [info("x", FLOAT, ["n", 2]), info("y", FLOAT, ["n", 3])], [info("z", FLOAT, ["n", 9])])
    slim = slimmed(model)
    assert operators(slim) == ["Concat"]
    assert_same(model, slim, {"x": random(2, 2), "y": random(2, 3)})


@pytest.mark.parametrize(("operator", "attributes", "inputs"), [
    ("MaxPool", {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "ceil_mode": 1},
     {"x": random(1, 2, 8, 7)}),
    ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
     {"x": random(1, 2, 6, 6)}),
    ("LRN", {"size": 3, "alpha": 0.01}, {"x": random(1, 5, 3, 3)}),
    ("Trilu", {"upper": 0}, {"x": random(4, 5), "k": numpy.int64(1)}),
    ("GatherElements", {"axis": 1}, {"x": random(3, 4), "i": numpy.int64([[0, 3], [1, 2], [0, -1]])}),
    ("GatherND", {"batch_dims": 1}, {"x": random(2, 3, 4), "i": numpy.int64([[[1]], [[2]]])}),
    ("ScatterElements", {"axis": 1, "reduction": "add"},
     {"x": random(2, 4), "i": numpy.int64([[1], [3]]), "u": random(2, 1)}),
    ("ScatterND", {"reduction": "mul"},
     {"x": random(4, 2), "i": numpy.int64([[1], [3]]), "u": random(2, 2)}),
    ("OneHot", {"axis": 0},
     {"i": numpy.int64([0, 2]), "depth": numpy.int64(3), "values": numpy.float32([-1, 1])}),
    ("ReverseSequence", {"batch_axis": 0, "time_axis": 1},
     {"x": random(2, 4), "lengths": numpy.int64([3, 2])}),
    ("GridSample", {"mode": "bicubic", "padding_mode": "border", "align_corners": 1},
     {"x": random(1, 2, 4, 4), "grid": random(1, 3, 3, 2)}),
    ("RoiAlign", {"output_height": 2, "output_width": 2, "spatial_scale": 0.5, "sampling_ratio": 2},
     {"x": random(1, 2, 6, 6), "rois": numpy.float32([[0, 0, 8, 8]]), "which": numpy.int64([0])}),
])
def test_operators_are_spelled_anew(operator, attributes, inputs):
    """A function of another opset cannot be copied into the model: its node is written again."""
    whole, function = ([node(operator, list(inputs), ["y"], **attributes)],
                       helper.make_function("my.domain", "F", list(inputs), ["y"],
                                            [node(operator, list(inputs), ["y"], **attributes)],
                                            [helper.make_opsetid("", 16)]))
    first, *others = inputs
    kind = helper.np_dtype_to_tensor_dtype(inputs[first].dtype)
    rank = inputs[first].ndim + (operator == "OneHot")
    declared = ([info(first, kind, inputs[first].shape)], [info("y", FLOAT, [None] * rank)])
    weights = {name: inputs[name] for name in others}
    expected = model_of(whole, *declared, weights)
    called = model_of([node("F", list(inputs), ["y"], domain="my.domain")], *declared, weights,
                      domains=["my.domain"], functions=[function])
    slim = slimmed(called)
    assert operators(slim) == [operator]
    assert not slim.functions
    assert_same(expected, slim, {first: inputs[first]})
