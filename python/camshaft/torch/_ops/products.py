"""Matrix products and convolutions."""

from .._translate import Refusal, converts, rank, value_of
from .pointwise import result_type


def _times(t, node, name, factor):
    return name if factor == 1 else t.add("Mul", name, t.tensor(factor, result_type(node)))


@converts("mm", "bmm", "matmul", "mv", "dot")
def product(t, node, a, b):
    return t.add("MatMul", t.tensor(a), t.tensor(b))


@converts("addmm", "baddbmm", "addmv")
def add_product(t, node, x, a, b, beta=1, alpha=1):
    result = _times(t, node, t.add("MatMul", t.tensor(a), t.tensor(b)), alpha)
    return result if beta == 0 else t.add("Add", result, _times(t, node, t.tensor(x), beta))


@converts("linear")
def linear(t, node, x, weight, bias=None):
    order = list(range(rank(weight)))[::-1]
    result = t.add("MatMul", t.tensor(x), t.add("Transpose", t.tensor(weight), perm=order))
    return result if bias is None else t.add("Add", result, t.tensor(bias))


@converts("convolution")
def convolution(t, node, x, weight, bias, stride, padding, dilation, transposed, output_padding,
                groups):
    spatial = rank(weight) - 2
    if rank(x) != rank(weight):
        raise Refusal("a convolution of one picture without a batch has no translation")

    def each(values):
        values = [values] if isinstance(values, int) else list(values)
        return values * spatial if len(values) == 1 else values

    attributes = {"strides": each(stride), "dilations": each(dilation), "group": groups,
                  "pads": each(padding) * 2}
    inputs = [t.tensor(x), t.tensor(weight), None if bias is None else t.tensor(bias)]
    if transposed:
        return t.add("ConvTranspose", *inputs, output_padding=each(output_padding), **attributes)
    return t.add("Conv", *inputs, kernel_shape=list(value_of(weight).shape[2:]), **attributes)


@converts("outer")
def outer(t, node, a, b):
    return t.add("Mul", t.add("Unsqueeze", t.tensor(a), t.ints([1])), t.tensor(b))
