"""Branches and loops whose bodies run on the GPU, long enough that the host is far ahead of it.

    python3 tests/gpu/loops_check.py [--rounds 20]

A recurrent Scan, a loop that its results end, loops in a loop with a branch, and a value that grows,
each with several trip counts in one context, beside numpy. Prints what an iteration of the Scan and
of the loop that reads its condition takes. Exit status 0 when all agreed.
"""

import argparse
import os
import pathlib
import sys
import time

import numpy
from onnx import TensorProto, helper, numpy_helper

os.environ.setdefault("CAMSHAFT_TEST_ENGINES", "gpu")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import camshaft as trt  # noqa: E402
from building import build  # noqa: E402

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
WIDTH = 64
node, value = helper.make_node, helper.make_tensor_value_info
WEIGHT = (numpy.random.default_rng(1).standard_normal((WIDTH, WIDTH)) / 16).astype(numpy.float32)


def constant(name, content):
    return numpy_helper.from_array(numpy.asarray(content), name)


def model(nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "loops", inputs, outputs, list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10).SerializeToString()


def recurrent():
    body = helper.make_graph(
        [node("MatMul", ["h", "w"], ["p"]), node("Add", ["p", "e"], ["s"]), node("Tanh", ["s"], ["next"]),
         node("Identity", ["next"], ["out"])], "body",
        [value("h", F32, [4, WIDTH]), value("e", F32, [4, WIDTH])],
        [value("next", F32, [4, WIDTH]), value("out", F32, [4, WIDTH])])
    return model([node("Scan", ["h0", "x"], ["last", "all"], body=body, num_scan_inputs=1)],
                 [value("h0", F32, [4, WIDTH]), value("x", F32, ["t", 4, WIDTH])],
                 [value("last", F32, [4, WIDTH]), value("all", F32, ["t", 4, WIDTH])], [constant("w", WEIGHT)])


def recurrent_inputs(random, trips):
    return {"h0": random.standard_normal((4, WIDTH)).astype(numpy.float32),
            "x": random.standard_normal((trips, 4, WIDTH)).astype(numpy.float32)}


def recurrent_expected(inputs):
    h, steps = inputs["h0"], []
    for e in inputs["x"]:
        h = numpy.tanh(h @ WEIGHT + e)
        steps.append(h)
    return {"last": h, "all": numpy.stack(steps)}


def ended_by_results():
    body = helper.make_graph(
        [node("MatMul", ["v", "w"], ["p"]), node("Tanh", ["p"], ["q"]), node("Add", ["q", "one"], ["next"]),
         node("Add", ["n", "one"], ["count"]), node("Less", ["count", "limit"], ["go"]),
         node("ReduceSum", ["next"], ["sum"], keepdims=0)], "body",
        [value("i", I64, []), value("c", BOOL, []), value("v", F32, [4, WIDTH]), value("n", F32, [])],
        [value("go", BOOL, []), value("next", F32, [4, WIDTH]), value("count", F32, []), value("sum", F32, [])])
    return model([node("Loop", ["", "", "x", "zero"], ["y", "count", "sums"], body=body)],
                 [value("x", F32, [4, WIDTH]), value("limit", F32, [])],
                 [value("y", F32, [4, WIDTH]), value("count", F32, []), value("sums", F32, ["k"])],
                 [constant("w", WEIGHT), constant("one", numpy.float32(1)), constant("zero", numpy.float32(0))])


def ended_inputs(random, trips):
    return {"x": random.standard_normal((4, WIDTH)).astype(numpy.float32), "limit": numpy.float32(trips)}


def ended_expected(inputs):
    v, sums = inputs["x"], []
    for _ in range(int(inputs["limit"])):
        v = numpy.tanh(v @ WEIGHT) + numpy.float32(1)
        sums.append(v.sum())
    return {"y": v, "count": numpy.float32(len(sums)), "sums": numpy.array(sums, numpy.float32)}


