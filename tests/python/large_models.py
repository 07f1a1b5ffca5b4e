"""Models of many nodes, with what they compute. As a program: NAME NODES builds one and runs it.

    python large_models.py relu_chain 100000
"""

import resource
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
BYTES = 3 << 30  # of address space; a list per node of all nodes before it takes more


def model_of(nodes, outputs, weights=(), functions=()):
    info = helper.make_tensor_value_info
    tensors = [numpy_helper.from_array(array, name) for name, array in dict(weights).items()]
    graph = helper.make_graph(nodes, "large", [info("x", FLOAT, [4])],
                              [info(name, FLOAT, None) for name in outputs], tensors)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=9)


def chain(operators, count, name="n{}"):
    """Of operators in turn, from x to y."""
    tensors = ["x", *(f"t{i}" for i in range(1, count)), "y"]
    return [helper.make_node(operators[i % len(operators)], [tensors[i]], [tensors[i + 1]],
                             name=name.format(i)) for i in range(count)]


def relu_chain(count):
    """Every node goes into the one before it."""
    return model_of(chain(["Relu"], count), ["y"]), lambda x: [numpy.maximum(x, 0)]


def mixed_chain(count):
    """No two nodes go together."""
    def expected(x):
        for _ in range(count // 2):
            x = numpy.exp(x - x.max()) / numpy.exp(x - x.max()).sum()
            x = -x
        return [x]
    return model_of(chain(["Softmax", "Neg"], count), ["y"]), expected


def fan(count):
    """One tensor read by all, and one node that reads all of them."""
    numbers = numpy.arange(count, dtype=numpy.float32)
    nodes = [helper.make_node("Add", ["x", f"c{i}"], [f"t{i}"]) for i in range(count)]
    nodes.append(helper.make_node("Concat", [f"t{i}" for i in range(count)], ["y"], axis=0))
    weights = {f"c{i}": numbers[i:i + 1] for i in range(count)}
    return model_of(nodes, ["y"], weights), lambda x: [(x + numbers[:, None]).ravel()]


def many_outputs(count):
    numbers = numpy.arange(count, dtype=numpy.float32)
    nodes = [helper.make_node("Mul", ["x", f"c{i}"], [f"y{i}"]) for i in range(count)]
    weights = {f"c{i}": numbers[i:i + 1] for i in range(count)}
    return (model_of(nodes, [f"y{i}" for i in range(count)], weights),
            lambda x: list(x * numbers[:, None]))


def long_names(count):
    """A function of many nodes, called under a name of a megabyte."""
    function = helper.make_function("local", "Many", ["x"], ["y"], chain(["Neg", "Softmax"], count),
                                    [helper.make_opsetid("", 17)])
    call = helper.make_node("Many", ["x"], ["y"], domain="local", name="q" * 1_000_000)

    def expected(x):
        for _ in range(count // 2):
            x = numpy.exp(x.min() - x) / numpy.exp(x.min() - x).sum()
        return [x]
    return model_of([call], ["y"], functions=[function]), expected


def main(name, count):
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    from building import build

    import camshaft
    model, expected = globals()[name](int(count))
    engine = build(model.SerializeToString(), level=0, threads=1)
    x = numpy.array([0.5, -1, 2, 0], numpy.float32)
    results = camshaft.infer(engine.create_execution_context(), {"x": x})
    for output, wanted in zip(model.graph.output, expected(x), strict=True):
        numpy.testing.assert_allclose(results[output.name], wanted, rtol=1e-4, atol=1e-6)
    inspector = engine.create_engine_inspector()
    inspector.get_engine_information(camshaft.LayerInformationFormat.JSON)


if __name__ == "__main__":
    main(*sys.argv[1:])
