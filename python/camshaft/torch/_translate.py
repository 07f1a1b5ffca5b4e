"""Graphs of ATen operators, as Dynamo and torch.export give them, written as ONNX models.

Sizes that only a run knows are expressions over symbols. A symbol is read off the shape of an
input, so that the importer follows the arithmetic; the nodes that compute sizes are not translated.
"""

from __future__ import annotations

import math
import operator

import torch
from torch import fx
from torch.utils import _sympy  # noqa: F401 - the functions in expressions of sizes

from ._model import ELEMENT_TYPES, Model


class Refusal(Exception):
    """Why a node stays with PyTorch."""


# (target of a node) -> function(translation, node, *arguments) that gives a name, or a list of
# names for an operator with several results, None for those that are not there.
CONVERTERS: dict = {}


def converts(*targets):
    """Registers a function for operators, given as ``"add.Tensor"`` of aten's; those that this
    version of PyTorch does not have are left out."""

    def register(function):
        for target in targets:
            name, _, overload = target.partition(".")
            packet = getattr(torch.ops.aten, name, None)
            if packet is not None and hasattr(packet, overload or "default"):
                CONVERTERS[getattr(packet, overload or "default")] = function
        return function

    return register


def value_of(argument):
    """What tracing knows of an argument: a fake tensor, a number, a symbolic one."""
    return argument.meta.get("val") if isinstance(argument, fx.Node) else argument


def is_tensor(argument):
    return isinstance(value_of(argument), torch.Tensor)


def is_size(node):
    """Whether the node gives a number and no tensor: an expression stands for it where it is read."""
    return isinstance(value_of(node), (torch.SymInt, torch.SymFloat, torch.SymBool, int, float, bool))


def element_type(dtype):
    try:
        return ELEMENT_TYPES[str(dtype).removeprefix("torch.")]
    except KeyError:
        raise Refusal(f"tensors of {dtype} are not supported") from None


def expression(size):
    """A number, or an expression of symbols."""
    size = value_of(size)
    if isinstance(size, torch.SymInt):
        expr = size.node.expr
        return int(expr) if expr.is_number else expr
    if isinstance(size, int):
        return int(size)
    raise Refusal(f"a size is {type(size).__name__}, not an integer")


def fixed(size, what="an attribute"):
    size = expression(size)
    if not isinstance(size, int):
        raise Refusal(f"{what} is {size}, which only a run knows")
    return size


