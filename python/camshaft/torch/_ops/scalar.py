"""Activations."""

from .._translate import Refusal, converts, rank, value_of
from .pointwise import result_type


@converts("gelu")
def gelu(t, node, x, approximate="none"):
    return t.add("Gelu", t.tensor(x), approximate=approximate)


@converts("silu")
def silu(t, node, x):
    name = t.tensor(x)
    return t.add("Mul", name, t.add("Sigmoid", name))


@converts("hardsigmoid")
def hardsigmoid(t, node, x):
    return t.add("HardSigmoid", t.tensor(x), alpha=1 / 6, beta=0.5)


@converts("relu6")
def relu6(t, node, x):
    dtype = result_type(node)
    return t.add("Clip", t.tensor(x), t.constant(0, dtype), t.constant(6, dtype))


@converts("elu")
def elu(t, node, x, alpha=1.0, scale=1.0, input_scale=1.0):
    if input_scale != 1:
        raise Refusal("an elu that scales its input has no translation")
    name = t.add("Elu", t.tensor(x), alpha=float(alpha))
    return name if scale == 1 else t.add("Mul", name, t.constant(scale, result_type(node)))


@converts("celu")
def celu(t, node, x, alpha=1.0):
    return t.add("Celu", t.tensor(x), alpha=float(alpha))


@converts("selu")
def selu(t, node, x):
    return t.add("Selu", t.tensor(x))


@converts("leaky_relu")
def leaky_relu(t, node, x, slope=0.01):
    return t.add("LeakyRelu", t.tensor(x), alpha=float(slope))


@converts("prelu", "_prelu_kernel")
def prelu(t, node, x, slope):
    name = t.tensor(slope)
    if value_of(slope).dim() == 1 and rank(x) > 2 and value_of(slope).numel() != 1:
        name = t.add("Reshape", name, t.ints([-1] + [1] * (rank(x) - 2)))  # one for each channel
    return t.add("PRelu", t.tensor(x), name)


@converts("softplus")
def softplus(t, node, x, beta=1, threshold=20):
    dtype = result_type(node)
    name = t.tensor(x)
    scaled = name if beta == 1 else t.add("Mul", name, t.constant(beta, dtype))
    soft = t.add("Softplus", scaled)
    soft = soft if beta == 1 else t.add("Div", soft, t.constant(beta, dtype))
    return t.add("Where", t.add("Greater", scaled, t.constant(threshold, dtype)), name, soft)


@converts("threshold")
def threshold(t, node, x, limit, value):
    dtype = result_type(node)
    name = t.tensor(x)
    above = t.add("Greater", name, t.constant(limit, dtype))
    return t.add("Where", above, name, t.constant(value, dtype))


@converts("log_sigmoid_forward")
def log_sigmoid(t, node, x):
    return [t.add("Neg", t.add("Softplus", t.add("Neg", t.tensor(x)))), None]


@converts("glu")
def glu(t, node, x, dim=-1):
    half = value_of(x).shape[dim] // 2
    value, gate = t.add("Split", t.tensor(x), t.sizes([half, half]), outputs=2, axis=dim)
    return t.add("Mul", value, t.add("Sigmoid", gate))
