"""Conditionals and loops added layer by layer, compared with numpy."""

import numpy
import pytest

import camshaft as trt

random = numpy.random.default_rng(5)
SUM, PROD, LESS = (trt.ElementWiseOperation.SUM, trt.ElementWiseOperation.PROD,
                   trt.ElementWiseOperation.LESS)


def normal(*shape):
    return random.standard_normal(shape, dtype=numpy.float32)


def run(engine, **inputs):
    return trt.infer(engine.create_execution_context(), inputs)


@pytest.fixture
def constant(network):
    def constant(value, dtype=numpy.float32):
        array = numpy.asarray(value, dtype)
        return network.add_constant(array.shape, array).get_output(0)

    return constant


@pytest.fixture
def op(network):
    return lambda a, b, operation: network.add_elementwise(a, b, operation).get_output(0)


@pytest.fixture
def output(network):
    def output(tensor, name):
        tensor.name = name
        network.mark_output(tensor)

    return output


@pytest.mark.parametrize("condition", [True, False])
def test_conditional(network, build, op, output, condition):
    c = network.add_input("c", trt.bool, ())
    x = network.add_input("x", trt.float32, (2, 3))
    conditional = network.add_if_conditional()
    conditional.name = "choice"
    layer = conditional.set_condition(c)
    inside = conditional.add_input(x).get_output(0)
    result = conditional.add_output(op(inside, inside, SUM), op(inside, inside, PROD))
    output(result.get_output(0), "y")
    assert layer.conditional.name == "choice"
    kinds = [type(layer) for layer in network]
    assert kinds == [trt.IConditionLayer, trt.IIfConditionalInputLayer, trt.IElementWiseLayer,
                     trt.IElementWiseLayer, trt.IIfConditionalOutputLayer]
    value = normal(2, 3)
    expected = value + value if condition else value * value
    numpy.testing.assert_allclose(run(build(network), c=numpy.array(condition), x=value)["y"],
                                  expected, rtol=1e-6)


def test_recurrent_network(network, build, constant, op, output):
    """h = tanh(x[t] + h w), both ways, with all states and the last."""
    x = network.add_input("x", trt.float32, (5, 2, 4))
    w = normal(4, 4)
    steps = constant(5, numpy.int32)
    for name, reverse in (("forwards", False), ("backwards", True)):
        loop = network.add_loop()
        limit = loop.add_trip_limit(steps, trt.TripLimit.COUNT)
        step = loop.add_iterator(x, 0, reverse)
        state = loop.add_recurrence(constant(numpy.zeros((2, 4))))
        product = network.add_matrix_multiply(state.get_output(0), trt.MatrixOperation.NONE,
                                              constant(w), trt.MatrixOperation.NONE)
        total = op(step.get_output(0), product.get_output(0), SUM)
        hidden = network.add_activation(total, trt.ActivationType.TANH).get_output(0)
        state.set_input(1, hidden)
        kind = trt.LoopOutput.REVERSE if reverse else trt.LoopOutput.CONCATENATE
        states = loop.add_loop_output(hidden, kind, axis=1)
        states.set_input(1, steps)
        last = loop.add_loop_output(state.get_output(0), trt.LoopOutput.LAST_VALUE)
        output(states.get_output(0), name)
        output(last.get_output(0), name + "_last")
        assert (limit.kind, states.kind, states.axis) == (trt.TripLimit.COUNT, kind, 1)
        assert (step.axis, step.reverse) == (0, reverse)
        assert states.get_output(0).shape == (2, 5, 4)
        assert states.loop.name == loop.name

    value = normal(5, 2, 4)
    results = run(build(network), x=value)
    for name, order in (("forwards", range(5)), ("backwards", range(4, -1, -1))):
        state, states = numpy.zeros((2, 4), numpy.float32), {}
        for t in order:
            states[t] = state = numpy.tanh(value[t] + state @ w)
        expected = numpy.stack([states[t] for t in range(5)], 1)
        numpy.testing.assert_allclose(results[name], expected, rtol=1e-4, atol=1e-5)
        numpy.testing.assert_allclose(results[name + "_last"], state, rtol=1e-4, atol=1e-5)


