"""Slims the model of a case: the slim one must be valid and give what the whole one gives."""

import numpy
import onnx
import onnxruntime
from check import Refused, compare, compare_all, input_names

import camshaft as trt

IN_RUNTIME = "same in ONNX Runtime"
IN_CAMSHAFT = "same in Camshaft"  # ONNX Runtime does not run the model
REFUSED = "refused"  # by the parser, so there is nothing to compare
KINDS = (IN_RUNTIME, IN_CAMSHAFT, REFUSED)


def check(case):
    """One of KINDS; raises where the slim model is another one."""
    model = case.model()
    try:
        slimmed = onnx.load_from_string(trt.slim(model, logger=trt.Logger(trt.Logger.INTERNAL_ERROR)))
    except trt.Error:
        return REFUSED
    if is_valid(model):
        onnx.checker.check_model(slimmed)
    assert len(slimmed.graph.node) <= len(model.graph.node) or model.functions or in_body(model), (
        f"{len(slimmed.graph.node)} nodes, and {len(model.graph.node)} before")
    data_sets = case.data_sets(model)
    feeds = [dict(zip(input_names(model), inputs)) for inputs, _ in data_sets]
    expected = [run(model, feed) for feed in feeds]
    if None not in expected:
        for feed, before in zip(feeds, expected):
            after = run(slimmed, feed)
            assert after is not None, "ONNX Runtime refuses the slim model"
            if is_repeatable(model, feed, before):
                compare_in_order(after, before, case)
        return IN_RUNTIME
    try:
        compare_all(case, model, data_sets, [value.name for value in model.graph.output])
    except (Refused, AssertionError, TypeError, ValueError, KeyError):
        return REFUSED  # not for being slim
    compare_all(case, slimmed, data_sets, [value.name for value in model.graph.output])
    return IN_CAMSHAFT


def is_valid(model):
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError:
        return False
    return True


def run(model, feed):
    """The outputs, or None where ONNX Runtime does not run the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return session.run(None, feed)
    except Exception:  # noqa: BLE001 - it has no common base for them
        return None


def is_repeatable(model, feed, before):
    """False for random numbers."""
    again = run(model, feed)
    return all(numpy.array_equal(first, second, equal_nan=first.dtype.kind == "f")
               for first, second in zip(again, before) if isinstance(first, numpy.ndarray))


def compare_in_order(after, before, case):
    for ours, theirs in zip(after, before, strict=True):
        if isinstance(theirs, list):
            compare(ours, theirs, case.suite.rtol, case.suite.atol)
        elif theirs is not None:
            compare([ours], [theirs], case.suite.rtol, case.suite.atol)


def in_body(model):
    """Whether some node has a body, which is written in place where its condition is known."""
    return any(attribute.type == onnx.AttributeProto.GRAPH
               for node in model.graph.node for attribute in node.attribute)
