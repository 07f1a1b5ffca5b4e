"""Sizes of tensors as expressions of other sizes, while a network is built."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
from typing import Any

from .._camshaft import DimensionOperation, IDimensionExpr, IExprBuilder


class ShapeExpr:
    """One size. It is fake where only types are asked for: then nothing is known of it."""

    def __init__(self, value: int | IDimensionExpr | ShapeExpr | None = None,
                 builder: IExprBuilder | None = None) -> None:
        same = isinstance(value, ShapeExpr)
        self._value: int | IDimensionExpr | None = value._value if same else value  # type: ignore
        self._builder: IExprBuilder | None = value._builder if same else builder  # type: ignore

    @property
    def is_fake(self) -> bool:
        return self._value is None

    @property
    def is_size_tensor(self) -> bool:
        return False

    @property
    def is_constant(self) -> bool:
        if self._value is None:
            raise RuntimeError("nothing is known of a fake ShapeExpr: ask is_fake first")
        return isinstance(self._value, int) or self._value.is_constant()

    def constant_value(self) -> int:
        if not self.is_constant:
            raise RuntimeError("the size is not a constant: ask is_constant first")
        return self._value if isinstance(self._value, int) else self._value.get_constant_value()

    def _expr(self, builder: IExprBuilder) -> IDimensionExpr:
        """As the library has it."""
        if self._value is None:
            raise ValueError("the function that describes the plugin returned a size it was not given")
        return builder.constant(self._value) if isinstance(self._value, int) else self._value

    def _combine(self, operation: DimensionOperation, other: int | ShapeExpr) -> ShapeExpr:
        if not isinstance(other, (int, ShapeExpr)):
            return NotImplemented
        other = ShapeExpr(other)
        if self.is_size_tensor or other.is_size_tensor:
            raise ValueError("a size that the plugin finds while it runs cannot be calculated with")
        if self.is_fake or other.is_fake:
            return ShapeExpr()
        builder = self._builder or other._builder
        if builder is None:
            return ShapeExpr(_PLAIN[operation](self._value, other._value))
        return ShapeExpr(builder.operation(operation, self._expr(builder), other._expr(builder)), builder)

    def __add__(self, other: int | ShapeExpr) -> ShapeExpr:
        return self._combine(DimensionOperation.SUM, other)

    def __sub__(self, other: int | ShapeExpr) -> ShapeExpr:
        return self._combine(DimensionOperation.SUB, other)

    def __mul__(self, other: int | ShapeExpr) -> ShapeExpr:
        return self._combine(DimensionOperation.PROD, other)

    def __floordiv__(self, other: int | ShapeExpr) -> ShapeExpr:
        return self._combine(DimensionOperation.FLOOR_DIV, other)

    def __radd__(self, other: int) -> ShapeExpr:
        return self + other

    def __rmul__(self, other: int) -> ShapeExpr:
        return self * other

    def __rsub__(self, other: int) -> ShapeExpr:
        return ShapeExpr(other, self._builder) - self

    def __rfloordiv__(self, other: int) -> ShapeExpr:
        return ShapeExpr(other, self._builder) // self

    def __eq__(self, other: Any) -> Any:
        return self._combine(DimensionOperation.EQUAL, other)

    def __lt__(self, other: int | ShapeExpr) -> ShapeExpr:
        return self._combine(DimensionOperation.LESS, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return bool(self.constant_value())

    def __repr__(self) -> str:
        if self.is_fake or self.is_size_tensor or not self.is_constant:
            return "ShapeExpr(known later)"
        return f"ShapeExpr({self.constant_value()})"


_PLAIN: dict[DimensionOperation, Any] = {
    DimensionOperation.SUM: lambda a, b: a + b,
    DimensionOperation.PROD: lambda a, b: a * b,
    DimensionOperation.MAX: lambda a, b: builtins.max(a, b),
    DimensionOperation.MIN: lambda a, b: builtins.min(a, b),
    DimensionOperation.SUB: lambda a, b: a - b,
    DimensionOperation.EQUAL: lambda a, b: int(a == b),
    DimensionOperation.LESS: lambda a, b: int(a < b),
    DimensionOperation.FLOOR_DIV: lambda a, b: a // b,
    DimensionOperation.CEIL_DIV: lambda a, b: -(-a // b),
}


class SizeTensorShapeExpr(ShapeExpr):
    """A size that the plugin writes into one of its outputs while it runs."""

    def __init__(self, desc: Any) -> None:
        super().__init__(desc.opt)
        self._desc = desc

    @property
    def is_size_tensor(self) -> bool:
        return True

    @property
    def is_constant(self) -> bool:
        return False

    def _expr(self, builder: IExprBuilder) -> IDimensionExpr:
        desc = self._desc
        return builder.declare_size_tensor(desc.index, desc.opt._expr(builder), desc.upper_bound._expr(builder))


class ShapeExprs:
    """The sizes of a tensor. ``None`` for their number makes each of them fake, however many there are."""

    def __init__(self, length: int | None) -> None:
        self._items = None if length is None else [ShapeExpr() for _ in range(length)]

    @classmethod
    def from_tuple(cls, shape_exprs: Iterable[int | ShapeExpr]) -> ShapeExprs:
        made = cls(0)
        made._items = [ShapeExpr(size) if isinstance(size, int) else size for size in shape_exprs]
        return made

    def __len__(self) -> int:
        if self._items is None:
            raise RuntimeError("the number of sizes is not known yet, where the types of outputs are asked for")
        return len(self._items)

    def __iter__(self) -> Iterator[ShapeExpr]:
        len(self)
        return iter(self._items or [])

    def __getitem__(self, index: int) -> ShapeExpr:
        return ShapeExpr() if self._items is None else self._items[index]

    def __setitem__(self, index: int, value: int | ShapeExpr) -> None:
        if self._items is not None:
            self._items[index] = value if isinstance(value, ShapeExpr) else ShapeExpr(value)

    def numel(self) -> ShapeExpr:
        if self._items is None:
            return ShapeExpr()
        product = ShapeExpr(1)
        for size in self._items:
            product = product * size
        return product

    def _copy(self) -> ShapeExprs:
        copy = ShapeExprs(None)
        copy._items = None if self._items is None else list(self._items)
        return copy


def _either(operation: DimensionOperation, first: int | ShapeExpr, second: int | ShapeExpr) -> Any:
    if isinstance(first, int) and isinstance(second, int):
        return _PLAIN[operation](first, second)
    left = first if isinstance(first, ShapeExpr) else ShapeExpr(first)
    return left._combine(operation, second)


def cdiv(first: int | ShapeExpr, second: int | ShapeExpr) -> Any:
    """The quotient, rounded up."""
    return _either(DimensionOperation.CEIL_DIV, first, second)


def max(first: int | ShapeExpr, second: int | ShapeExpr) -> Any:
    return _either(DimensionOperation.MAX, first, second)


def min(first: int | ShapeExpr, second: int | ShapeExpr) -> Any:
    return _either(DimensionOperation.MIN, first, second)
