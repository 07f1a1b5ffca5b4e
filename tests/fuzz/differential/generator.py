"""Cases from seeds."""

import numpy
from onnx import helper

from . import oracle, values
from .case import Case, Run
from .scope import NOISY, Reject, Scope
from .table import ENTRIES

OPSETS = (11, 12, 13, 14, 15, 16, 17, 18, 18, 19, 20, 21, 21, 22, 23, 23, 24, 24, 25, 26)
WEIGHTS = numpy.asarray([weight for _, weight, _ in ENTRIES], float)
WEIGHTS /= WEIGHTS.sum()


class Abandoned(Exception):
    """A seed that makes no case, and why."""


def generate(seed, noisy=NOISY):
    """The case of a seed. Odd seeds have static sizes, even ones sizes that a run decides."""
    random = numpy.random.default_rng(seed)
    runs = 1 if seed % 2 else int(random.integers(3, 5))
    graph = Scope(random, int(random.choice(OPSETS)), runs, noisy=noisy)
    grown = grow(graph, int(random.integers(1, 9 if runs > 1 else 13)))
    if not graph.nodes:
        raise Abandoned("no node was accepted")
    outputs = choose_outputs(graph)
    drop_unused(graph, outputs)
    model = model_of(graph, outputs)
    return Case(seed, model.SerializeToString(), expectations(graph, model, outputs), grown)


def grow(graph, count):
    """Adds `count` constructs, each at most a few nodes; their names."""
    grown = []
    for _ in range(count * 6):
        if len(grown) == count:
            break
        graph.root.careless = graph.runs > 1 and graph.chance(0.12)
        name, _, construct = ENTRIES[int(graph.random.choice(len(ENTRIES), p=WEIGHTS))]
        try:
            construct(graph)
            grown.append(name)
        except Reject:
            pass
    graph.root.careless = False
    return grown


def choose_outputs(graph):
    """What nothing reads, and some of the rest. Types that numpy lacks leave as f32."""
    results = [t for t in graph.tensors if t.kind == "result"]
    chosen = [t for t in results if not t.used or graph.chance(0.12)]
    outputs = []
    for tensor in chosen:
        if tensor.dtype in values.STORED_AS:
            wide = values.STORED_AS[tensor.dtype]
            try:
                tensor = graph.node("Cast", [tensor], kind="exact", to=values.CODES[wide])
            except Reject:
                continue
        outputs.append(tensor)
    if not outputs:
        raise Abandoned("nothing can be an output")
    return outputs


def drop_unused(graph, outputs):
    """Takes out what was added by constructs that were given up half way, and reaches no output."""
    needed = {t.name for t in outputs}
    kept = []
    for node in reversed(graph.nodes):
        if needed & set(node.output):
            needed |= reads(node)
            kept.append(node)
    graph.nodes = kept[::-1]
    graph.constants = [c for c in graph.constants if c.name in needed]
    # An input that nothing reads is legal, and rare enough to keep now and then.
    graph.inputs = [t for t in graph.inputs if t.name in needed or graph.chance(0.05)]


def reads(node):
    """What a node reads, in its bodies too."""
    names = set(node.input)
    for attribute in node.attribute:
        for body in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            for inner in body.node:
                names |= reads(inner)
            names |= {output.name for output in body.output}
    return names


def model_of(graph, outputs):
    info = helper.make_tensor_value_info
    inputs = [info(t.name, values.CODES[t.dtype], graph.chosen[t.name]) for t in graph.inputs]
    made = [info(t.name, values.CODES[t.dtype], list(t.shape) if graph.runs == 1 else [None] * t.rank) for t in outputs]
    if graph.chance(0.5):
        graph.nodes, graph.constants = with_constant_nodes(graph)
    body = helper.make_graph(graph.nodes, "g", inputs, made, graph.constants)
    return helper.make_model(body, opset_imports=oracle.opsets(graph.opset), ir_version=oracle.IR_VERSION)


def with_constant_nodes(graph):
    """Some initialisers as Constant nodes."""
    moved = [c for c in graph.constants if graph.chance(0.3) and c.data_type <= 13]
    nodes = [helper.make_node("Constant", [], [c.name], value=c, name="constant_" + c.name) for c in moved]
    names = {c.name for c in moved}
    return nodes + graph.nodes, [c for c in graph.constants if c.name not in names]


def expectations(graph, model, outputs):
    """What ONNX Runtime makes of the whole model in each run, beside what it made of single nodes."""
    try:
        session = oracle.Session(model)
    except oracle.Refused as refused:
        raise Abandoned(f"ONNX Runtime refuses the whole: {refused}") from None
    runs = []
    for at in range(graph.runs):
        inputs = {t.name: t.lanes[at][0] for t in graph.inputs}
        try:
            results = session.run(inputs)
        except oracle.Refused as refused:
            if at == 0:
                raise Abandoned(f"ONNX Runtime refuses the first run: {refused}") from None
            runs.append(Run(inputs, None, {}, str(refused)))
            continue
        if any(numpy.asarray(array).dtype == object for array in results):
            raise Abandoned("ONNX Runtime leaves out an output")
        expected = {t.name: numpy.asarray(array) for t, array in zip(outputs, results)}
        slack = {t.name: slack_of(t, at, expected[t.name]) for t in outputs}
        runs.append(Run(inputs, expected, slack))
    return runs


def slack_of(tensor, run, result):
    """How far each element may be off; None where even the shape is a matter of rounding."""
    lanes = tensor.lanes[run]
    if lanes is None:  # single nodes refused what the whole computes
        return None
    plain, noisy = lanes[0], lanes[1:]
    if any(lane.shape != result.shape for lane in lanes):
        return None
    if result.size == 0:
        return numpy.zeros(result.shape)
    if result.dtype.kind not in "f":
        wide = result.astype(numpy.float64)
        off = numpy.max([numpy.abs(lane.astype(numpy.float64) - wide) for lane in lanes], axis=0)
        return numpy.where(off > 1, numpy.inf, off) if result.dtype != bool else numpy.where(off, numpy.inf, 0.0)
    with numpy.errstate(invalid="ignore", over="ignore"):
        wide = result.astype(numpy.float64)
        moved = numpy.max([numpy.abs(lane.astype(numpy.float64) - wide) for lane in noisy], axis=0)
        moved = numpy.where(numpy.isfinite(moved), moved, numpy.inf)
        usual = moved[numpy.isfinite(moved)].mean() if numpy.isfinite(moved).any() else 0.0
        size = numpy.sqrt(numpy.mean(wide[numpy.isfinite(wide)] ** 2)) if numpy.isfinite(wide).any() else 0.0
        slack = 4 * moved + 3 * usual + 8 * values.ROUNDING[result.dtype.name] * numpy.abs(wide)
        slack = numpy.where(moved > 0.1 * (size + 1e-3), numpy.inf, slack)
        off = numpy.abs(plain.astype(numpy.float64) - wide)
    slack = numpy.where(off > slack, numpy.inf, slack)
    return numpy.where(numpy.isfinite(wide), slack, 0.0)
