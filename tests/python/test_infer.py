"""camshaft.infer: numpy in, numpy out."""

import numpy
import onnx
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


def too_small_for_its_kernel():
    """A convolution of 3x3 over x[1, 1, h, 8]: one row is no input for it, and the profile has it."""
    inputs = {"x": (TensorProto.FLOAT, [1, 1, "h", 8]), "w": (TensorProto.FLOAT, [1, 1, 3, 3])}
    model = one_node("Conv", inputs, (TensorProto.FLOAT, [1, 1, "k", 6]))
    return build(model, [{"x": (1, 1, height, 8), "w": (1, 1, 3, 3)} for height in (8, 1, 16)])


@pytest.mark.parametrize("as_tensors", [False, True])
def test_a_failed_run_leaves_nothing_to_the_next(as_tensors):
    w = numpy.ones((1, 1, 3, 3), numpy.float32)
    context = too_small_for_its_kernel().create_execution_context()

    def infer(height, value):
        x = numpy.full((1, 1, height, 8), value, numpy.float32)
        if not as_tensors:
            return trt.infer(context, {"x": x, "w": w})["y"]
        torch = pytest.importorskip("torch")
        return trt.infer(context, {"x": torch.from_numpy(x), "w": torch.from_numpy(w)})["y"].numpy()

    assert (infer(8, 1) == 9).all()
    for _ in range(2):
        with pytest.raises((trt.Error, ValueError)):
            infer(1, 1)
        for value in (2, 3):
            assert (infer(8, value) == 9 * value).all()


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int32", "int8", "uint8", "bool"])
def test_runs_of_the_same_shapes(dtype):
    code = onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    model = one_node("Identity", {"x": (code, ["n", 3])}, (code, ["n", 3]))
    engine = build(model, [{"x": (rows, 3)} for rows in (2, 2, 2000)])
    context = engine.create_execution_context()
    for rows in (2, 2, 2000, 2000, 2):
        x = numpy.random.default_rng(rows).integers(0, 100, (rows, 3)).astype(dtype)
        y = trt.infer(context, {"x": x})["y"]
        assert y.dtype == x.dtype and y.flags.writeable
        numpy.testing.assert_array_equal(y, x)
        for other in (numpy.asfortranarray(x), x[::-1]):
            numpy.testing.assert_array_equal(trt.infer(context, {"x": other})["y"], other)
    wrong = numpy.zeros((2, 3), "complex64")
    for inputs, reason in (({}, "no array"), ({"x": x, "z": x}, "'z' is no input"), ({"x": wrong}, "takes")):
        with pytest.raises((ValueError, TypeError), match=reason):
            trt.infer(context, inputs)


def test_a_context_is_lent_and_given_back():
    class Allocator(trt.IOutputAllocator):
        def __init__(self):
            trt.IOutputAllocator.__init__(self)

        def reallocate_output(self, name, memory, size, alignment):
            return memory

        def notify_shape(self, name, shape):
            self.shape = tuple(shape)

    engine = build(one_node("Neg", {"x": (TensorProto.FLOAT, ["n"])}, (TensorProto.FLOAT, ["n"])))
    context = engine.create_execution_context()
    x, y, allocator = numpy.ones(4, numpy.float32), numpy.zeros(4, numpy.float32), Allocator()
    context.set_tensor_address("x", x.ctypes.data)
    context.set_tensor_address("y", y.ctypes.data)
    context.set_output_allocator("y", allocator)
    assert (trt.infer(context, {"x": numpy.full(4, 5, numpy.float32)})["y"] == -5).all()
    assert not y.any()
    assert context.get_output_allocator("y") is allocator
    context.execute_async_v3(0)
    assert (y == -1).all() and allocator.shape == (4,)
    context.set_output_allocator("y", None)
    y[:] = 0
    context.execute_async_v3(0)
    assert context.get_output_allocator("y") is None and (y == -1).all()
