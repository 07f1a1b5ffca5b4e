"""Operators of one and two operands that work element by element."""

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

from .._translate import Refusal, converts, is_tensor, value_of

# Those with an ONNX operator of their own.
_UNARY = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan",
    "atanh": "Atanh", "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "exp": "Exp",
    "floor": "Floor", "hardswish": "HardSwish", "log": "Log", "mish": "Mish", "neg": "Neg",
    "reciprocal": "Reciprocal", "relu": "Relu", "round": "Round", "sgn": "Sign", "sigmoid": "Sigmoid",
    "sign": "Sign", "sin": "Sin", "sinh": "Sinh", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh",
}
_EXACT_ON_INTEGERS = {"Ceil", "Floor", "Round"}  # which ONNX has for floats alone


def result_type(node):
    return value_of(node).dtype


def common_type(*operands):
    """The type in which PyTorch computes with these operands."""
    values = [value_of(operand) for operand in operands]
    return elementwise_dtypes(*values, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)[0]


def _unary(op):
    def convert(t, node, x):
        dtype = result_type(node)
        if op in _EXACT_ON_INTEGERS and not dtype.is_floating_point:
            return t.tensor(x)
        if dtype == torch.bool:
            raise Refusal(f"{op} of booleans has no translation")
        return t.add(op, t.tensor(x, dtype))

    return convert


for _name, _op in _UNARY.items():
    converts(_name)(_unary(_op))


@converts("rsqrt")
def rsqrt(t, node, x):
    return t.add("Reciprocal", t.add("Sqrt", t.tensor(x, result_type(node))))


@converts("square")
def square(t, node, x):
    name = t.tensor(x)
    return t.add("Mul", name, name)


@converts("log2", "log10")
def log_of_base(t, node, x):
    dtype = result_type(node)
    factor = 1.4426950408889634 if "log2" in str(node.target) else 0.4342944819032518
    return t.add("Mul", t.add("Log", t.tensor(x, dtype)), t.constant(factor, dtype))


@converts("exp2")
def exp2(t, node, x):
    dtype = result_type(node)
    return t.add("Exp", t.add("Mul", t.tensor(x, dtype), t.constant(0.6931471805599453, dtype)))


@converts("expm1")
def expm1(t, node, x):
    """tanh(x/2) (exp(x) + 1), which keeps its digits near zero."""
    dtype = result_type(node)
    name = t.tensor(x, dtype)
    half = t.add("Tanh", t.add("Mul", name, t.constant(0.5, dtype)))
    return t.add("Mul", half, t.add("Add", t.add("Exp", name), t.constant(1.0, dtype)))


@converts("log1p")
def log1p(t, node, x):
    """2 atanh(x / (x + 2)) where the logarithm of 1 + x would lose digits."""
    dtype = result_type(node)
    name, one = t.tensor(x, dtype), t.constant(1.0, dtype)
    ratio = t.add("Div", name, t.add("Add", name, t.constant(2.0, dtype)))
    near = t.add("Mul", t.add("Atanh", ratio), t.constant(2.0, dtype))
    far = t.add("Log", t.add("Add", name, one))
    is_near = t.add("Less", t.add("Abs", name), t.constant(0.5, dtype))
    return t.add("Where", is_near, near, far)


@converts("trunc")
def trunc(t, node, x):
    name = t.tensor(x)
    if not result_type(node).is_floating_point:
        return name
    return t.add("Mul", t.add("Sign", name), t.add("Floor", t.add("Abs", name)))


@converts("isnan", "isinf")
def is_nan_or_inf(t, node, x):
    if not value_of(x).dtype.is_floating_point:
        raise Refusal("it asks integers for what only floats can be")
    return t.add("IsNaN" if "isnan" in str(node.target) else "IsInf", t.tensor(x))


@converts("logical_not")
def logical_not(t, node, x):
    return t.add("Not", t.tensor(x, torch.bool))


@converts("bitwise_not")
def bitwise_not(t, node, x):
    return t.add("Not" if result_type(node) == torch.bool else "BitwiseNot", t.tensor(x))


# -- two operands

_ARITHMETIC = {"mul": "Mul", "maximum": "Max", "minimum": "Min"}
_COMPARISONS = {"eq": "Equal", "gt": "Greater", "ge": "GreaterOrEqual", "lt": "Less",
                "le": "LessOrEqual"}
