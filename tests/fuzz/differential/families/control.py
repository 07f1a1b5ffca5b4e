"""Branches and loops with bodies that grow as the graph does, and sequences."""

import numpy
from onnx import helper

from .. import values
from ..scope import APPROXIMATE, EXACT, Scope, Tensor
from ..values import CODES, FLOATS, PLAIN

MOST_DEPTH = 2


def depth(g):
    return 0 if g.parent is None else 1 + depth(g.parent)


def body_of(g):
    g.need(depth(g) < MOST_DEPTH)
    return Scope(g.random, g.opset, g.runs, parent=g, noisy=g.noisy)


def grow(body, count):
    from ..generator import grow as grow_scope

    grow_scope(body, count)


def body_input(body, like, name="b"):
    """A tensor that the body is given, with the values of `like` while the body grows."""
    tensor = Tensor(body, body.fresh(name), like.dtype, like.lanes, "body input")
    body.tensors.append(tensor)
    return tensor


def info(tensor, name=None):
    return helper.make_tensor_value_info(name or tensor.name, CODES[tensor.dtype], [None] * tensor.rank)


def graph_of(body, inputs, outputs, name):
    """The body as a graph. An output that is given or captured, and not made here, leaves by an Identity."""
    made = {result for node in body.nodes for result in node.output}
    nodes, leaving = list(body.nodes), []
    for tensor in outputs:
        output = tensor.name
        if output not in made or output in [value.name for value in leaving]:
            output = body.fresh("i")
            nodes.append(helper.make_node("Identity", [tensor.name], [output]))
        leaving.append(info(tensor, output))
    return helper.make_graph(nodes, name, [info(t) for t in inputs], leaving, body.constants)


def captured(g, *bodies):
    """The tensors around that bodies read."""
    from ..generator import reads

    names = set()
    for body in bodies:
        for node in body.node:
            names |= reads(node)
    return [t for t in g.visible() if t.name in names]


def add(g, operator, inputs, attributes, count, kind):
    names = [g.fresh("t") for _ in range(count)]
    node = helper.make_node(operator, [t.name if t else "" for t in inputs], names,
                            name=g.fresh(operator.lower() + "_"), **attributes)
    bodies = [value for value in attributes.values() if hasattr(value, "node")]
    constants = [t for t in inputs if t and t.constant]
    around = captured(g, *bodies)
    return g.add([node], [t for t in inputs if t and not t.constant] + constants + around, names, kind)


def condition(g):
    """A scalar that decides: an input, or something computed."""
    if g.chance(0.5):
        return g.operand("bool", [])
    x = g.pick(("float32", "int64", "int32"), where=lambda t: t.full)
    axes = {} if g.opset >= 18 else {"axes": list(range(x.rank))} if x.rank else {}
    largest = g.node("ReduceMax", [x], kind=EXACT, keepdims=0, **axes)
    return g.node("Greater", [largest, g.const(numpy.asarray(g.between(0, 3), x.dtype))], kind=EXACT)


def if_(g):
    decides = condition(g)
    x = g.pick(PLAIN, rank=(0, 4))
    branches = []
    for name in ("then", "else"):
        body = body_of(g)
        body.tensors.append(x)
        grow(body, g.between(0, 3))
        body.tensors.remove(x)
        like = [t for t in body.tensors if t.dtype == x.dtype and t.rank == x.rank]
        same = [t for t in like if t.dims == x.dims]
        result = g.one_of(same) if same else g.one_of(like) if like and g.chance(0.5) else x
        branches.append(graph_of(body, [], [result], name))
    add(g, "If", [decides], {"then_branch": branches[0], "else_branch": branches[1]}, 1, APPROXIMATE)


