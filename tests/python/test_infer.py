"""camshaft.infer: numpy in, numpy out."""

import numpy
import pytest
from building import build
from onnx import TensorProto
from small_models import one_node

import camshaft as trt


def test_outputs_sized_by_data_follow_each_run():
    model = one_node("Reshape", {"x": (TensorProto.FLOAT, [12]), "size": (TensorProto.INT64, [2])},
                     (TensorProto.FLOAT, ["rows", "columns"]))
    context = build(model).create_execution_context()
    x = numpy.arange(12, dtype=numpy.float32)
    for size in ((3, 4), (12, 1), (2, 6), (3, 4)):
        y = trt.infer(context, {"x": x, "size": numpy.array(size)})["y"]
        numpy.testing.assert_array_equal(y, x.reshape(size))


@pytest.mark.parametrize("name", ["int4", "uint4"])
@pytest.mark.parametrize("count", [1, 6, 7])
def test_four_bit_elements_travel_in_pairs(name, count):
    narrow = numpy.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    wide_type, narrow_type = TensorProto.INT8, getattr(TensorProto, name.upper())
    x = (numpy.arange(count) - (3 if name == "int4" else 0)).astype(numpy.int8)

    def cast(array, source, target):
        model = one_node("Cast", {"x": (source, [count])}, (target, [count]), to=target)
        return trt.infer(build(model).create_execution_context(), {"x": array})["y"]

    narrowed = cast(x, wide_type, narrow_type)
    assert narrowed.dtype == narrow
    numpy.testing.assert_array_equal(narrowed.astype(numpy.int8), x)
    numpy.testing.assert_array_equal(cast(x.astype(narrow), narrow_type, wide_type), x)


def test_scalars():
    engine = build(one_node("Neg", {"x": (TensorProto.FLOAT, [])}, (TensorProto.FLOAT, [])))
    assert trt.infer(engine.create_execution_context(), {"x": numpy.float32(3)})["y"] == -3
