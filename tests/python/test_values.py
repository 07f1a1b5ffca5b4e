"""Shapes, enums, weights and memory: the small things that clients lean on."""

import pathlib

import numpy
import pytest

import camshaft as trt


def test_dims_are_sequences_that_compare_with_tuples_and_lists():
    dims = trt.Dims((1, 3, 224, 224))
    assert dims == (1, 3, 224, 224) and tuple(dims) == (1, 3, 224, 224) and list(dims)[1] == 3
    assert dims == [1, 3, 224, 224] and dims != [1, 3] and [1, 3, 224, 224] == dims
    assert len(dims) == 4 and dims[-1] == 224 and dims[1:3] == (3, 224) and 3 in dims
    assert trt.volume(dims) == 3 * 224 * 224 and numpy.zeros(dims[1:2]).shape == (3,)
    assert str(dims) == "(1, 3, 224, 224)" and repr(trt.Dims([5])) == "(5,)"
    assert trt.Dims() == () and trt.Dims.MAX_DIMS == 8


def test_dims_can_be_assigned():
    dims = trt.Dims([1, 3, 5])
    dims[0], dims[-1] = 8, 7
    dims[1:2] = (4,)
    assert dims == (8, 4, 7)
    with pytest.raises(ValueError, match="2 values"):
        dims[1:2] = (4, 5)
    with pytest.raises(IndexError):
        dims[3] = 1
    with pytest.raises(TypeError):
        dims[0] = 1.5
    with pytest.raises(TypeError):
        hash(dims)  # as TensorRT has it
    with pytest.raises(ValueError, match="at most 8"):
        trt.Dims(range(9))


def test_dims_of_a_rank():
    assert trt.Dims4(1, 2, 3, 4) == trt.Dims4((1, 2, 3, 4)) == (1, 2, 3, 4)
    assert trt.Dims2(dim0=1, dim1=2) == trt.Dims2(shape=[1, 2]) == trt.Dims2(1, dim1=2)
    size = trt.DimsHW(5, w=6)
    assert (size.h, trt.DimsHW((5, 6)).w) == (5, 6) and isinstance(size, trt.Dims2)
    size.h = 7
    assert size == (7, 6) and trt.Dims3() == (0, 0, 0)
    with pytest.raises(ValueError, match="takes 3 sizes"):
        trt.Dims3(1, 2)
    with pytest.raises(TypeError, match="depth"):
        trt.Dims2(depth=1)


def test_permutations(network):
    shuffle = network.add_shuffle(network.add_input("x", trt.float32, (2, 3)))
    shuffle.first_transpose = trt.Permutation([1, 0])
    assert list(shuffle.first_transpose)[:2] == [1, 0] and len(shuffle.first_transpose) == 8
    assert shuffle.get_output(0).shape == (3, 2)
    order = shuffle.first_transpose
    order[:2] = (0, 1)
    shuffle.first_transpose = order
    assert shuffle.get_output(0).shape == [2, 3]


@pytest.mark.parametrize("name", [
    "DataType", "TensorIOMode", "TensorLocation", "DeviceType", "TensorFormat", "BuilderFlag",
    "MemoryPoolType", "LayerType", "ActivationType", "ElementWiseOperation", "UnaryOperation",
    "ReduceOperation", "PoolingType", "MatrixOperation", "ProfilingVerbosity",
    "LayerInformationFormat", "NetworkDefinitionCreationFlag", "ErrorCode",
    "ExecutionContextAllocationStrategy", "OnnxParserFlag"])
def test_enums_list_their_members_and_are_numbers(name):
    enum = getattr(trt, name)
    assert enum.__members__
    for key, value in enum.__members__.items():
        assert getattr(enum, key) is value and enum[key] is value and enum[value.name] is value
        assert 1 << int(value) > 0 and enum(int(value)) is value
        assert value != int(value)


def test_members_are_of_their_enum_alone(network, config):
    assert trt.ActivationType.RELU != trt.LayerType.CONVOLUTION
    assert {trt.ActivationType.RELU: 1}.get(trt.LayerType.CONVOLUTION) is None
    x = network.add_input("x", trt.float32, (1,))
    for wrong in (0, trt.LayerType.CONVOLUTION, "RELU", None):
        with pytest.raises(TypeError, match="ActivationType"):
            network.add_activation(x, wrong)
    with pytest.raises(TypeError, match="BuilderFlag"):
        config.set_flag(trt.MemoryPoolType.WORKSPACE)
    layer = network.add_activation(x, trt.ActivationType.RELU)
    with pytest.raises(TypeError, match="ActivationType"):
        layer.type = 1
    assert trt.BuilderFlag.WEIGHTLESS is trt.BuilderFlag.STRIP_PLAN


def test_creation_flags_combine():
    flags = 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)
    flags |= 1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
    assert flags == 0b11


def test_types_name_their_numpy_counterparts():
    assert trt.nptype(trt.float32) is numpy.float32
    assert trt.nptype(trt.DataType.BOOL) is numpy.bool_
    assert trt.nptype(trt.int64)().itemsize == trt.int64.itemsize == 8
    assert trt.float16 == trt.DataType.HALF


def test_logger_severities_are_reachable_as_clients_write_them():
    assert trt.Logger.WARNING == trt.Logger.Severity.WARNING == trt.ILogger.Severity.WARNING
    logger = trt.Logger(trt.Logger.INFO)
    logger.min_severity = trt.Logger.Severity.VERBOSE
    assert logger.min_severity == trt.Logger.VERBOSE
    assert trt.Logger.ERROR < trt.Logger.INFO


def test_weights_view_numpy_arrays():
    array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    weights = trt.Weights(array)
    assert (len(weights), weights.size, weights.dtype) == (6, 6, trt.float32)
    numpy.testing.assert_array_equal(weights.numpy(), array.ravel())
    assert trt.Weights(trt.float16).size == 0
    assert trt.Weights(trt.float32, array.ctypes.data, 6).numpy()[5] == 5


def test_host_memory_is_a_buffer(builder, config, parsed, tmp_path):
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 4), (1, 4), (1, 4))
    config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(parsed, config)
    (tmp_path / "engine").write_bytes(plan)
    content = (tmp_path / "engine").read_bytes()
    assert content == bytes(plan) == bytes(memoryview(plan))
    assert plan.nbytes == len(plan) == len(content)
    with pytest.raises(TypeError):
        memoryview(plan)[0] = 0


def test_package_is_typed():
    folder = pathlib.Path(trt.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_camshaft.pyi").read_text()
    for name in ("class Builder", "class IExecutionContext", "def set_input_shape",
                 "class DataType"):
        assert name in stub


def test_version_is_one_that_clients_know():
    assert int(trt.__version__.split(".")[0]) == 10
    assert trt.camshaft_version
