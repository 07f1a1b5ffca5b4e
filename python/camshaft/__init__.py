"""Camshaft: build an inference engine from an ONNX model and run it.

The names and keywords are those of the ``tensorrt`` module, so existing code ports by
``import camshaft as trt``. Two things are friendlier: calls that would return ``None`` raise
:class:`Error` with the reason, and :func:`infer` runs a context on numpy arrays.
"""

import ctypes as _ctypes

import numpy as _np


class Error(RuntimeError):
    """Why a call failed, in the library's own words."""


class Dims(tuple):
    """A shape: a tuple of sizes, -1 where a size is known only at run time."""

    MAX_DIMS = 8

    def __new__(cls, shape=()):
        return super().__new__(cls, (int(size) for size in shape))

    def __repr__(self):
        return str(tuple(self))


def _dims_of_rank(name, rank):
    def new(cls, *sizes):
        sizes = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
        if len(sizes) != rank:
            raise ValueError(f"{name} takes {rank} sizes, not {len(sizes)}")
        return Dims.__new__(cls, sizes)

    return type(name, (Dims,), {"__new__": new})


Dims2 = _dims_of_rank("Dims2", 2)
Dims3 = _dims_of_rank("Dims3", 3)
Dims4 = _dims_of_rank("Dims4", 4)
DimsHW = _dims_of_rank("DimsHW", 2)
DimsHW.h = property(lambda self: self[0])
DimsHW.w = property(lambda self: self[1])
Permutation = tuple

from ._camshaft import *  # noqa: E402,F401,F403
from ._camshaft import DataType, ILogger, Logger, TENSORRT_VERSION  # noqa: E402

__version__ = TENSORRT_VERSION  # clients branch on TensorRT's version
camshaft_version = "0.1.0"

float32, float16, bfloat16 = DataType.FLOAT, DataType.HALF, DataType.BF16
int8, int32, int64, uint8 = DataType.INT8, DataType.INT32, DataType.INT64, DataType.UINT8
bool = DataType.BOOL  # noqa: A001 - the name clients use
fp8, int4, fp4 = DataType.FP8, DataType.INT4, DataType.FP4

for _severity in ILogger.Severity:
    setattr(Logger, _severity.name, _severity)
Logger.Severity = ILogger.Severity

from ._types import _array_at, _data_type_of, nptype  # noqa: E402,F401
from .inference import infer  # noqa: E402,F401
from ._slim import slim  # noqa: E402,F401


def volume(iterable):
    """The product of the sizes."""
    product = 1
    for size in iterable:
        product *= size
    return product


def init_libnvinfer_plugins(logger, namespace):
    """There is no plugin library to load; kept for clients that call it."""
    return True


def _context_manager(cls):
    cls.__enter__ = lambda self: self
    cls.__exit__ = lambda self, *_: None


from . import _camshaft  # noqa: E402

for _name in ("Logger", "Builder", "INetworkDefinition", "OnnxParser", "IBuilderConfig", "Runtime",
              "ICudaEngine", "IExecutionContext", "IHostMemory"):
    _context_manager(getattr(_camshaft, _name))
