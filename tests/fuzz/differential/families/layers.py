"""Large operators: recurrent layers, attention, signals, trees of ai.onnx.ml."""

import numpy

from ..scope import APPROXIMATE, EXACT, LOOSE, ROUNDED
from ..values import FLOATS

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(operator):
    gates = GATES[operator]

    def construct(g):
        x = g.pick(("float32",), rank=3, where=lambda t: t.known(2) > 0 and t.full)
        hidden = g.between(1, 4)
        direction = g.one_of(("forward", "reverse", "bidirectional"))
        ways = 2 if direction == "bidirectional" else 1
        layout = g.between(0, 1) if g.opset >= 14 and g.chance(0.1) else 0
        g.need(0 not in x.sizes(1 if layout else 0))  # after no step, ONNX Runtime has forgotten the state
        batch, length = (x.dims[0], x.dims[1]) if layout else (x.dims[1], x.dims[0])
        w = g.weight("float32", [ways, gates * hidden, x.shape[2]], -0.7, 0.7)
        r = g.weight("float32", [ways, gates * hidden, hidden], -0.7, 0.7)
        b = g.weight("float32", [ways, 2 * gates * hidden], -0.5, 0.5) if g.chance(0.6) else None
        lengths = g.operand("int32", [batch], 1, min(length)) if g.chance(0.3) else None
        state = [batch, ways, hidden] if layout else [ways, batch, hidden]
        inputs = [x, w, r, b, lengths, g.operand("float32", state) if g.chance(0.4) else None]
        if operator == "LSTM":
            inputs.append(g.operand("float32", state) if g.chance(0.4) else None)
            inputs.append(g.weight("float32", [ways, 3 * hidden], -0.5, 0.5) if g.chance(0.3) else None)
        while inputs[-1] is None:
            inputs.pop()
        attributes = {"hidden_size": hidden, "direction": direction, "layout": layout or None}
        if operator == "GRU":
            attributes["linear_before_reset"] = g.between(0, 1)
        if g.chance(0.2):
            attributes["clip"] = 1.5
        g.node(operator, inputs, outputs=g.between(2, 3) if operator == "LSTM" else 2, kind=LOOSE, **attributes)

    return construct


def attention(g):
    """ONNX's own, from opset 23: heads as a dimension, or as an attribute of three dimensions."""
    g.need(g.opset >= 23)
    batch, length, width = g.size(), g.size(), g.one_of((2, 4, 8))
    other = g.size() if g.chance(0.4) else length
    groups = g.between(1, 2)
    heads = groups * g.between(1, 2)
    dtype = "float32"  # in f16, ONNX Runtime leaves zeros where heads share keys or are masked
    attributes = {"is_causal": g.between(0, 1), "scale": g.one_of((None, 0.3)), "softcap": g.one_of((None, 2.0))}
    if g.chance(0.5):
        q, k, v = (g.operand(dtype, [batch, h, n, width])
                   for h, n in ((heads, length), (groups, other), (groups, other)))
    else:
        q, k, v = (g.operand(dtype, [batch, n, h * width])
                   for h, n in ((heads, length), (groups, other), (groups, other)))
        attributes.update(q_num_heads=heads, kv_num_heads=groups)
    mask = []
    if g.chance(0.5):
        shape = g.one_of(([length, other], [batch, 1, length, other], [1, 1, length, other]))
        mask = [g.operand(g.one_of((dtype, "bool")), shape)]
    g.node("Attention", [q, k, v] + mask, kind=APPROXIMATE, **attributes)


