"""Tensors as plugins see them: described while an engine is built, in memory while it runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from .._camshaft import DataType, TensorFormat
from .._types import nptype
from ._expressions import ShapeExpr, ShapeExprs, SizeTensorShapeExpr


class Shape:
    """Sizes in numbers: -1, and a range of ``min``, ``opt`` and ``max``, where they vary."""

    def __init__(self, sizes: Any = ()) -> None:
        self._range: tuple[tuple[int, ...], ...] | None = None
        if hasattr(sizes, "desc"):
            self._range = (tuple(sizes.min), tuple(sizes.opt), tuple(sizes.max))
            sizes = sizes.desc
        self._sizes: tuple[int, ...] = tuple(getattr(sizes, "dims", sizes))

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[int]:
        return iter(self._sizes)

    def __getitem__(self, index: int) -> int:
        return self._sizes[index]

    def __repr__(self) -> str:
        return str(self._sizes)

    @property
    def is_dynamic(self) -> bool:
        return -1 in self._sizes

    def _of_range(self, index: int) -> tuple[int, ...]:
        if self._range is None:
            raise ValueError("the shape has no range")
        return self._range[index]

    @property
    def min(self) -> tuple[int, ...]:
        return self._of_range(0)

    @property
    def opt(self) -> tuple[int, ...]:
        return self._of_range(1)

    @property
    def max(self) -> tuple[int, ...]:
        return self._of_range(2)

    def numel(self) -> int:
        if self.is_dynamic:
            raise ValueError("the number of elements varies")
        return math.prod(self._sizes)


class TensorDesc:
    """An input or output: its type and sizes, and once layouts are tried also ``shape``, ``format``."""

    def __init__(self, shape_expr: ShapeExprs | None = None, dtype: DataType | None = None) -> None:
        self.shape_expr, self.dtype = shape_expr, dtype
        self.shape: Shape | None = None
        self.format: TensorFormat | None = None
        self.scale: float | None = None
        self._aliased: TensorDesc | None = None

    @property
    def ndim(self) -> int:
        return len(self._sizes())

    @property
    def is_size_tensor(self) -> bool:
        return False

    @property
    def has_shape(self) -> bool:
        return self.shape is not None

    @property
    def has_shape_expr(self) -> bool:
        return self.shape_expr is not None

    @property
    def is_dynamic(self) -> bool:
        if self.shape is None:
            raise ValueError("the shape is not known yet")
        return self.shape.is_dynamic

    def _sizes(self) -> ShapeExprs:
        if self.shape_expr is None:
            raise ValueError("the tensor has no shape_expr")
        return self.shape_expr

    def numel(self) -> int:
        if self.shape is None:
            raise ValueError("the shape is not known yet; shape_expr.numel() is")
        return self.shape.numel()

    def like(self) -> TensorDesc:
        """One of the same type and sizes."""
        return TensorDesc(self._sizes()._copy(), self.dtype)

    def aliased(self) -> TensorDesc:
        """The same, in the memory of this input."""
        made = self.like()
        made._aliased = self
        return made

    @property
    def is_aliased(self) -> bool:
        return self._aliased is not None

    def get_aliased(self) -> TensorDesc | None:
        return self._aliased


class SizeTensorDesc(TensorDesc):
    """An output without dimensions, into which the plugin writes a size that it finds while it runs."""

    def __init__(self, opt: ShapeExpr, upper_bound: ShapeExpr) -> None:
        super().__init__(ShapeExprs(0), DataType.INT32)
        self.opt = opt if isinstance(opt, ShapeExpr) else ShapeExpr(opt)
        self.upper_bound = upper_bound if isinstance(upper_bound, ShapeExpr) else ShapeExpr(upper_bound)
        self.index = -1  # among the outputs, once they are known

    @property
    def is_size_tensor(self) -> bool:
        return True

    def expr(self) -> ShapeExpr:
        return SizeTensorShapeExpr(self)


def size_tensor(opt: Any, upper_bound: Any) -> SizeTensorDesc:
    return SizeTensorDesc(opt, upper_bound)


def from_shape_expr(shape_expr: Iterable[int | ShapeExpr] | ShapeExprs, dtype: DataType) -> TensorDesc:
    if not isinstance(shape_expr, ShapeExprs):
        shape_expr = ShapeExprs.from_tuple(shape_expr)
    return TensorDesc(shape_expr, dtype)


class Tensor:
    """Memory that the plugin reads or writes."""

    def __init__(self, desc: Any, address: int, stream: int, read_only: bool) -> None:
        self.dtype, self.format, self.scale = desc.type, desc.format, desc.scale
        self.shape, self.data_ptr, self._stream, self._read_only = Shape(desc), address, stream, read_only
        strides, step = [], 1
        for size in reversed(tuple(self.shape)):
            strides.append(step)
            step *= size
        self.strides = tuple(reversed(strides))
        self._aliased: Tensor | None = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_data_dependent(self) -> bool:
        return self.shape.is_dynamic

    def numel(self) -> int:
        return self.shape.numel()

    @property
    def is_aliased(self) -> bool:
        return self._aliased is not None

    def get_aliased(self) -> Tensor | None:
        return self._aliased

    def _interface(self, **more: Any) -> dict[str, Any]:
        dtype = nptype(self.dtype)
        return {"shape": tuple(self.shape), "typestr": dtype().dtype.str, "version": 3, "strides": None,
                "data": (self.data_ptr, self._read_only), **more}

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """For engines on the CPU."""
        return self._interface()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._interface(stream=self._stream or 1)
