"""Runs one case through the Python API and compares its outputs as the suite does."""

import pathlib
import re
import sys

import numpy
import onnx
from onnx import numpy_helper

import camshaft as trt

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import sequences  # noqa: E402
from building import DEVICE, ON_GPU, loaded  # noqa: E402

PASSED = "passed"
# Those that must be constants (axes, pads, scales), and the lengths of sequences.
PASSED_FIXED = "passed with inputs fixed"


class Refused(Exception):
    """The parser's or builder's reasons against a model."""


def check(case):
    """PASSED or PASSED_FIXED; raises with the reason otherwise."""
    model = case.model()
    data_sets = case.data_sets(model)
    outputs = [value.name for value in model.graph.output]
    result = PASSED
    if sequences.has_sequences(data_sets[0]):
        model, data, outputs = sequences.take_apart(model, data_sets[0], input_names(model))
        data_sets, result = [data], PASSED_FIXED
    while True:
        try:
            compare_all(case, model, data_sets, outputs)
            return result
        except Refused as refused:
            wanted = inputs_to_fix(model, data_sets[0][0], str(refused))
            if not wanted or len(data_sets) > 1:
                raise
            model, data_sets = fix_inputs(model, data_sets[0], wanted)
            result = PASSED_FIXED


def compare_all(case, model, data_sets, output_names):
    names = input_names(model)
    feeds = [dict(zip(names, inputs)) for inputs, _ in data_sets]
    engine = build(model, feeds)
    for feed, (_, expected) in zip(feeds, data_sets):
        context = engine.create_execution_context()
        try:
            outputs = trt.infer(context, feed)
        except trt.Error as error:
            if "gives a scan output another size" in str(error):  # elements of a sequence, not alike
                raise Refused(str(error)) from None
            raise
        compare([sequences.output_of(outputs, name) for name in output_names], expected,
                case.suite.rtol, case.suite.atol)


def build(model, feeds):
    """An engine for these inputs, whose shapes are the profile where the model leaves them open."""
    logger = trt.Logger(trt.Logger.INTERNAL_ERROR)
    builder = trt.Builder(logger)
    builder.max_threads = 1
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    if not parser.parse(model.SerializeToString()):
        raise Refused("; ".join(parser.get_error(i).desc() for i in range(parser.num_errors)))
    config = builder.create_builder_config()
    config.default_device_type = DEVICE
    config.builder_optimization_level = 0
    config.clear_flag(trt.BuilderFlag.TF32)  # the suite's tolerances are those of f32
    profile = builder.create_optimization_profile()
    for i in range(network.num_inputs):
        tensor = network.get_input(i)
        if -1 in tensor.shape:
            shapes = [numpy.shape(feed[tensor.name]) for feed in feeds]
            profile.set_shape(tensor.name, min=numpy.min(shapes, axis=0), opt=shapes[0],
                              max=numpy.max(shapes, axis=0))
    config.add_optimization_profile(profile)
    try:
        plan = builder.build_serialized_network(network, config)
    except trt.Error as error:
        raise Refused(str(error)) from None
    return loaded(plan, 1, logger)


def input_names(model):
    weights = {tensor.name for tensor in model.graph.initializer}
    return [value.name for value in model.graph.input if value.name not in weights]


def inputs_to_fix(model, inputs, refusal):
    """The inputs that the refusal asks to be constants, else all that look like axes or sizes."""
    names = input_names(model)
    named = set(re.findall(r"\('([^']+)'\) must be a constant", refusal)) & set(names)
    return named or {name for name, value in zip(names, inputs) if isinstance(value, numpy.ndarray)
                     and value.ndim <= 1 and value.size <= 16 and value.dtype.kind in "ib"}


def fix_inputs(model, data_set, wanted):
    """The model with these inputs as constants, and the data that are left."""
    inputs, expected = data_set
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    left = []
    for name, value in zip(input_names(model), inputs):
        if name not in wanted:
            left.append(value)
            continue
        copy.graph.input.remove(next(v for v in copy.graph.input if v.name == name))
        copy.graph.initializer.append(numpy_helper.from_array(value, name))
    return copy, [(left, expected)]


def compare(outputs, expected, rtol, atol):
    for index, (ours, theirs) in enumerate(zip(outputs, expected, strict=True)):
        theirs = numpy.asarray(theirs)
        assert ours.shape == theirs.shape, f"output {index}: {ours.shape}, not {theirs.shape}"
        assert ours.dtype == theirs.dtype, f"output {index}: {ours.dtype}, not {theirs.dtype}"
        if theirs.dtype.type.__module__ == "ml_dtypes":  # numpy cannot compare these by itself
            rtol = max(rtol, 2**-6) if theirs.dtype.name == "bfloat16" else rtol
            ours, theirs = ours.astype(numpy.float32), theirs.astype(numpy.float32)
        if ON_GPU and theirs.dtype == numpy.float16:
            # What is expected was rounded to f16 after every step, which ours need not be.
            rtol = max(rtol, 2**-9)
        numpy.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol, err_msg=f"output {index}")