def test_while_loop_in_a_branch(network, build, constant, op, output):
    """Doubles until more than a limit of the run, in one branch; the other leaves x."""
    c = network.add_input("c", trt.bool, ())
    x = network.add_input("x", trt.float32, ())
    most = network.add_input("most", trt.float32, ())
    conditional = network.add_if_conditional()
    conditional.set_condition(c)
    inside = conditional.add_input(x).get_output(0)
    loop = network.add_loop()
    value = loop.add_recurrence(inside)
    v = value.get_output(0)
    loop.add_trip_limit(op(v, most, LESS), trt.TripLimit.WHILE)
    value.set_input(1, op(v, constant(2), PROD))
    last = loop.add_loop_output(v, trt.LoopOutput.LAST_VALUE).get_output(0)
    output(conditional.add_output(last, inside).get_output(0), "y")
    engine = build(network)

    def result(condition, start, limit):
        return run(engine, c=numpy.array(condition), x=numpy.float32(start),
                   most=numpy.float32(limit))["y"]

    assert result(True, 3, 20) == 24
    assert result(True, 30, 20) == 30
    assert result(False, 3, 20) == 3


def test_loops_that_lack_something_are_refused_in_words(network, build, constant):
    x = network.add_input("x", trt.float32, (2,))
    loop = network.add_loop()
    with pytest.raises(trt.Error, match="a condition of one bool"):
        loop.add_trip_limit(x, trt.TripLimit.WHILE)
    state = loop.add_recurrence(x)
    last = loop.add_loop_output(state.get_output(0), trt.LoopOutput.LAST_VALUE)
    network.mark_output(last.get_output(0))
    with pytest.raises(trt.Error, match="needs its second input"):
        build(network)
    state.set_input(1, x)
    with pytest.raises(trt.Error, match="has no trip limit"):
        build(network)
    loop.add_trip_limit(constant(2, numpy.int64), trt.TripLimit.COUNT)
    value = normal(2)
    (result,) = run(build(network), x=value).values()
    numpy.testing.assert_array_equal(result, value)


@pytest.mark.parametrize("condition", [True, False])
@pytest.mark.parametrize("inside", [False, True])
def test_branch_with_run_time_shapes(network, build, op, output, condition, inside):
    """A shape that a tensor decides, bound around the conditional or in its branches."""
    c = network.add_input("c", trt.bool, ())
    x = network.add_input("x", trt.float32, (6,))
    shape = network.add_input("shape", trt.int64, (2,))
    conditional = network.add_if_conditional()
    conditional.set_condition(c)
    reshaped = network.add_shuffle(conditional.add_input(x).get_output(0))
    reshaped.set_input(1, conditional.add_input(shape).get_output(0) if inside else shape)
    matrix = reshaped.get_output(0)
    result = conditional.add_output(op(matrix, matrix, SUM), op(matrix, matrix, PROD))
    output(result.get_output(0), "y")
    value = normal(6)
    results = run(build(network), c=numpy.array(condition), x=value, shape=numpy.array([2, 3]))
    expected = value + value if condition else value * value
    numpy.testing.assert_allclose(results["y"], expected.reshape(2, 3), rtol=1e-6)


@pytest.mark.parametrize("inside", [False, True])
def test_loop_with_run_time_shapes(network, build, constant, op, output, inside):
    x = network.add_input("x", trt.float32, (6,))
    shape = network.add_input("shape", trt.int64, (2,))
    steps = constant(3, numpy.int32)
    loop = network.add_loop()
    loop.add_trip_limit(steps, trt.TripLimit.COUNT)
    state, sizes = loop.add_recurrence(x), shape
    if inside:
        carried = loop.add_recurrence(shape)
        sizes = carried.get_output(0)
        carried.set_input(1, sizes)
    reshaped = network.add_shuffle(state.get_output(0))
    reshaped.set_input(1, sizes)
    doubled = op(reshaped.get_output(0), reshaped.get_output(0), SUM)
    flat = network.add_shuffle(doubled)
    flat.reshape_dims = (6,)
    state.set_input(1, flat.get_output(0))
    states = loop.add_loop_output(doubled, trt.LoopOutput.CONCATENATE)
    states.set_input(1, steps)
    output(states.get_output(0), "y")
    value = normal(6)
    results = run(build(network), x=value, shape=numpy.array([2, 3]))
    expected = numpy.stack([value * 2 ** i for i in (1, 2, 3)]).reshape(3, 2, 3)
    numpy.testing.assert_allclose(results["y"], expected, rtol=1e-6)
