"""Sequences that grow as often as only the run knows, beside ONNX Runtime."""

import numpy
import onnxruntime
import pytest
from building import build
from onnx import TensorProto, helper, numpy_helper

import camshaft as trt

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def tensor(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def sequence(name):
    return helper.make_tensor_sequence_value_info(name, FLOAT, None)


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs.split(), outputs.split(), **attributes)


def compare(nodes, feeds, outputs):
    """Every feed on one engine, with the same results as ONNX Runtime."""
    kinds = {numpy.dtype("float32"): FLOAT, numpy.dtype("int64"): INT64}
    graph = helper.make_graph(
        nodes, "g",
        [tensor(name, kinds[value.dtype], [f"{name}{i}" for i in range(value.ndim)])
         for name, value in feeds[0].items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(numpy.array(0, numpy.int64), "zero"),
         numpy_helper.from_array(numpy.array(-1, numpy.int64), "last")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = model.SerializeToString()
    engine = build(data, [{name: value.shape for name, value in feed.items()} for feed in feeds])
    context = engine.create_execution_context()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    for feed in feeds + feeds[::-1]:
        results = trt.infer(context, feed)
        for name, wanted in zip(outputs, session.run(outputs, feed)):
            assert results[name].shape == wanted.shape, name
            numpy.testing.assert_allclose(results[name], wanted, rtol=1e-5, atol=1e-6, err_msg=name)


def loop(body_nodes, condition="go", before="none", carried=(), outputs="all"):
    body = helper.make_graph(
        [*body_nodes, node("Identity", condition, "goes")], "body",
        [tensor("i", INT64, []), tensor("go", BOOL, []), sequence("s"), *(tensor(*one) for one in carried)],
        [tensor("goes", BOOL, []), sequence("t"), *(tensor(one[0] + "_next", *one[1:]) for one in carried)])
    starts = " ".join(one[0] + "_first" for one in carried)
    return helper.make_node("Loop", ["trips", "", before, *starts.split()], outputs.split(), body=body)


def feeds(*trips):
    draw = numpy.random.default_rng(2)
    return [{"x": draw.standard_normal((5, 3, columns)).astype(numpy.float32),
             "trips": numpy.array(count, numpy.int64)} for count, columns in trips]


ROWS = [node("Gather", "x i", "row"), node("Exp", "row", "e"), node("SequenceInsert", "s e", "t")]
READS = [node("ConcatFromSequence", "all", "joined", axis=1),
         node("ConcatFromSequence", "all", "stacked", axis=0, new_axis=1),
         node("SequenceAt", "all last", "end"), node("SequenceAt", "all zero", "begin"),
         node("SequenceLength", "all", "count")]


def test_elements_of_a_loop():
    nodes = [node("SequenceEmpty", "", "none"), loop(ROWS), *READS]
    compare(nodes, feeds((2, 4), (5, 4), (1, 7)), ["joined", "stacked", "end", "begin", "count"])


def test_elements_after_others():
    nodes = [node("Gather", "x zero", "first"), node("SequenceConstruct", "first", "some"),
             loop(ROWS, before="some"), *READS]
    compare(nodes, feeds((3, 4), (0, 2), (1, 7)), ["joined", "stacked", "end", "begin", "count"])


def test_two_elements_at_a_time():
    twice = [node("Gather", "x i", "row"), node("Neg", "row", "minus"),
             node("SequenceInsert", "s row", "one"), node("SequenceInsert", "one minus", "t")]
    nodes = [node("SequenceEmpty", "", "none"), loop(twice), *READS]
    compare(nodes, feeds((2, 4), (5, 3)), ["joined", "stacked", "end", "begin", "count"])


def test_beside_a_tensor_that_is_carried():
    steps = [node("Gather", "x i", "row"), node("Add", "row total", "total_next"),
             node("SequenceInsert", "s total_next", "t")]
    nodes = [node("SequenceEmpty", "", "none"), node("Gather", "x zero", "total_first"),
             loop(steps, carried=[("total", FLOAT, None)], outputs="all sum"), *READS]
    compare(nodes, feeds((2, 4), (4, 3)), ["sum", "joined", "stacked", "end", "count"])


def test_until_a_condition_of_the_data():
    steps = [node("Gather", "x i", "row"), node("ReduceMax", "row", "most", keepdims=0),
             node("Less", "most limit", "small"), node("SequenceInsert", "s row", "t")]
    nodes = [node("Constant", "", "limit", value_float=1.5), node("SequenceEmpty", "", "none"),
             loop(steps, condition="small"), *READS]
    compare(nodes, feeds((5, 4), (5, 2)), ["joined", "stacked", "count"])


@pytest.mark.parametrize("keep", (0, 1))
def test_rows_of_a_tensor(keep):
    taken = [node("SequenceAt", "rows i", "row"), node("Exp", "row", "e"), node("SequenceInsert", "s e", "t")]
    nodes = [node("SplitToSequence", "x", "rows", keepdims=keep), node("SequenceEmpty", "", "none"),
             node("SequenceLength", "rows", "length"), loop(taken), *READS]
    compare(nodes, feeds((2, 4), (5, 3)), ["joined", "stacked", "end", "length"])
