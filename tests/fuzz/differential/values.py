"""Element types by the names numpy gives them, and random values that stay clear of edges."""

import numpy
import onnx
from onnx import TensorProto

FLOATS = ("float32", "float16", "float64")
SIGNED = ("int32", "int64", "int8", "int16")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTS
PLAIN = NUMBERS + ("bool",)

# Types that numpy cannot hand to ONNX Runtime: kept here in a wider one, cast on the way.
STORED_AS = {"bfloat16": "float32", "float8_e4m3fn": "float32", "float8_e5m2": "float32",
             "int4": "int8", "uint4": "uint8"}
CODES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE,
         "bfloat16": TensorProto.BFLOAT16, "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
         "float8_e5m2": TensorProto.FLOAT8E5M2, "int4": TensorProto.INT4, "uint4": TensorProto.UINT4,
         "bool": TensorProto.BOOL,
         **{name: getattr(TensorProto, name.upper()) for name in INTS}}
NAMES = {code: name for name, code in CODES.items()}
# How ONNX Runtime's sessions spell the types of their outputs.
RUNTIME_NAMES = {"float": "float32", "double": "float64", "float8e4m3fn": "float8_e4m3fn",
                 "float8e5m2": "float8_e5m2"}

# Half a unit in the last place of 1.
ROUNDING = {"float32": 2.0**-24, "float16": 2.0**-11, "float64": 2.0**-53, "bfloat16": 2.0**-8,
            "float8_e4m3fn": 2.0**-4, "float8_e5m2": 2.0**-3}
LARGEST = {"float16": 2e3, "bfloat16": 2e3, "float8_e4m3fn": 200, "float8_e5m2": 200}


def stored(dtype):
    return numpy.dtype(STORED_AS.get(dtype, dtype))


def is_float(dtype):
    return dtype in ROUNDING


def runtime_type(text):
    """'float16' of 'tensor(float16)'; None of sequences and strings."""
    if not text.startswith("tensor("):
        return None
    name = text[7:-1]
    name = RUNTIME_NAMES.get(name, name)
    return name if name in CODES else None


def random_array(random, dtype, shape, low=None, high=None):
    """Values from `low` to `high`: multiples of 1/64, so that sums are often exact in any order, or
    anything in between."""
    if dtype == "bool":
        return numpy.asarray(random.random(shape) < 0.5)
    if is_float(dtype):
        low, high = (-3 if low is None else low), (3 if high is None else high)
        values = random.uniform(low, high, shape)
        if high - low >= 1 and random.random() < 0.3:
            values = numpy.round(values * 64) / 64
        return numpy.asarray(values, stored(dtype))
    low = (0 if dtype.startswith("u") else -5) if low is None else low
    high = 9 if high is None else high
    return numpy.asarray(random.integers(low, high + 1, shape), stored(dtype))


def constant(array, dtype, name):
    """An initialiser that holds `array` as `dtype`."""
    array = numpy.asarray(array)
    if dtype in STORED_AS:
        return onnx.helper.make_tensor(name, CODES[dtype], array.shape, array.flatten().tolist())
    return onnx.numpy_helper.from_array(numpy.ascontiguousarray(array).reshape(array.shape), name)