def rotary(g):
    g.need(g.opset >= 23)
    batch, length, heads, width = g.size(), g.size(), g.between(1, 3), g.one_of((2, 4, 8))
    x = g.operand("float32", [batch, heads, length, width])
    cos, sin = (g.operand("float32", [6, width // 2], -1, 1) for _ in range(2))
    g.need(x.sizes(-1) == {width})  # ONNX Runtime turns half of an odd head
    at = g.operand("int64", [batch, length], 0, 5)
    g.node("RotaryEmbedding", [x, cos, sin, at], kind=ROUNDED, interleaved=g.between(0, 1))


def col2im(g):
    g.need(g.opset >= 18)
    block, image, count = [g.between(1, 2), g.between(1, 2)], [g.between(2, 4), g.between(2, 4)], g.between(1, 2)
    places = (image[0] - block[0] + 1) * (image[1] - block[1] + 1)
    x = g.operand("float32", [g.size(), count * block[0] * block[1], places])
    g.node("Col2Im", [x, g.const(image), g.const(block)], kind=ROUNDED)


def dft(g):
    g.need(g.opset >= 17)
    x = g.pick(("float32", "float64"), rank=(2, 3), where=lambda t: t.full)
    x = g.node("Unsqueeze", [x, g.const([-1])], kind=EXACT)
    axis = g.between(1, x.rank - 2)
    g.need(max(x.sizes(axis)) <= 64)  # long ones that are no power of two are inaccurate in ONNX Runtime
    attributes = {"onesided": g.between(0, 1)}
    if g.opset >= 20:
        g.node("DFT", [x, None, g.const(numpy.asarray(axis))], kind=LOOSE, **attributes)
    else:
        g.node("DFT", [x], kind=LOOSE, axis=axis, **attributes)


def stft(g):
    g.need(g.opset >= 17)
    frame, step = g.one_of((4, 8)), g.between(1, 4)
    signal = g.operand("float32", [g.size(), frame + g.between(0, 9), 1])
    window = g.operand("float32", [frame], 0, 1) if g.chance(0.6) else None
    # One side is all there is of a real signal; ONNX Runtime gives that of complex ones too.
    g.node("STFT", [signal, g.const(numpy.asarray(step)), window] + [g.const(numpy.asarray(frame))], kind=LOOSE,
           onesided=g.between(0, 1) if signal.sizes(-1) == {1} else 0)


def windows(g):
    g.need(g.opset >= 17)
    name = g.one_of(("HannWindow", "HammingWindow", "BlackmanWindow"))
    size = g.operand(g.one_of(("int64", "int32")), [], 2, 8)
    g.node(name, [size], kind=APPROXIMATE, periodic=g.between(0, 1))


def deform_conv(g):
    g.need(g.opset >= 19)
    x = g.pick(("float32",), rank=4, where=lambda t: t.known(1) and min(t.dims[2] + t.dims[3]) > 1)
    w = g.weight("float32", [g.between(1, 3), x.shape[1], 2, 2])
    height, width = (tuple(size - 1 for size in dim) for dim in x.dims[2:])
    offset = g.operand("float32", [x.dims[0], 8, height, width], -0.7, 0.7)
    g.node("DeformConv", [x, w, offset], kind=APPROXIMATE, kernel_shape=[2, 2])


def trees(g):
    x = g.pick(("float32",), rank=2, where=lambda t: t.known(1) > 0)
    features = x.shape[1]
    g.node("TreeEnsembleRegressor", [x], kind=ROUNDED, domain="ai.onnx.ml", n_targets=1,
           nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[g.between(0, features - 1), 0, 0],
           nodes_modes=[g.one_of(("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT")), "LEAF", "LEAF"],
           nodes_values=[0.3, 0.0, 0.0], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
           target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[0.5, -1.5])


def scaler(g):
    x = g.pick(("float32", "int64", "int32"), rank=2, where=lambda t: t.known(1) > 0)
    count = g.one_of((1, x.shape[1]))
    g.node("Scaler", [x], kind=ROUNDED, domain="ai.onnx.ml", offset=[0.5] * count, scale=[2.0] * count)


def normaliser(g):
    x = g.pick(("float32",), rank=2, where=lambda t: t.full)
    g.node("Normalizer", [x], kind=APPROXIMATE, domain="ai.onnx.ml", norm=g.one_of(("MAX", "L1", "L2")))


def dropout(g):
    x = g.pick(FLOATS)
    g.node("Dropout", [x], kind=EXACT)  # ONNX Runtime's mask of f16 is false where the standard has it true


FAMILY = ([(name, 2, recurrent(name)) for name in GATES]
          + [("Attention", 3, attention), ("RotaryEmbedding", 1, rotary), ("Col2Im", 1, col2im), ("DFT", 1.5, dft),
             ("STFT", 1, stft), ("windows", 1, windows), ("DeformConv", 1, deform_conv),
             ("TreeEnsembleRegressor", 1, trees), ("Scaler", 0.5, scaler), ("Normalizer", 0.5, normaliser),
             ("Dropout", 0.5, dropout)])
