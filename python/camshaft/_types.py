"""Between numpy's element types and the library's."""

import ctypes

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
        DataType.INT4: ml_dtypes.int4,
        DataType.UINT4: ml_dtypes.uint4,
        DataType.FP4: ml_dtypes.float4_e2m1fn,
    }
except ImportError:
    pass
_OURS = {np.dtype(value): key for key, value in _NUMPY.items()}


_BITS = {DataType.INT4: 4, DataType.UINT4: 4, DataType.FP4: 4, DataType.E8M0: 8, DataType.FP8: 8,
         DataType.FP8E5M2: 8, DataType.BF16: 16}


def _itemsize(data_type):
    """Bytes per element; half a byte for 4-bit types."""
    bits = _BITS.get(data_type) or np.dtype(_NUMPY[data_type]).itemsize * 8
    return bits // 8 if bits % 8 == 0 else bits / 8


DataType.itemsize = property(_itemsize)


def _pack(array):
    """The bytes of an array as the library reads them: 4-bit elements in pairs, low half first."""
    if not _is_half_byte(array.dtype):
        return array
    halves = np.zeros((array.size + 1) // 2 * 2, np.uint8)
    halves[: array.size] = array.reshape(-1).view(np.uint8) & 15
    return halves[0::2] | halves[1::2] << 4


def _unpack(packed, dtype, shape):
    """The array in memory that the library wrote; numpy keeps 4-bit elements a byte each."""
    if not _is_half_byte(dtype):
        return packed.view(dtype).reshape(shape)
    halves = np.stack([packed & 15, packed >> 4], 1).reshape(-1)[: int(np.prod(shape))]
    if dtype == _NUMPY[DataType.INT4]:
        halves = (halves.astype(np.int8) ^ 8) - 8  # sign of the lower half
    return halves.astype(np.uint8).view(dtype).reshape(shape)


def _is_half_byte(dtype):
    return _itemsize(_OURS[np.dtype(dtype)]) == 0.5


def _bytes_of(dtype, shape):
    count = int(np.prod(shape, dtype=np.int64))
    return (count + 1) // 2 if _is_half_byte(dtype) else count * dtype.itemsize


def nptype(trt_type):
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
