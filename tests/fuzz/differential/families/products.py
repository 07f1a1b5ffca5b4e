"""Matrix products, convolutions, pooling."""

import numpy

from ..scope import APPROXIMATE, EXACT, LOOSE
from ..values import FLOATS
from .rows import not_empty

MULTIPLIED = FLOATS + ("int32", "int64")


def matmul(g):
    x = g.pick(MULTIPLIED, rank=(1, 4), where=lambda t: t.rank > 0)
    inner = x.dims[-1]
    outer = [] if g.chance(0.15) else [g.size()]
    batch = [dim if g.chance(0.7) else 1 for dim in x.dims[:-2]][g.between(0, max(x.rank - 2, 0)):] if outer else []
    y = g.operand(x.dtype, batch + [inner] + outer)
    multiply(g, x, y)


def matmul_left(g):
    """The other operand is what is drawn."""
    y = g.pick(MULTIPLIED, rank=(2, 4))
    batch = [dim if g.chance(0.7) else 1 for dim in y.dims[:-2]]
    multiply(g, g.operand(y.dtype, batch + [g.size(), y.dims[-2]]), y)


def multiply(g, x, y):
    g.need(fits_when_empty(x, y))
    g.node("MatMul", [x, y], kind=APPROXIMATE)


def fits_when_empty(x, y):
    """Batches and vectors that are empty are left out: ONNX Runtime gives them other shapes than the standard, or
    refuses."""
    return x.rank == y.rank == 2 or not_empty(x) and not_empty(y)


def gemm(g):
    x = g.pick(FLOATS, rank=2, where=lambda t: t.full)  # ONNX Runtime forgets beta where the sums are empty
    trans_a, trans_b = g.between(0, 1), g.between(0, 1)
    rows, inner = x.dims[::-1] if trans_a else x.dims
    columns = g.size()
    y = g.operand(x.dtype, [columns, inner] if trans_b else [inner, columns])
    bias = g.one_of(([], [columns], [1], [rows, columns], [rows, 1], [1, columns], None))
    g.need(bias != [rows, 1] or x.dtype != "float16")  # ONNX Runtime adds it to columns where there are as many
    inputs = [x, y] + ([g.operand(x.dtype, bias)] if bias is not None else [])
    g.need(len(inputs) == 3 or g.opset >= 11)
    g.node("Gemm", inputs, kind=APPROXIMATE, transA=trans_a, transB=trans_b, alpha=g.one_of((None, 0.5)),
           beta=g.one_of((None, 0.25, 2.0)))


def einsum(g):
    x = g.pick(("float32", "float64", "int32", "int64"), rank=(1, 4))
    letters = "abcd"[:x.rank]
    sizes = dict(zip(letters, x.dims))
    second = "".join(str(c) for c in g.random.permutation(list(letters + "ef"))[:g.between(1, 3)])
    for letter in "ef":
        sizes[letter] = g.size()
    y = g.operand(x.dtype, [sizes[letter] for letter in second])
    known = sorted(set(letters + second))
    result = "".join(str(c) for c in g.random.permutation(known)[:g.between(0, min(4, len(known)))])
    if g.chance(0.2):
        g.node("Einsum", [x], kind=APPROXIMATE,
               equation=f"{letters}->{''.join(c for c in result if c in letters)}")
    else:
        g.node("Einsum", [x, y], kind=APPROXIMATE, equation=f"{letters},{second}->{result}")


def image(g, dtypes=FLOATS, spatial=None):
    """[batch, channels, spatial...] with a known count of channels."""
    ranks = (3, 5) if spatial is None else (spatial + 2, spatial + 2)
    return g.pick(dtypes, rank=ranks, where=lambda t: t.known(1) > 0)


def window(g, x, kernels=(1, 2, 3), dilated=True, same=True):
    """Attributes of a window that fits: kernel, strides, dilations, padding in one of its spellings.

    ONNX Runtime's pools forget dilations where the padding keeps the size the same."""
    spatial = x.shape[2:]
    kernel = [max(min(g.one_of(kernels), size), 1) for size in spatial]
    attributes = {"kernel_shape": kernel}
    if g.chance(0.6):
        attributes["strides"] = [g.between(1, 3) for _ in spatial]
    if dilated and g.chance(0.3):
        attributes["dilations"] = [g.between(1, 2 if 2 * k - 1 <= size else 1) for k, size in zip(kernel, spatial)]
    if g.chance(0.3):
        attributes["auto_pad"] = g.one_of(("SAME_UPPER", "SAME_LOWER", "VALID") if same else ("VALID",))
    elif g.chance(0.7):
        attributes["pads"] = [g.between(0, size - 1) for size in kernel * 2]
    return attributes


