"""camshaft.slim: constants that meet, and transposes that cancel."""

import numpy
import pytest
from test_slim import FLOAT, assert_same, info, model_of, node, operators, random, slimmed


def between(nodes, weights, shape=("n", 4), opset=17):
    return model_of(nodes, [info("x", FLOAT, list(shape))], [info("y", FLOAT, None)], weights, opset)


@pytest.mark.parametrize("operator", ["Sin", "Cos", "Exp", "Tanh", "Erf", "Sigmoid", "Softplus"])
def test_functions_of_constants_are_computed(operator):
    model = between([node(operator, ["w"], ["k"]), node("Clip", ["k", "low", "high"], ["c"]),
                     node("Add", ["x", "c"], ["y"])],
                    {"w": random(4), "low": numpy.float32(-0.5), "high": numpy.float32(0.5)})
    slim = slimmed(model)
    assert operators(slim) == ["Add"]
    assert_same(model, slim, {"x": random(3, 4)})


def test_sums_and_products_with_several_constants():
    chain = [node("Add", ["x", "a"], ["1"]), node("Add", ["b", "1"], ["2"]), node("Sub", ["2", "c"], ["3"]),
             node("Mul", ["3", "d"], ["4"]), node("Mul", ["4", "e"], ["y"])]
    model = between(chain, {"a": random(4), "b": numpy.float32(0.5), "c": random(1, 4),
                            "d": numpy.float32(3), "e": random(4)})
    slim = slimmed(model)
    assert operators(slim) == ["Add", "Mul"]
    assert_same(model, slim, {"x": random(3, 4)})


def test_sums_that_round_on_purpose_stay():
    """x + 1.5 * 2**23 - 1.5 * 2**23 is the integer next to x."""
    magic = numpy.float32(12582912)
    model = between([node("Add", ["x", "magic"], ["s"]), node("Sub", ["s", "magic"], ["y"])],
                    {"magic": magic})
    slim = slimmed(model)
    assert operators(slim) == ["Add", "Sub"]


def test_a_row_added_behind_a_reshape_goes_into_the_product():
    model = between([node("Reshape", ["x", "flat"], ["rows"]), node("Gemm", ["rows", "w", "b"], ["p"]),
                     node("Reshape", ["p", "back"], ["r"]), node("Add", ["r", "c"], ["s"]),
                     node("Mul", ["s", "d"], ["y"])],
                    {"flat": [-1, 8], "w": random(8, 6), "b": random(6), "back": [-1, 3, 2, 6],
                     "c": random(6), "d": random(1, 1, 1, 6)}, ["n", 6, 8])
    slim = slimmed(model)
    assert "Add" not in operators(slim) or "Gemm" not in operators(slim)
    assert operators(slim) == ["Reshape", "Gemm", "Mul", "Reshape"]
    assert_same(model, slim, {"x": random(2, 6, 8)})


def test_transposes_cancel_around_what_has_no_order():
    there, back = {"perm": [0, 2, 3, 1]}, {"perm": [0, 3, 1, 2]}
    model = between([node("Transpose", ["x"], ["t"], **there), node("Add", ["t", "c"], ["s"]),
                     node("Relu", ["s"], ["r"]), node("Transpose", ["r"], ["y"], **back)],
                    {"c": random(3)}, ["n", 3, 4, 5])
    slim = slimmed(model)
    assert operators(slim) == ["Add", "Relu"]
    assert_same(model, slim, {"x": random(2, 3, 4, 5)})


def test_transposes_of_transposes_are_one():
    model = between([node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]),
                     node("Transpose", ["t"], ["u"], perm=[0, 2, 1, 3]), node("Relu", ["u"], ["y"])],
                    {}, ["n", 3, 4, 5])
    slim = slimmed(model)
    assert operators(slim) in (["Transpose", "Relu"], ["Relu", "Transpose"])
    assert_same(model, slim, {"x": random(2, 3, 4, 5)})
