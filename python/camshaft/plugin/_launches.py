"""What plugins with kernels of their own (``aot_impl``) describe launches with."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from ._expressions import ShapeExpr, ShapeExprs


class PluginArgType(enum.Enum):
    INT = 0


class PluginArgDataType(enum.Enum):
    INT8 = 0
    INT16 = 1
    INT32 = 2


@dataclasses.dataclass
class ISymExpr:
    """An argument of a launch: an expression of sizes."""

    type: PluginArgType = PluginArgType.INT
    dtype: PluginArgDataType = PluginArgDataType.INT32
    expr: Any = None


class ISymExprs(list):
    """Arguments in order."""

    @property
    def nbSymExprs(self) -> int:
        return len(self)


@dataclasses.dataclass
class KernelLaunchParams:
    grid_x: Any = 1
    grid_y: Any = 1
    grid_z: Any = 1
    block_x: Any = 1
    block_y: Any = 1
    block_z: Any = 1
    shared_mem: Any = 0


class SymInt32(ShapeExpr):
    pass


class SymInt16(ShapeExpr):
    pass


class SymInt8(ShapeExpr):
    pass


class SymExprs(ShapeExprs):
    pass


class SymIntExprs(SymExprs):
    pass