_LOGICAL = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}
_BITWISE = {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor"}
_OF_BOOLEANS = {"Mul": "And", "Max": "Or", "Min": "And", "Add": "Or"}


def binary(t, op, node, a, b):
    """In the type of the result, as arithmetic is."""
    dtype = result_type(node)
    if dtype == torch.bool:
        if op not in _OF_BOOLEANS:
            raise Refusal(f"{op} of booleans has no translation")
        op = _OF_BOOLEANS[op]
    return t.add(op, t.tensor(a, dtype), t.tensor(b, dtype))


def _overloads(name):
    return [f"{name}.Tensor", f"{name}.Scalar", f"{name}.default", f"{name}.Scalar_Tensor",
            f"{name}.Tensor_Scalar"]


for _name, _op in _ARITHMETIC.items():
    converts(*_overloads(_name))(lambda t, node, a, b, op=_op: binary(t, op, node, a, b))


def _compare(t, op, a, b):
    dtype = common_type(a, b)
    if dtype == torch.bool and op != "Equal":
        dtype = torch.uint8
    return t.add(op, t.tensor(a, dtype), t.tensor(b, dtype))


for _name, _op in _COMPARISONS.items():
    converts(*_overloads(_name))(lambda t, node, a, b, op=_op: _compare(t, op, a, b))


@converts(*_overloads("ne"))
def not_equal(t, node, a, b):
    return t.add("Not", _compare(t, "Equal", a, b))


for _name, _op in _LOGICAL.items():
    converts(*_overloads(_name))(
        lambda t, node, a, b, op=_op: t.add(op, t.tensor(a, torch.bool), t.tensor(b, torch.bool)))


def _bitwise(t, op, node, a, b):
    dtype = result_type(node)
    return t.add(op if dtype == torch.bool else f"Bitwise{op}", t.tensor(a, dtype), t.tensor(b, dtype))


for _name, _op in _BITWISE.items():
    converts(*_overloads(_name))(lambda t, node, a, b, op=_op: _bitwise(t, op, node, a, b))


def _scaled(t, node, operand, alpha):
    """The operand of a sum times its factor."""
    dtype = result_type(node)
    name = t.tensor(operand, dtype)
    return name if alpha == 1 else t.add("Mul", name, t.tensor(alpha, dtype))


@converts("add.Tensor", "add.Scalar")
def add(t, node, a, b, alpha=1):
    if result_type(node) == torch.bool:
        return binary(t, "Add", node, a, b)
    return t.add("Add", t.tensor(a, result_type(node)), _scaled(t, node, b, alpha))


@converts("sub.Tensor", "sub.Scalar")
def sub(t, node, a, b, alpha=1):
    return t.add("Sub", t.tensor(a, result_type(node)), _scaled(t, node, b, alpha))


@converts("rsub.Tensor", "rsub.Scalar")
def rsub(t, node, a, b, alpha=1):
    return t.add("Sub", t.tensor(b, result_type(node)), _scaled(t, node, a, alpha))


@converts("div.Tensor", "div.Scalar", "true_divide.Tensor", "div.Tensor_mode", "div.Scalar_mode")
def div(t, node, a, b, rounding_mode=None):
    if rounding_mode == "floor":
        return floor_divide(t, node, a, b)
    dtype = result_type(node)
    quotient = t.add("Div", t.tensor(a, dtype), t.tensor(b, dtype))
    if rounding_mode == "trunc" and dtype.is_floating_point:
        sign, size = t.add("Sign", quotient), t.add("Floor", t.add("Abs", quotient))
        return t.add("Mul", sign, size)
    return quotient


@converts("floor_divide", "floor_divide.Scalar")
def floor_divide(t, node, a, b):
    dtype = result_type(node)
    x, y = t.tensor(a, dtype), t.tensor(b, dtype)
    if dtype.is_floating_point:
        return t.add("Floor", t.add("Div", x, y))
    # ONNX rounds towards zero: what is left over, of the divisor's sign, is taken off first.
    return t.add("Div", t.add("Sub", x, t.add("Mod", x, y)), y)


@converts("remainder.Tensor", "remainder.Scalar")
def remainder(t, node, a, b):
    dtype = result_type(node)
    x, y = t.tensor(a, dtype), t.tensor(b, dtype)
    if not dtype.is_floating_point:
        return t.add("Mod", x, y)
    return t.add("Sub", x, t.add("Mul", t.add("Floor", t.add("Div", x, y)), y))


@converts("fmod.Tensor", "fmod.Scalar")
def fmod(t, node, a, b):
    dtype = result_type(node)
    return t.add("Mod", t.tensor(a, dtype), t.tensor(b, dtype), fmod=1)


@converts("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
def power(t, node, a, b):
    dtype = result_type(node)
    if b == 2 and not isinstance(b, torch.fx.Node):
        return square(t, node, a) if value_of(a).dtype == dtype else binary(t, "Mul", node, a, a)
    return t.add("Pow", t.tensor(a, dtype), t.tensor(b, dtype))


@converts("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(t, node, condition, a, b):
    dtype = result_type(node)
    return t.add("Where", t.tensor(condition, torch.bool), t.tensor(a, dtype), t.tensor(b, dtype))


@converts("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(t, node, x, mask, value):
    return where(t, node, mask, value, x)


@converts("clamp", "clamp.Tensor", "clamp_min", "clamp_max", "clamp_min.Tensor", "clamp_max.Tensor",
          "hardtanh")
def clamp(t, node, x, low=None, high=None, min=None, max=None):  # noqa: A002 - PyTorch's names
    kind = str(node.target)
    if "clamp_max" in kind:
        low, high = None, low
    elif "hardtanh" in kind:
        low, high = (-1.0 if low is None else low), (1.0 if high is None else high)
    low, high = (min if low is None else low), (max if high is None else high)
    dtype = result_type(node)
    name = t.tensor(x, dtype)
    if low is not None and high is not None and not is_tensor(low) and not is_tensor(high):
        return t.add("Clip", name, t.tensor(low, dtype), t.tensor(high, dtype))
    if low is not None:
        name = t.add("Max", name, t.tensor(low, dtype))
    return name if high is None else t.add("Min", name, t.tensor(high, dtype))


@converts("bitwise_left_shift.Tensor", "bitwise_right_shift.Tensor", "bitwise_left_shift.Tensor_Scalar",
          "bitwise_right_shift.Tensor_Scalar", "__lshift__.Scalar", "__rshift__.Scalar")
def shift(t, node, a, b):
    dtype = result_type(node)
    if dtype.is_signed:
        raise Refusal("shifts of signed integers have no translation")
    direction = "LEFT" if "left" in str(node.target) or "lshift" in str(node.target) else "RIGHT"
    return t.add("BitShift", t.tensor(a, dtype), t.tensor(b, dtype), direction=direction)