def nested():
    """Iteration i: i times v = tanh(v @ w) + x, then a sign by whether the sum is above zero."""
    inner = helper.make_graph(
        [node("MatMul", ["v1", "w"], ["p1"]), node("Tanh", ["p1"], ["q1"]), node("Add", ["q1", "x"], ["v2"]),
         node("Identity", ["c1"], ["go1"])], "inner",
        [value("j", I64, []), value("c1", BOOL, []), value("v1", F32, [4, WIDTH])],
        [value("go1", BOOL, []), value("v2", F32, [4, WIDTH])])
    branches = [helper.make_graph([node(op, ["moved"], [name])], name, [], [value(name, F32, [4, WIDTH])])
                for op, name in (("Neg", "yes"), ("Abs", "no"))]
    outer = helper.make_graph(
        [node("Loop", ["i", "", "v"], ["moved"], body=inner), node("ReduceSum", ["moved"], ["sum"], keepdims=0),
         node("Greater", ["sum", "zero"], ["above"]),
         node("If", ["above"], ["next"], then_branch=branches[0], else_branch=branches[1]),
         node("Identity", ["c"], ["go"])], "outer",
        [value("i", I64, []), value("c", BOOL, []), value("v", F32, [4, WIDTH])],
        [value("go", BOOL, []), value("next", F32, [4, WIDTH]), value("sum", F32, [])])
    return model([node("Loop", ["m", "", "x"], ["y", "sums"], body=outer)],
                 [value("m", I64, []), value("x", F32, [4, WIDTH])],
                 [value("y", F32, [4, WIDTH]), value("sums", F32, ["k"])],
                 [constant("w", WEIGHT), constant("zero", numpy.float32(0))])


def counted_inputs(random, trips):
    return {"m": numpy.int64(min(trips, 30)), "x": random.standard_normal((4, WIDTH)).astype(numpy.float32)}


def nested_expected(inputs):
    v, sums = inputs["x"], []
    for i in range(int(inputs["m"])):
        for _ in range(i):
            v = numpy.tanh(v @ WEIGHT) + inputs["x"]
        sums.append(v.sum())
        v = -v if sums[-1] > 0 else abs(v)
    return {"y": v, "sums": numpy.array(sums, numpy.float32)}


def growing():
    body = helper.make_graph(
        [node("Concat", ["all0", "v"], ["all1"], axis=0), node("MatMul", ["v", "w"], ["p"]), node("Tanh", ["p"], ["next"]),
         node("Identity", ["c"], ["go"])], "body",
        [value("i", I64, []), value("c", BOOL, []), value("all0", F32, ["a", WIDTH]), value("v", F32, [4, WIDTH])],
        [value("go", BOOL, []), value("all1", F32, ["b", WIDTH]), value("next", F32, [4, WIDTH])])
    return model([node("Loop", ["m", "", "x", "x"], ["all", "y"], body=body)],
                 [value("m", I64, []), value("x", F32, [4, WIDTH])],
                 [value("all", F32, ["k", WIDTH]), value("y", F32, [4, WIDTH])], [constant("w", WEIGHT)])


def growing_expected(inputs):
    v, parts = inputs["x"], [inputs["x"]]
    for _ in range(int(inputs["m"])):
        parts.append(v)
        v = numpy.tanh(v @ WEIGHT)
    return {"all": numpy.concatenate(parts), "y": v}


CASES = {"recurrent": (recurrent, recurrent_inputs, recurrent_expected),
         "ended by results": (ended_by_results, ended_inputs, ended_expected),
         "nested": (nested, counted_inputs, nested_expected), "growing": (growing, counted_inputs, growing_expected)}
TRIPS = (5, 400, 1, 30, 400)


def microseconds(context, make_inputs, few=100, many=400):
    """What an iteration takes, from runs of two lengths."""
    def best(trips):
        inputs, times = make_inputs(numpy.random.default_rng(3), trips), []
        for _ in range(8):
            begin = time.perf_counter()
            trt.infer(context, inputs)
            times.append(time.perf_counter() - begin)
        return min(times)
    return (best(many) - best(few)) / (many - few) * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    wrong, times = [], []
    for name, (make, make_inputs, expected) in CASES.items():
        shapes = [{"x": (t, 4, WIDTH)} for t in (100, 1, 400)] if name == "recurrent" else []
        context = build(make(), shapes, level=3).create_execution_context()
        random = numpy.random.default_rng(2)
        for run in range(options.rounds * len(TRIPS)):
            inputs = make_inputs(random, TRIPS[run % len(TRIPS)])
            found = trt.infer(context, inputs)
            for output, want in expected(inputs).items():
                error = numpy.abs(found[output] - want).max() if found[output].shape == want.shape else numpy.inf
                if not error <= 2e-2:
                    wrong.append(f"{name}, run {run}: {output} is off by {error}")
        if make_inputs is not counted_inputs:
            times.append(f"{name} {microseconds(context, make_inputs):.1f} us an iteration")
    print(*wrong[:20], sep="\n")
    print(f"SUMMARY {len(CASES)} loops, {len(wrong)} results off; {', '.join(times)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
