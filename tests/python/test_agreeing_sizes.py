"""Operands whose sizes have to agree, where only a run knows them: what ONNX Runtime refuses is refused by name."""

import numpy as np
import pytest
from onnx import helper
from test_run_time_sizes import F32, I64, both, model, numbers

MS = {"domain": "com.microsoft"}


def node(operator, inputs, **attributes):
    """Names of inputs apart by spaces; - is one that is left out."""
    return helper.make_node(operator, [name.strip("-") for name in inputs.split()], ["y"], name="bad", **attributes)


# A node, and the shapes of its inputs: those of the first run fit.
CASES = {
    "BiasGelu": (node("BiasGelu", "x b", **MS), "2 4, 4", "2 4, 1", "2 1, 4"),
    "FastGelu": (node("FastGelu", "x b", **MS), "2 4, 4", "2 4, 1"),
    "skip": (node("SkipLayerNormalization", "x s g h b", **MS), "2 3 4, 2 3 4, 4, 4, 4", "2 3 4, 2 1 4, 4, 4, 4"),
    "scale": (node("SkipLayerNormalization", "x s g h b", **MS), "2 3 4, 1 3 4, 4, 4, 4", "2 3 4, 2 3 4, 1, 4, 4",
              "2 3 4, 2 3 4, 4, 1, 4", "2 3 4, 2 3 4, 4, 4, 1"),
    "simplified": (node("SkipSimplifiedLayerNormalization", "x s g", **MS), "2 3 4, 2 3 4, 4", "2 3 4, 2 3 4, 1"),
    "FusedGemm": (node("FusedGemm", "x w b", activation="Relu", **MS), "3 2, 2 4, 4", "3 2, 2 1, 4"),
    "bias of heads": (node("MultiHeadAttention", "q k v b", num_heads=2, **MS), "1 3 4, 1 5 4, 1 5 4, 12",
                      "1 3 4, 1 5 4, 1 5 4, 13", "1 3 4, 1 5 4, 1 4 4, 12"),
    "bias of scores": (node("MultiHeadAttention", "q k v - - a", num_heads=2, **MS), "1 3 4, 1 5 4, 1 5 4, 1 2 3 5",
                       "1 3 4, 1 5 4, 1 5 4, 1 2 1 5", "1 3 4, 1 5 4, 1 5 4, 1 2 3 1"),
    "Attention": (node("Attention", "x w b", num_heads=2, **MS), "1 3 4, 4 12, 12", "1 3 4, 4 12, 1"),
    "turns": (node("RotaryEmbedding", "x p c s", **MS), "1 2 3 4, 1 3, 8 2, 8 2", "1 2 3 4, 1 3, 8 2, 8 1",
              "1 2 3 4, 1 3, 8 2, 4 2", "1 2 3 4, 1 1, 8 2, 8 2", "2 2 3 4, 1 3, 8 2, 8 2", "1 2 3 8, 1 3, 8 2, 8 2"),
    "MaxUnpool": (node("MaxUnpool", "x i", kernel_shape=[2, 2], strides=[2, 2]), "1 2 2 2, 1 2 2 2",
                  "1 2 2 2, 2 1 2 2"),
    "Scaler": (node("Scaler", "x", domain="ai.onnx.ml", scale=[2.0] * 3, offset=[1.0] * 3), "2 3", "2 1"),
}
INTEGERS = ("i", "p")


def operand(name, shape):
    sizes = [int(size) for size in shape.split()]
    return (np.arange(np.prod(sizes)) % 2).reshape(sizes).astype(np.int64) if name in INTEGERS else numbers(*sizes)


@pytest.mark.parametrize("case", CASES)
def test_operands_agree_or_the_run_is_refused(case):
    made, *shapes = CASES[case]
    names = [name for name in made.input if name]
    runs = [{name: operand(name, shape) for name, shape in zip(names, run.split(","), strict=True)} for run in shapes]
    inputs = [(name, I64 if name in INTEGERS else F32, [f"{name}{i}" for i in range(value.ndim)])
              for name, value in runs[0].items()]
    refused = both(model([made], inputs), runs, largest=16)
    assert len(refused) == len(runs) - 1 and all("'bad'" in message for message in refused), refused


def test_sizes_of_what_nothing_reads_count():
    """Whose shape goes on, as a number, fails the run as if it were computed."""
    nodes = [helper.make_node("Add", ["a", "b"], ["s"], name="bad"), helper.make_node("Size", ["s"], ["n"]),
             helper.make_node("Shape", ["s"], ["y"])]
    data = model(nodes, [("a", F32, ["n0", 4]), ("b", F32, ["n1", 4])], ["y", "n"])
    runs = [{"a": numbers(n, 4), "b": numbers(m, 4)} for n, m in ((3, 3), (1, 3), (2, 3))]
    refused, = both(data, runs)
    assert "'bad'" in refused and "2 and 3 that do not broadcast" in refused


def test_no_half_of_no_signal():
    data = model([node("DFT", "x", onesided=1, axis=1)], [("x", F32, ["n", "m", 1])])
    refused, = both(data, [{"x": numbers(2, size, 1)} for size in (4, 1, 0)], smallest=0)
    assert "'bad'" in refused and "0 samples in its signal where it needs at least 1" in refused
