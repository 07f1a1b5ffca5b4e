"""Shapes and orders of axes as TensorRT has them: sequences of integers that compare with tuples and
lists, and can be changed in place, but not in length."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, overload


class _Integers(Sequence[int]):
    __slots__ = ("_items",)
    __hash__ = None  # type: ignore[assignment]  # they change
    _items: list[int]

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        return tuple(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __setitem__(self, index: int | slice, value: int | Iterable[int]) -> None:
        if not isinstance(index, slice):
            self._items[index] = operator.index(value)  # type: ignore[arg-type]
            return
        values = _integers(value)  # type: ignore[arg-type]
        if len(values) != len(self._items[index]):
            raise ValueError(f"{len(values)} values do not fit into {len(self._items[index])} places")
        self._items[index] = values

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (_Integers, tuple, list)):
            return self._items == list(other)
        return NotImplemented

    def __repr__(self) -> str:
        return str(tuple(self._items))


class Dims(_Integers):
    """A shape, -1 where a size is known only at run time."""

    __slots__ = ()
    MAX_DIMS: ClassVar[int] = 8

    def __new__(cls, shape: Iterable[int] | None = (), *_: Any, **__: Any) -> Dims:
        # The library gives None for a shape that is unknown altogether.
        return super().__new__(_UnknownDims if shape is None and cls is Dims else cls)

    def __init__(self, shape: Iterable[int] = ()) -> None:
        self._items = _integers(shape)
        if len(self._items) > Dims.MAX_DIMS:
            raise ValueError(f"a shape has at most {Dims.MAX_DIMS} sizes, not {len(self._items)}")


class _UnknownDims(Dims):
    """A shape of which not even the number of sizes is known."""

    __slots__ = ()

    def __init__(self, shape: None = None) -> None:
        self._items = []

    def __len__(self) -> int:
        raise ValueError("the dimensions are unknown")

    def __getitem__(self, index: Any) -> Any:
        raise ValueError("the dimensions are unknown")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _UnknownDims)

    def __repr__(self) -> str:
        return "unknown dimensions"


class _Ranked(Dims):
    """Of a fixed number of sizes, given one by one or as a sequence."""

    __slots__ = ()
    _names: ClassVar[tuple[str, ...]]

    def __init__(self, *sizes: Any, shape: Iterable[int] | None = None, **named: int) -> None:
        names = self._names
        if len(sizes) == 1 and not named and shape is None:
            shape, sizes = sizes[0], ()
        if shape is None:
            if not sizes and not named:
                sizes = (0,) * len(names)
            if unknown := [name for name in named if name not in names[len(sizes) :]]:
                raise TypeError(f"{type(self).__name__} takes {', '.join(names)}, not {unknown[0]}")
            shape = (*sizes, *(named[name] for name in names[len(sizes) :] if name in named))
        super().__init__(shape)
        if len(self) != len(names):
            raise ValueError(f"{type(self).__name__} takes {len(names)} sizes, not {len(self)}")


class Dims2(_Ranked):
    __slots__ = ()
    _names = ("dim0", "dim1")


class DimsHW(Dims2):
    __slots__ = ()
    _names = ("h", "w")

    @property
    def h(self) -> int:
        return self[0]

    @h.setter
    def h(self, size: int) -> None:
        self[0] = size

    @property
    def w(self) -> int:
        return self[1]

    @w.setter
    def w(self, size: int) -> None:
        self[1] = size


class Dims3(_Ranked):
    __slots__ = ()
    _names = ("dim0", "dim1", "dim2")


class Dims4(_Ranked):
    __slots__ = ()
    _names = ("dim0", "dim1", "dim2", "dim3")


class Permutation(_Integers):
    """Which axis comes first, second, and so on; axes that are not given stay where they are."""

    __slots__ = ()

    def __init__(self, order: Iterable[int] = ()) -> None:
        given = _integers(order)
        if len(given) > Dims.MAX_DIMS:
            raise ValueError(f"a permutation has at most {Dims.MAX_DIMS} axes, not {len(given)}")
        self._items = given + list(range(len(given), Dims.MAX_DIMS))


def _integers(values: Iterable[int]) -> list[int]:
    return [operator.index(value) for value in values]
