"""Casts and quantisation of narrow types, beside the ONNX reference."""

import ml_dtypes
import numpy
import pytest
from building import build
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import camshaft as trt

random = numpy.random.default_rng(3)
FLOAT8 = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"]
PACKED = ["INT4", "UINT4", "INT2", "UINT2", "FLOAT4E2M1"]


def check(op, inputs, made_type, **attributes):
    """One node with these inputs gives what the reference gives."""
    names = [f"x{i}" for i in range(len(inputs))]
    feed = dict(zip(names, map(numpy.asarray, inputs)))
    given = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
             for name, array in feed.items()]
    made = helper.make_tensor_value_info("y", getattr(TensorProto, made_type), None)
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "g", given, [made])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=12)
    (expected,) = ReferenceEvaluator(model).run(None, feed)
    result = trt.infer(build(model.SerializeToString()).create_execution_context(), feed)["y"]
    assert result.dtype == expected.dtype
    numpy.testing.assert_array_equal(result.astype(numpy.float32), expected.astype(numpy.float32))


def floats_around(*special):
    # Ties of the float8 types, and what lies beside them.
    ties = [0, 1.5, 240, 247.9, 248, 448, 464, 464.1, 480, 57344, 61439, 61440, 61441]
    values = [*ties, *(-tie for tie in ties), *special, *random.standard_normal(50) * 100]
    return numpy.array(values, numpy.float32)


@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("to", FLOAT8)
def test_casts_to_float8(to, saturate):
    x = floats_around(numpy.nan, numpy.inf, -numpy.inf)
    check("Cast", [x], to, to=getattr(TensorProto, to), saturate=saturate)


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
def test_casts_to_powers_of_two(mode):
    x = numpy.abs(floats_around(numpy.nan, 2.0**127, 1.5 * 2.0**127, 2.0**-126))
    check("Cast", [x], "FLOAT8E8M0", to=TensorProto.FLOAT8E8M0, round_mode=mode)


@pytest.mark.parametrize("x", [random.uniform(-20, 20, 61).astype(numpy.float32),
                               random.integers(-20, 20, 61).astype(numpy.int32)], ids=["f32", "i32"])
@pytest.mark.parametrize("to", PACKED)
def test_casts_to_packed_elements(to, x):
    check("Cast", [x], to, to=getattr(TensorProto, to))


@pytest.mark.parametrize("scale, attributes", [((), {}), ((6,), {"axis": 0}), ((6, 2), {"axis": 1, "block_size": 4})],
                         ids=["tensor", "axis", "block"])
@pytest.mark.parametrize("to", [*FLOAT8, *PACKED, "INT8", "UINT16"])
def test_quantizes(to, scale, attributes):
    x = random.standard_normal((6, 8)).astype(numpy.float32) * 200
    scales = random.uniform(0.2, 3, scale).astype(numpy.float32)
    check("QuantizeLinear", [x, scales], to, output_dtype=getattr(TensorProto, to), **attributes)


def test_quantizes_without_saturation_and_in_a_given_precision():
    x = random.standard_normal((6, 8)).astype(numpy.float32) * 300
    scale = numpy.float32(0.3)
    check("QuantizeLinear", [x * 100, scale], "FLOAT8E5M2", output_dtype=TensorProto.FLOAT8E5M2, saturate=0)
    check("QuantizeLinear", [x, scale], "FLOAT8E4M3FN", output_dtype=TensorProto.FLOAT8E4M3FN, saturate=0)
    check("QuantizeLinear", [x, scale], "INT8", output_dtype=TensorProto.INT8, precision=TensorProto.FLOAT16)


@pytest.mark.parametrize("dtype", [ml_dtypes.int2, ml_dtypes.uint4, ml_dtypes.float8_e5m2fnuz,
                                   ml_dtypes.float4_e2m1fn, numpy.int16])
def test_dequantizes_blocks_to_another_type(dtype):
    x = random.integers(0, 2, (6, 8)).astype(numpy.float32).astype(dtype)
    scales = random.uniform(0.2, 3, (6, 2)).astype(numpy.float32)
    check("DequantizeLinear", [x, scales], "FLOAT16", output_dtype=TensorProto.FLOAT16, axis=1, block_size=4)
