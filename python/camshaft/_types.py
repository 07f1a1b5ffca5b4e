"""Between numpy's element types and the library's."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from ._camshaft import DataType

_NUMPY = {
    DataType.FLOAT: np.float32,
    DataType.HALF: np.float16,
    DataType.DOUBLE: np.float64,
    DataType.INT8: np.int8,
    DataType.INT16: np.int16,
    DataType.INT32: np.int32,
    DataType.INT64: np.int64,
    DataType.UINT8: np.uint8,
    DataType.UINT16: np.uint16,
    DataType.UINT32: np.uint32,
    DataType.UINT64: np.uint64,
    DataType.BOOL: np.bool_,
}
try:  # numpy itself has no narrow floats
    import ml_dtypes

    _NUMPY |= {
        DataType.BF16: ml_dtypes.bfloat16,
        DataType.FP8: ml_dtypes.float8_e4m3fn,
        DataType.FP8E5M2: ml_dtypes.float8_e5m2,
        DataType.FP8E4M3FNUZ: ml_dtypes.float8_e4m3fnuz,
        DataType.FP8E5M2FNUZ: ml_dtypes.float8_e5m2fnuz,
        DataType.E8M0: ml_dtypes.float8_e8m0fnu,
        DataType.INT4: ml_dtypes.int4,
        DataType.UINT4: ml_dtypes.uint4,
        DataType.FP4: ml_dtypes.float4_e2m1fn,
        DataType.INT2: ml_dtypes.int2,
        DataType.UINT2: ml_dtypes.uint2,
    }
except ImportError:
    pass
_OURS = {np.dtype(value): key for key, value in _NUMPY.items()}
# Bits of the elements that numpy has no type for, or keeps in a byte each.
_BITS = {DataType.INT4: 4, DataType.UINT4: 4, DataType.FP4: 4, DataType.INT2: 2, DataType.UINT2: 2,
         DataType.E8M0: 8, DataType.FP8: 8, DataType.FP8E5M2: 8, DataType.FP8E4M3FNUZ: 8,
         DataType.FP8E5M2FNUZ: 8, DataType.BF16: 16}


def _bits_of(data_type):
    return _BITS.get(data_type) or np.dtype(_NUMPY[data_type]).itemsize * 8


def _itemsize(data_type):
    """Bytes per element; a fraction for types of 2 and 4 bits."""
    bits = _bits_of(data_type)
    return bits // 8 if bits % 8 == 0 else bits / 8


def _pack(array):
    """The bytes of an array as the library reads them: narrow elements side by side, low bits first."""
    bits = _bits_of(_OURS[array.dtype])
    if bits >= 8:
        return array
    per_byte = 8 // bits
    parts = np.zeros(-(-array.size // per_byte) * per_byte, np.uint8)
    parts[: array.size] = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    shifted = parts.reshape(-1, per_byte) << np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    return np.bitwise_or.reduce(shifted, axis=1)


def _unpack(packed, dtype, shape):
    """The array in memory that the library wrote; numpy keeps narrow elements a byte each."""
    data_type = _OURS[np.dtype(dtype)]
    bits = _bits_of(data_type)
    if bits >= 8:
        return packed.view(dtype).reshape(shape)
    shifts = np.arange(8 // bits, dtype=np.uint8) * np.uint8(bits)
    parts = (packed[:, None] >> shifts).reshape(-1)[: int(np.prod(shape))] & ((1 << bits) - 1)
    if data_type in (DataType.INT4, DataType.INT2):
        sign = 1 << (bits - 1)
        parts = (parts.astype(np.int8) ^ sign) - sign
    return parts.astype(np.uint8).view(dtype).reshape(shape)


def _bytes_of(dtype, shape):
    return (math.prod(shape) * _bits_of(_OURS[np.dtype(dtype)]) + 7) // 8


def nptype(trt_type: DataType) -> type[Any]:
    """The numpy type of a :class:`DataType`."""
    try:
        return _NUMPY[trt_type]
    except KeyError:
        raise TypeError(f"numpy has no type for {trt_type!r}; ml_dtypes adds narrow ones") from None


def _data_type_of(array):
    try:
        return _OURS[array.dtype]
    except KeyError:
        raise TypeError(f"arrays of {array.dtype} have no DataType") from None


def _array_at(address, data_type, count, owner):
    """A numpy view of memory that ``owner`` keeps alive."""
    dtype = np.dtype(nptype(data_type))
    if count == 0 or address == 0:
        return np.empty(0, dtype)
    buffer = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    buffer._owner = owner
    return np.frombuffer(buffer, dtype)