class Translation:
    """One graph on its way into a Model; converters write through it."""

    def __init__(self):
        self.model = Model()
        self.names = {}  # of nodes: a name, or a list of them
        self.symbols = {}  # symbol -> the name of its value, int64[1]
        self.label = ""
        self._constants, self._casts = {}, {}

    # -- inputs and outputs

    def add_input(self, node, name):
        value = value_of(node)
        sizes = [expression(size) for size in value.shape]
        self.model.add_input(name, element_type(value.dtype),
                             [size if isinstance(size, int) else str(size) for size in sizes])
        self.names[node] = name
        self.label = name
        for dim, size in enumerate(sizes):
            if getattr(size, "is_Symbol", False) and size not in self.symbols:
                self.symbols[size] = self.add("Shape", name, start=dim, end=dim + 1)

    def add_symbol(self, symbol, name):
        """An input that is the value of a symbol which no shape shows."""
        self.model.add_input(name, ELEMENT_TYPES["int64"], [1])
        self.symbols[symbol] = name

    def add_weight(self, node, name, tensor):
        self.model.add_weight(name, element_type(tensor.dtype), list(tensor.shape))
        self.names[node] = name

    def add_output(self, node, name):
        value = value_of(node)
        sizes = [expression(size) for size in value.shape]
        self.label = name
        self.model.add_node(name, "Identity", [self.tensor(node)], [name], {})
        self.model.add_output(name, element_type(value.dtype),
                              [size if isinstance(size, int) else "" for size in sizes])

    # -- nodes

    def convert(self, node):
        self.label = node.meta.get("camshaft_name", node.name)  # that in the whole graph
        if node.target is operator.getitem:
            result = self.names[node.args[0]][node.args[1]]
            if result is None:
                raise Refusal(f"result {node.args[1]} of {node.args[0].target} is not computed")
        elif node.target not in CONVERTERS:
            raise Refusal("there is no translation for it")
        else:
            result = CONVERTERS[node.target](self, node, *node.args, **node.kwargs)
        self.names[node] = result

    def add(self, op, *inputs, outputs=1, **attributes):
        """Adds a node and gives the name of its result; a list where there are several."""
        names = [self.model.new_name() for _ in range(outputs)]
        self.model.add_node(self.label, op, inputs, names, attributes)
        return names[0] if outputs == 1 else names

    # -- operands

    def tensor(self, argument, dtype=None):
        """The name of a tensor or of a number as one, in the type that is asked for."""
        if isinstance(argument, fx.Node) and is_tensor(argument):
            name = self.names[argument]
            if not isinstance(name, str):
                raise Refusal(f"{argument} is not a tensor")
            return name if dtype is None else self.cast(name, value_of(argument).dtype, dtype)
        value = value_of(argument)
        if isinstance(value, (bool, int, float)):
            return self.constant(value, dtype or torch.get_default_dtype())
        if isinstance(value, torch.SymInt):
            return self.cast(self.add("Squeeze", self.sizes([argument]), self.ints([0])),
                             torch.int64, dtype or torch.int64)
        raise Refusal(f"an operand is {type(value).__name__}, not a tensor or a number")

    def cast(self, name, source, target):
        if source == target:
            return name
        key = name, target
        if key not in self._casts:
            element_type(source)
            self._casts[key] = self.add("Cast", name, to=element_type(target))
        return self._casts[key]

    def constant(self, values, dtype=torch.int64):
        """Numbers that the model itself holds."""
        tensor = torch.tensor(values, dtype=dtype)
        key = str(values), dtype
        if key not in self._constants:
            name = self._constants[key] = self.model.new_name()
            data = tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes()
            self.model.add_weight(name, element_type(dtype), list(tensor.shape), data)
        return self._constants[key]

    def ints(self, values):
        return self.constant(list(values), torch.int64)

    def sizes(self, sizes):
        """Sizes as a tensor, int64[n]."""
        sizes = [expression(size) for size in sizes]
        if all(isinstance(size, int) for size in sizes):
            return self.ints(sizes)
        parts = [self._size(size) for size in sizes]
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=0)

    def _size(self, expr):
        """The value of an expression, int64[1]."""
        if isinstance(expr, int) or expr.is_Integer:
            return self.ints([int(expr)])
        if expr.is_Symbol:
            if expr not in self.symbols:
                raise Refusal(f"the size {expr} follows from no input")
            return self.symbols[expr]
        if expr.is_Mul and (denominator := expr.as_numer_denom()[1]) != 1:
            return self._fold("Div", [expr * denominator, denominator])
        if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
            return self._fold("Mul", [expr.base] * int(expr.exp))
        kind = type(expr).__name__
        if kind == "CeilDiv":
            numerator, denominator = expr.args
            return self._fold("Div", [numerator + denominator - 1, denominator])
        if kind == "ModularIndexing":
            base, divisor, modulus = expr.args
            parts = [self._fold("Div", [base, divisor]), self._size(modulus)]
            return self.add("Mod", *parts)
        ops = {"Add": "Add", "Mul": "Mul", "FloorDiv": "Div", "CleanDiv": "Div", "Mod": "Mod",
               "PythonMod": "Mod", "Max": "Max", "Min": "Min"}
        if kind not in ops:
            raise Refusal(f"the size {expr} has no translation")
        return self._fold(ops[kind], expr.args)

    def _fold(self, op, parts):
        result = self._size(parts[0])
        for part in parts[1:]:
            result = self.add(op, result, self._size(part))
        return result


def check(node):
    """Raises Refusal unless the node can be translated, whatever its operands come from."""
    joins = "aten::cat" == getattr(getattr(node.target, "_schema", None), "name", "")
    for argument in [*node.all_input_nodes, node]:
        _check_value(argument, allow_empty=joins)  # PyTorch joins with a tensor of shape (0,)
    trial = Translation()
    trial.symbols = _AnySymbol()
    for argument in node.all_input_nodes:
        value = value_of(argument)
        trial.names[argument] = ["x"] * len(value) if isinstance(value, (tuple, list)) else "x"
    trial.convert(node)


class _AnySymbol(dict):
    def __contains__(self, symbol):
        return True

    def __missing__(self, symbol):
        return "symbol"


def _check_value(node, allow_empty):
    value = value_of(node)
    if not isinstance(value, torch.Tensor):
        return  # results of several are looked at one by one, where they are read
    element_type(value.dtype)
    if value.layout != torch.strided or value.is_quantized:
        raise Refusal(f"tensors of layout {value.layout} are not supported")
    sizes = [expression(size) for size in value.shape]
    if 0 in sizes and not (allow_empty and sizes == [0]):
        raise Refusal("it has a tensor without elements")
    for size in sizes:
        if not isinstance(size, int) and any(str(s).startswith("u") for s in size.free_symbols):
            raise Refusal(f"the size {size} follows from data")


def rank(argument):
    return value_of(argument).dim()


def axis(argument, dim):
    """A dimension counted from the front."""
    return dim % max(rank(argument), 1)


def count(argument):
    """How many elements there are, or None where only a run knows."""
    sizes = [expression(size) for size in value_of(argument).shape]
    return math.prod(sizes) if all(isinstance(size, int) for size in sizes) else None