def conv(g):
    x = image(g, ("float32", "float16", "float32", "float64"))
    count = x.shape[1]
    groups = g.one_of([n for n in range(1, count + 1) if count % n == 0]) if g.chance(0.4) else 1
    g.need(x.dtype != "float16" or groups == 1)  # ONNX Runtime's are wrong
    outputs = groups * g.between(1, 4)
    attributes = window(g, x)
    w = g.weight(x.dtype, [outputs, count // groups] + attributes["kernel_shape"])
    if g.chance(0.3):
        del attributes["kernel_shape"]
    g.node("Conv", [x, w] + ([g.weight(x.dtype, [outputs])] if g.chance(0.6) else []), kind=APPROXIMATE,
           group=groups, **attributes)


def conv_transpose(g):
    x = image(g, ("float32", "float32", "float16"))
    g.need(x.full)  # ONNX Runtime crashes on empty pictures
    count = x.shape[1]
    groups = g.one_of([n for n in range(1, count + 1) if count % n == 0]) if g.chance(0.3) else 1
    each = g.between(1, 3)
    attributes = window(g, x)
    strides = attributes.get("strides", [1] * (x.rank - 2))
    # Where the stride leaves gaps, the standard's size needs padding of less than nothing; ONNX Runtime has none.
    same = attributes.get("auto_pad", "").startswith("SAME")
    g.need(not same or all(k >= stride for k, stride in zip(attributes["kernel_shape"], strides)))
    if g.chance(0.25):
        attributes["output_padding"] = [g.between(0, stride - 1) for stride in strides]
    w = g.weight(x.dtype, [count, each] + attributes["kernel_shape"])
    g.node("ConvTranspose", [x, w] + ([g.weight(x.dtype, [groups * each])] if g.chance(0.5) else []),
           kind=APPROXIMATE, group=groups, **attributes)


def without_gaps(g, attributes):
    """Where the stride leaves gaps, ONNX Runtime's pools pad by less than nothing to keep the size the same."""
    strides = attributes.get("strides", [])
    same = attributes.get("auto_pad", "").startswith("SAME")
    g.need(not same or all(k >= stride for k, stride in zip(attributes["kernel_shape"], strides)))
    return attributes


def max_pool(g):
    x = image(g, FLOATS + ("int8", "uint8"))
    attributes = without_gaps(g, window(g, x, dilated=False) if g.chance(0.5) else window(g, x, same=False))
    attributes["ceil_mode"] = g.between(0, 1)
    outputs = 2 if g.chance(0.25) and x.dtype != "float16" else 1
    g.node("MaxPool", [x], outputs=outputs, kind=EXACT, storage_order=g.one_of((None, 0, 1)) if outputs == 2 else None,
           **attributes)


def average_pool(g):
    x = image(g)
    attributes = without_gaps(g, window(g, x, same=False) if g.opset >= 19 else window(g, x, dilated=False))
    gaps = any(k < stride for k, stride in zip(attributes["kernel_shape"], attributes.get("strides", [])))
    g.need(x.dtype != "float16" or not gaps)  # ONNX Runtime's are wrong
    g.node("AveragePool", [x], kind=APPROXIMATE, ceil_mode=g.between(0, 1), count_include_pad=g.between(0, 1),
           **attributes)


def lp_pool(g):
    x = image(g, ("float32",))
    g.node("LpPool", [x], kind=APPROXIMATE, p=g.between(1, 3), **without_gaps(g, window(g, x, dilated=False)))


def global_pool(operator):
    def construct(g):
        x = image(g)
        g.node(operator, [x], kind=EXACT if "Max" in operator else APPROXIMATE,
               p=g.between(1, 3) if "Lp" in operator else None)

    return construct


def max_unpool(g):
    # Of even sizes: elsewhere it is disputed what indices refer to, and ONNX Runtime writes past the end.
    x = g.pick(("float32",), rank=4, where=lambda t: t.fixed and all(
        size and size % 2 == 0 for axis in (2, 3) for size in t.sizes(axis)))
    values, indices = g.node("MaxPool", [x], outputs=2, kind=EXACT, kernel_shape=[2, 2], strides=[2, 2])
    is_same = all(len(x.sizes(axis)) == 1 for axis in range(4))  # ONNX Runtime reads indices as of the shape given
    extra = [g.const(list(x.shape))] if is_same and g.chance(0.5) else []
    g.node("MaxUnpool", [values, indices] + extra, kind=EXACT, kernel_shape=[2, 2], strides=[2, 2])


def det(g):
    x = g.pick(("float32",), rank=(2, 4), where=lambda t: t.dims[-1] == t.dims[-2] and 0 < t.shape[-1] < 5)
    g.node("Det", [x], kind=LOOSE)


def attention(g):
    """Spelled out: a pass makes one node of it."""
    batch, heads, length, width = g.size(), g.between(1, 3), g.size(), g.one_of((2, 4, 8))
    other = g.size() if g.chance(0.4) else length
    dtype = g.one_of(("float32", "float32", "float16"))
    q, k, v = (g.operand(dtype, [batch, heads, n, width]) for n in (length, other, other))
    g.need(fits_when_empty(q, k) and fits_when_empty(q, v))
    turned = g.node("Transpose", [k], kind=EXACT, perm=[0, 1, 3, 2])
    scores = g.node("MatMul", [q, turned], kind=APPROXIMATE)
    scores = g.node(g.one_of(("Mul", "Div")), [scores, g.const(numpy.asarray(g.one_of((0.5, 2.0)), dtype))])
    if g.chance(0.5):
        mask = g.one_of(([batch, 1, length, other], [1, 1, length, other], [length, other], [batch, 1, 1, other]))
        scores = g.node("Add", [scores, g.operand(dtype, mask)])
    weights = g.node("Softmax", [scores], kind=APPROXIMATE, axis=-1)
    g.node("MatMul", [weights, v], kind=APPROXIMATE)


FAMILY = [("MatMul", 5, matmul), ("MatMul (left)", 2, matmul_left), ("Gemm", 3, gemm), ("Einsum", 2, einsum),
          ("Conv", 6, conv), ("ConvTranspose", 3, conv_transpose), ("MaxPool", 2, max_pool),
          ("AveragePool", 2, average_pool), ("LpPool", 1, lp_pool), ("MaxUnpool", 0.7, max_unpool), ("Det", 0.7, det),
          ("spelled attention", 2, attention)] + [
    (name, 0.7, global_pool(name)) for name in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")]