def loop(g):
    """A carried value that keeps its type and shape, or grows; results of each iteration stacked."""
    trips = g.operand("int64", [], 0 if g.chance(0.1) else 1, 3)
    start = g.pick(FLOATS + ("int64",), rank=(0, 3))
    body = body_of(g)
    at = Tensor(body, body.fresh("b"), "int64", [[numpy.asarray(0)] * (1 + g.noisy)] * g.runs, "body input")
    going = Tensor(body, body.fresh("b"), "bool", [[numpy.asarray(True)] * (1 + g.noisy)] * g.runs, "body input")
    carried = body_input(body, start)
    body.tensors.append(at)
    grow(body, g.between(1, 4))
    results = [t for t in body.tensors if t.kind == "result"]
    same = [t for t in results if t.dtype == start.dtype and t.dims == start.dims]
    next_ = g.one_of(same) if same and g.chance(0.8) else carried
    stacked = [g.one_of(results)] if results and g.chance(0.6) else []
    g.need(all(t.dtype in values.PLAIN for t in stacked))
    # Of no iteration, ONNX Runtime takes sizes that it does not know as 0.
    g.need(not stacked or all(lane[0] > 0 for lane in trips.lanes if lane))
    keep = going
    if g.chance(0.3):
        body.tensors.append(going)
        limit = body.const(numpy.asarray(g.between(0, 2)))
        keep = body.node("Less", [at, limit], kind=EXACT)
    graph = graph_of(body, [at, going, carried], [keep, next_] + stacked, "body")
    first = g.const(numpy.asarray(True)) if g.chance(0.5) else None
    add(g, "Loop", [trips, first, start], {"body": graph}, 1 + len(stacked), APPROXIMATE)


def scan(g):
    """Row by row, a state beside."""
    x = g.pick(FLOATS, rank=(1, 3), where=lambda t: t.rank > 0)
    g.need(all(lane is None or len(lane[0]) for lane in x.lanes))
    state = g.operand("float32", [g.size()])
    body = body_of(g)
    carried = body_input(body, state)
    first = [lane and [numpy.asarray(one[0]) for one in lane] for lane in x.lanes]
    row = Tensor(body, body.fresh("b"), x.dtype, first, "body input")
    body.tensors.append(row)
    grow(body, g.between(1, 4))
    results = [t for t in body.tensors if t.kind == "result" and t.dtype in values.PLAIN]
    same = [t for t in results if t.dtype == state.dtype and t.dims == state.dims]
    next_ = g.one_of(same) if same else carried
    output = g.one_of(results) if results else row
    graph = graph_of(body, [carried, row], [next_, output], "body")
    attributes = {"body": graph, "num_scan_inputs": 1}
    if g.chance(0.3):
        attributes["scan_input_directions"] = [1]
    if g.chance(0.3):
        attributes["scan_output_directions"] = [1]
    add(g, "Scan", [state, x], attributes, 2, APPROXIMATE)


def sequence(g):
    """Built from tensors and taken apart again."""
    x = g.pick(FLOATS + ("int64",), rank=(1, 3), where=lambda t: t.rank > 0)
    others = [x] + [g.operand(x.dtype, x.dims) for _ in range(g.between(0, 2))]
    name, result = g.fresh("s"), g.fresh("t")
    nodes = [helper.make_node("SequenceConstruct", [t.name for t in others], [name])]
    constants = []
    if g.chance(0.4):
        last = g.const(numpy.asarray(g.between(-len(others), len(others) - 1)))
        constants.append(last)
        nodes.append(helper.make_node("SequenceAt", [name, last.name], [result]))
    else:
        stacked = g.between(0, 1)
        nodes.append(helper.make_node("ConcatFromSequence", [name], [result], axis=g.between(0, x.rank - 1),
                                      new_axis=stacked))
    g.add(nodes, others + constants, [result], EXACT)


def split_to_sequence(g):
    x = g.pick(FLOATS + ("int64",), rank=(1, 3), where=lambda t: t.rank > 0 and t.known(0) > 0)
    name, length, result = g.fresh("s"), g.fresh("t"), g.fresh("t")
    pieces = g.const(numpy.asarray(g.between(1, x.shape[0])))
    at = g.const(numpy.asarray(-1))
    nodes = [helper.make_node("SplitToSequence", [x.name, pieces.name], [name], axis=0),
             helper.make_node("SequenceLength", [name], [length]),
             helper.make_node("SequenceAt", [name, at.name], [result])]
    g.add(nodes, [x, pieces, at], [length, result], EXACT)


FAMILY = [("If", 4, if_), ("Loop", 4, loop), ("Scan", 3, scan), ("sequence", 1.5, sequence),
          ("SplitToSequence", 1, split_to_sequence)]
