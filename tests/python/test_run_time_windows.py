"""Windows that only a run knows, and ranks that only a declaration tells, beside ONNX Runtime."""

import numpy
import onnx
import pytest
from onnx import TensorProto, helper
from test_run_time_attributes import compare, engine_of, floats, integers, model_of, node, scalar

import camshaft as trt

ATTRIBUTES = [{}, {"strides": [2, 1], "pads": [1, 0, 2, 3]}, {"dilations": [2, 1]}]
PADDED = [{"auto_pad": "SAME_UPPER", "strides": [2, 3]}, {"auto_pad": "SAME_LOWER"},
          {"auto_pad": "VALID", "strides": [1, 2]}]
KERNELS = ((3, 3), (1, 4), (2, 1))


@pytest.mark.parametrize("attributes", ATTRIBUTES + PADDED)
@pytest.mark.parametrize("groups", (1, 2))
def test_convolution(attributes, groups):
    feeds = [{"x": floats(2, 4, 9, 8), "w": floats(6, 4 // groups, *kernel)} for kernel in KERNELS]
    compare(node("Conv", "x w b", group=groups, **attributes), feeds, b=floats(6))
    some = [{"x": floats(2, 4, 9, 8), "w": floats(6, 4 // groups, size, 3)} for size in (1, 3, 2)]
    compare(node("Conv", "x w", group=groups, **attributes), some, {"w": [6, 4 // groups, "h", 3]})


@pytest.mark.parametrize("attributes", ATTRIBUTES + [{"output_shape": [17, 15], "strides": [2, 2]},
                                                     {"strides": [3, 2], "output_padding": [2, 1]}])
@pytest.mark.parametrize("groups", (1, 2))
def test_transposed_convolution(attributes, groups):
    feeds = [{"x": floats(2, 4, 9, 8), "w": floats(4, 3, *kernel)} for kernel in KERNELS]
    compare(node("ConvTranspose", "x w b", group=groups, **attributes), feeds, b=floats(3 * groups))


def test_convolution_of_bytes():
    draw = numpy.random.default_rng(3)
    feeds = [{name: draw.integers(0, 255, shape).astype(numpy.uint8)
              for name, shape in (("x", (1, 2, 7, 6)), ("w", (3, 2, *kernel)))} for kernel in KERNELS]
    compare(node("ConvInteger", "x w z v", pads=[1, 1, 1, 1]), feeds, z=numpy.uint8(7), v=numpy.uint8(9))


@pytest.mark.parametrize("operator, shape", [("Conv", ["f", 2, 3, 3]), ("ConvTranspose", [2, "f", 3, 3])])
def test_as_many_filters_as_the_run_says(operator, shape):
    sizes = [[count if size == "f" else size for size in shape] for count in (4, 1, 7)]
    compare(node(operator, "x w"), [{"x": floats(1, 2, 6, 5), "w": floats(*size)} for size in sizes], {"w": shape})


def test_a_window_that_does_not_fit_is_refused():
    feeds = [{"x": floats(1, 2, 9, 9), "w": floats(3, 2, size, 2)} for size in (2, 9, 10)]
    model = model_of([node("Conv", "x w")], feeds[0], {}, ["y"], {}, 17)
    context = engine_of(model, feeds).create_execution_context()
    assert trt.infer(context, feeds[1])["y"].shape == (1, 3, 1, 8)
    with pytest.raises(trt.Error, match="has 0 windows of .* in its padded input where it needs at least 1"):
        trt.infer(context, feeds[2])


def test_updates_tell_the_length_of_tuples():
    feeds = [{"x": floats(4, 3, 2), "i": integers([[0, 1], [3, 2]])[0], "u": floats(2, 2)}]
    compare(node("ScatterND", "x i u"), feeds)


def test_tuples_of_a_vector_have_one_index():
    compare(node("GatherND", "x i"), [{"x": floats(size), "i": integers([[0], [2], [1]])[0]} for size in (3, 5)])


def declared(model, rank):
    model = onnx.load_from_string(model)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * rank))
    return model.SerializeToString()


DECLARED = {
    "GatherND": (node("GatherND", "x i"), {"x": floats(4, 3, 2), "i": integers([[0, 1], [3, 2]])[0]}, 2,
                 lambda x, i: x[i[:, 0], i[:, 1]]),
    "Squeeze": (node("Squeeze", "x i"), {"x": floats(4, 1, 2, 1), "i": integers(1, -1)}, 2, lambda x, i: x[:, 0, :, 0]),
    "Unsqueeze": (node("Unsqueeze", "x i"), {"x": floats(4, 2), "i": integers(0, 2)}, 4,
                  lambda x, i: x[None, :, None]),
    "Reshape": (node("Reshape", "x i"), {"x": floats(4, 3), "i": integers(2, -1, 3)}, 3,
                lambda x, i: x.reshape(2, 2, 3)),
    "Expand": (node("Expand", "x i"), {"x": floats(4, 1), "i": integers(3)}, 2, lambda x, i: x.repeat(3, 1)),
    "ConstantOfShape": (node("ConstantOfShape", "i"), {"i": integers(3, 2)}, 2,
                        lambda i: numpy.zeros((3, 2), numpy.float32)),
    "ReduceSum": (node("ReduceSum", "x i", keepdims=0), {"x": floats(4, 3, 2), "i": integers(2, 0)}, 1,
                  lambda x, i: x.sum((0, 2))),
}


@pytest.mark.parametrize("operator", DECLARED)
def test_a_declaration_tells_the_rank(operator):
    nodes, feed, rank, expected = DECLARED[operator]
    model = model_of([nodes], feed, {}, ["y"], {}, 17)
    with pytest.raises(AssertionError, match="known at run time only|of known length"):
        engine_of(model, [feed])
    context = engine_of(declared(model, rank), [feed]).create_execution_context()
    numpy.testing.assert_allclose(trt.infer(context, feed)["y"], expected(**feed), rtol=1e-6)


def test_another_rank_than_declared_is_refused():
    feeds = [{"x": floats(4, 3, 2), "i": integers(*tuples)} for tuples in ([[0, 1], [3, 2]], [[0, 1, 1], [3, 2, 0]])]
    model = declared(model_of([node("GatherND", "x i", name="g")], feeds[0], {}, ["y"], {}, 17), 2)
    context = engine_of(model, feeds).create_execution_context()
    assert trt.infer(context, feeds[0])["y"].shape == (2, 2)
    with pytest.raises(trt.Error, match="node 'g' .* has (3 indices in a tuple|6 elements) where"):
        trt.infer(context, feeds[1])


@pytest.mark.parametrize("axis", (0, 1))
def test_the_last_part_of_a_split_may_be_smaller(axis):
    nodes = [node("SplitToSequence", "x size", "parts", axis=axis), node("SequenceAt", "parts at", "y"),
             node("SequenceLength", "parts", "n"), node("ConcatFromSequence", "parts", "z", axis=axis)]
    for at in (-1, 0):
        compare(nodes, [{"x": floats(*shape), "at": scalar(at)} for shape in ((6, 4), (5, 3), (1, 1))],
                outputs=("y", "n", "z"), size=scalar(2))
