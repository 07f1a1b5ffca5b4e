"""Whether a slim model computes what the whole one does, in ONNX Runtime."""

import numpy
import onnx
import onnxruntime
from models import inputs, regenerate, wheels


def names():
    """Of all models here and in wheels."""
    return [*regenerate.names(), *wheels.MODELS]


def load(name):
    """The model as bytes, and sets of inputs for it."""
    if name in wheels.MODELS:
        wheel = wheels.MODELS[name]
        return (wheel.path.read_bytes(),
                [wheel.feeds(case, seed) for seed, case in enumerate(wheel.cases)])
    model = regenerate.load(name)
    feeds = [inputs.feeds(model, dims, seed) for seed, dims in enumerate(inputs.dims(name))]
    return model.SerializeToString(), feeds


def count(model):
    """Nodes of a model's bytes, those of subgraphs and local functions included."""
    model = onnx.load_from_string(model)
    return nodes_in(model.graph.node) + sum(nodes_in(function.node) for function in model.functions)


def nodes_in(nodes):
    graphs = (graph for node in nodes for attribute in node.attribute
              for graph in (attribute.g, *attribute.graphs))
    return len(nodes) + sum(nodes_in(graph.node) for graph in graphs)


def largest_difference(model, slimmed, feeds):
    """Of all outputs and feeds, relative to the largest magnitude of each output. Fails where shapes
    or types differ; None where ONNX Runtime cannot run the whole model on any of the feeds."""
    before, after = session(model), session(slimmed)
    names = [value.name for value in before.get_outputs()]
    assert names == [value.name for value in after.get_outputs()]
    worst = None
    for feed in feeds:
        try:
            expected = before.run(None, feed)
        except Exception:  # noqa: BLE001 - onnxruntime has no common base for them
            continue
        actual = after.run(None, feed)
        worst = max(worst or 0.0, *map(difference, names, expected, actual))
    return worst


def difference(name, expected, actual):
    assert (expected.shape, expected.dtype) == (actual.shape, actual.dtype), (
        f"{name} is {actual.dtype} {actual.shape}, and was {expected.dtype} {expected.shape}")
    expected, actual = expected.astype(numpy.float64), actual.astype(numpy.float64)
    finite = numpy.isfinite(expected)
    assert numpy.array_equal(expected[~finite], actual[~finite], equal_nan=True), name
    scale = numpy.abs(expected[finite]).max(initial=0) or 1
    return numpy.abs(expected[finite] - actual[finite]).max(initial=0) / scale


def session(model):
    """Nothing is optimised: whatever was written is what runs."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
