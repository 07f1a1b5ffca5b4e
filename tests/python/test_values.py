"""Shapes, enums, weights and memory: the small things that clients lean on."""

import pathlib

import numpy
import pytest

import camshaft as trt


def test_dims_are_sequences_that_compare_with_tuples():
    dims = trt.Dims((1, 3, 224, 224))
    assert dims == (1, 3, 224, 224) and tuple(dims) == (1, 3, 224, 224) and list(dims)[1] == 3
    assert len(dims) == 4 and dims[-1] == 224 and dims[1:3] == (3, 224)
    assert trt.volume(dims) == 3 * 224 * 224
    assert trt.Dims4(1, 2, 3, 4) == trt.Dims4((1, 2, 3, 4)) == (1, 2, 3, 4)
    assert (trt.DimsHW(5, 6).h, trt.DimsHW((5, 6)).w) == (5, 6)
    with pytest.raises(ValueError):
        trt.Dims3(1, 2)


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
        assert getattr(enum, key) == value and value.name == key
        assert 1 << int(value) > 0


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
