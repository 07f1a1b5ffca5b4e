"""camshaft.slim around what cannot be imported, which stays as it was."""

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from test_slim import FLOAT, INT64, assert_same, info, model_of, node, operators, random, run, slimmed

import camshaft


def noise():
    """Nodes from x to 'clean' of which slimming leaves a Relu."""
    return [node("Identity", ["x"], ["a"]), node("Sin", ["w"], ["sine"]),
            node("Mul", ["zero", "sine"], ["nothing"]), node("Cast", ["a"], ["same"], to=FLOAT),
            node("Relu", ["same"], ["clean"])]


WEIGHTS = {"w": random(3), "zero": numpy.zeros(3, numpy.float32)}


def kept_of(model):
    return camshaft.slim(model.SerializeToString(), "/dev/null")["kept"]


def swirl(source, target):
    return node("Swirl", [source], [target], name=f"swirl_{target}", domain="my.domain", strength=3)


def test_unknown_operators_without_declaration(tmp_path):
    model = model_of([*noise(), swirl("clean", "b"), node("Identity", ["b"], ["c"]),
                      node("Sqrt", ["c"], ["y"]), node("Cast", ["a"], ["again"], to=FLOAT),
                      node("Neg", ["again"], ["z"])],
                     [info("x", FLOAT, ["n", 3])],
                     [info("y", FLOAT, ["n", 3]), info("z", FLOAT, ["n", 3])], WEIGHTS,
                     domains=["my.domain"])
    report = camshaft.slim(model, tmp_path / "slim.onnx")
    slim = onnx.load(tmp_path / "slim.onnx")
    onnx.checker.check_model(slim)
    assert sorted(operators(slim)) == ["Neg", "Relu", "Sqrt", "Swirl"]
    by_operator = {one.op_type: one for one in slim.graph.node}
    assert by_operator["Swirl"] == swirl(by_operator["Relu"].output[0], by_operator["Swirl"].output[0]) \
        or by_operator["Swirl"].attribute == swirl("clean", "b").attribute
    assert list(by_operator["Sqrt"].input) == list(by_operator["Swirl"].output)
    assert slim.graph.input == model.graph.input and slim.graph.output == model.graph.output
    kept = {line.split(":")[0] for line in report["kept"]}
    assert "swirl_b" in kept
    assert operators(slimmed(slim)) == operators(slim)


def test_unknown_operators_that_read_and_feed_the_rest():
    """Their declared results go on into what is slimmed."""
    model = model_of([*noise(), swirl("clean", "b"), node("Identity", ["b"], ["c"]),
                      node("Add", ["c", "clean"], ["sum"]), node("Identity", ["sum"], ["d"]),
                      swirl("d", "e"), node("Identity", ["e"], ["f"]), node("Neg", ["f"], ["y"])],
                     [info("x", FLOAT, ["n", 3])], [info("y", FLOAT, ["n", 3])], WEIGHTS,
                     domains=["my.domain"],
                     value_info=[info("b", FLOAT, ["n", 3]), info("e", INT64, ["n", 3])])
    slim = slimmed(model)
    assert operators(slim) == ["Relu", "Swirl", "Add", "Swirl", "Neg"]


def test_strings_stay():
    labels = helper.make_tensor("labels", TensorProto.STRING, [3], [b"cat", b"dog", b"owl"])
    model = model_of([*noise(), node("ArgMax", ["clean"], ["index"], axis=1, keepdims=0),
                      node("Identity", ["index"], ["same_index"]),
                      node("Gather", ["labels", "same_index"], ["y"])],
                     [info("x", FLOAT, ["n", 3])], [info("y", TensorProto.STRING, ["n"])],
                     WEIGHTS | {"labels": labels})
    slim = slimmed(model)
    assert operators(slim) == ["Relu", "ArgMax", "Gather"]
    feed = {"x": random(4, 3)}
    assert list(run(model, feed)[0]) == list(run(slim, feed)[0])


def test_sequences_stay():
    sequence = helper.make_tensor_sequence_value_info("y", FLOAT, None)
    model = model_of([*noise(), node("SequenceConstruct", ["clean", "a"], ["s"]),
                      node("Identity", ["clean"], ["more"]),
                      node("SequenceInsert", ["s", "more"], ["y"])],
                     [info("x", FLOAT, ["n", 3])], [sequence], WEIGHTS)
    slim = slimmed(model)
    assert operators(slim) == ["Relu", "SequenceConstruct", "SequenceInsert"]
    feed = {"x": random(4, 3)}
    for expected, actual in zip(run(model, feed)[0], run(slim, feed)[0], strict=True):
        numpy.testing.assert_array_equal(actual, expected)


def test_inputs_of_strange_types_stay():
    model = model_of([*noise(), node("StringNormalizer", ["s"], ["y"]),
                      node("Identity", ["clean"], ["z"])],
                     [info("x", FLOAT, ["n", 3]), info("s", TensorProto.STRING, [2])],
                     [info("y", TensorProto.STRING, [2]), info("z", FLOAT, ["n", 3])], WEIGHTS)
    slim = slimmed(model)
    assert sorted(operators(slim)) == ["Relu", "StringNormalizer"]
    feed = {"x": random(4, 3), "s": numpy.array(["a", "b"])}
    for expected, actual in zip(run(model, feed), run(slim, feed), strict=True):
        numpy.testing.assert_array_equal(actual, expected)


def test_bodies_with_unknown_operators_stay():
    branch = lambda name, inner: helper.make_graph(  # noqa: E731
        [inner], name, [], [info(inner.output[0], FLOAT, ["n", 3])])
    choice = node("If", ["c"], ["y"],
                  then_branch=branch("yes", swirl("clean", "yes")),
                  else_branch=branch("no", node("Neg", ["clean"], ["no"])))
    model = model_of([*noise(), choice],
                     [info("x", FLOAT, ["n", 3]), info("c", TensorProto.BOOL, [])],
                     [info("y", FLOAT, ["n", 3])], WEIGHTS, domains=["my.domain"])
    slim = slimmed(model)
    assert operators(slim) == ["Relu", "If"]
    assert slim.graph.node[0].output[0] == "clean"


def test_models_of_nothing_but_unknown_operators_stay():
    model = model_of([swirl("x", "y")], [info("x", FLOAT, ["n"])], [info("y", FLOAT, ["n"])],
                     domains=["my.domain"])
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    assert operators(slimmed(model)) == ["Swirl"]


@pytest.mark.parametrize("directions", [{"scan_output_directions": [1]},
                                        {"scan_output_directions": [1], "scan_output_axes": [1]},
                                        {"scan_output_directions": [1], "scan_input_directions": [1]}])
def test_scan_with_reversed_outputs(directions):
    body = helper.make_graph([node("Add", ["s", "e"], ["next"]), node("Mul", ["next", "e"], ["out"])],
                             "body", [info("s", FLOAT, [4]), info("e", FLOAT, [4])],
                             [info("next", FLOAT, [4]), info("out", FLOAT, [4])])
    model = model_of([node("Identity", ["x"], ["same"]),
                      node("Scan", ["same", "elements"], ["last", "all"], body=body,
                           num_scan_inputs=1, **directions)],
                     [info("x", FLOAT, [4]), info("elements", FLOAT, ["n", 4])],
                     [info("last", FLOAT, [4]), info("all", FLOAT, None)])
    slim = slimmed(model)
    assert operators(slim) == ["Scan"]
    assert_same(model, slim, {"x": random(4), "elements": random(5, 4)})
