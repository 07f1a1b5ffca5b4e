"""Whole models as ONNX Runtime's quantiser writes them, beside ONNX Runtime itself."""

import numpy
import onnx
import onnxruntime
import pytest
from building import build
import exact_onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

import camshaft as trt

random = numpy.random.default_rng(7)


def floats(*shape):
    return (random.standard_normal(shape) / numpy.sqrt(shape[-1])).astype(numpy.float32)


def saved(tmp_path, nodes, weights, inputs, outputs):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "model", [value(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [value(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "model.onnx"
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return path


def pictures(tmp_path):
    """A few convolutions with a residual sum, pooling, a concatenation and a classifier."""
    node = helper.make_node
    nodes = [node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]), node("Relu", ["c1"], ["r1"]),
             node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1], group=4), node("Add", ["r1", "c2"], ["s"]),
             node("LeakyRelu", ["s"], ["l"], alpha=0.1),
             node("AveragePool", ["l"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
             node("MaxPool", ["l"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
             node("Concat", ["p", "m"], ["cat"], axis=1),
             node("Sigmoid", ["cat"], ["g"]), node("Mul", ["cat", "g"], ["z"]), node("GlobalAveragePool", ["z"], ["v"]),
             node("Flatten", ["v"], ["f"]), node("Gemm", ["f", "w3", "b3"], ["logits"], transB=1),
             node("Softmax", ["logits"], ["y"], axis=1)]
    weights = {"w1": floats(8, 3, 3, 3), "b1": floats(8), "w2": floats(8, 2, 3, 3), "b2": floats(8),
               "w3": floats(5, 16), "b3": floats(5)}
    return saved(tmp_path, nodes, weights, {"x": ["n", 3, 12, 12]}, {"y": ["n", 5]})


def sequences(tmp_path):
    """An LSTM, a product and a normalisation."""
    node = helper.make_node
    nodes = [node("LSTM", ["x", "w", "r", "b"], ["states", "last", "cell"], hidden_size=16),
             node("Squeeze", ["states", "one"], ["h"]),
             node("MatMul", ["h", "w1"], ["m"]), node("Add", ["m", "b1"], ["a"]),
             node("Relu", ["a"], ["u"]), node("MatMul", ["u", "w2"], ["y"])]
    weights = {"w": floats(1, 64, 8), "r": floats(1, 64, 16), "b": floats(1, 128),
               "w1": floats(16, 32), "b1": floats(32), "w2": floats(32, 32), "one": numpy.array([1])}
    return saved(tmp_path, nodes, weights, {"x": [6, "n", 8]}, {"y": [6, "n", 32]})


class Samples(quantization.CalibrationDataReader):
    def __init__(self, count=8):
        self.left = [{"x": floats(2, 3, 12, 12) * 12} for _ in range(count)]

    def get_next(self):
        return self.left.pop() if self.left else None


def compare(path, feeds, tolerance, options=None):
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    wanted = session.run(None, feeds)
    engine = build(path, [{name: value.shape for name, value in feeds.items()}])
    results = trt.infer(engine, feeds)
    for output, value in zip(session.get_outputs(), wanted):
        numpy.testing.assert_allclose(results[output.name], value, atol=tolerance)


def operators(path):
    return {node.op_type for node in onnx.load(path).graph.node}


@pytest.mark.parametrize("form", [quantization.QuantFormat.QOperator, quantization.QuantFormat.QDQ])
@pytest.mark.parametrize("kind", [quantization.QuantType.QUInt8, quantization.QuantType.QInt8])
@pytest.mark.parametrize("per_channel", [False, True])
def test_static_quantisation(tmp_path, form, kind, per_channel):
    path = tmp_path / "quantised.onnx"
    quantization.quantize_static(pictures(tmp_path), path, Samples(), quant_format=form, activation_type=kind,
                                 weight_type=quantization.QuantType.QInt8, per_channel=per_channel)
    wanted = {"QLinearConv", "QLinearAdd"} if form == quantization.QuantFormat.QOperator else {"QuantizeLinear"}
    assert wanted <= operators(path)
    compare(path, {"x": floats(3, 3, 12, 12) * 12}, 0.02)  # an integer may round the other way


def test_dynamic_quantisation(tmp_path):
    path = tmp_path / "quantised.onnx"
    quantization.quantize_dynamic(sequences(tmp_path), path, weight_type=quantization.QuantType.QInt8)
    assert {"DynamicQuantizeLSTM", "MatMulInteger"} <= operators(path)
    compare(path, {"x": floats(6, 3, 8) * 3}, 0.02, exact_onnxruntime.session_options())


def test_optimised_dynamic_quantisation(tmp_path):
    """ONNX Runtime's own optimiser fuses what the quantiser wrote."""
    quantized, path = tmp_path / "quantised.onnx", tmp_path / "optimised.onnx"
    quantization.quantize_dynamic(sequences(tmp_path), quantized, weight_type=quantization.QuantType.QInt8)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path)
    onnxruntime.InferenceSession(str(quantized), options, providers=["CPUExecutionProvider"])
    assert "DynamicQuantizeMatMul" in operators(path)
    compare(path, {"x": floats(6, 3, 8) * 3}, 0.02, exact_onnxruntime.session_options())


@pytest.mark.parametrize("terms", [5, 258, 259, 4100])
def test_integer_products_are_exact(terms):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["a", "b"], ["y"])], "product",
        [value("a", TensorProto.UINT8, [2, "rows", terms]), value("b", TensorProto.UINT8, [terms, 4])],
        [value("y", TensorProto.INT32, [2, "rows", 4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    a, b = (random.integers(200, 256, shape).astype(numpy.uint8) for shape in ((2, 3, terms), (terms, 4)))
    result = trt.infer(build(model, [{"a": a.shape, "b": b.shape}]), {"a": a, "b": b})["y"]
    assert numpy.array_equal(result, a.astype(numpy.int64) @ b.astype(numpy.int64))


def model_of(node, inputs, outputs, weights, domains=("",)):
    """One node's model; `inputs` and `outputs` are (name, type, shape)."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph([node], "one", [value(*entry) for entry in inputs],
                              [value(*entry) for entry in outputs],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    opsets = [helper.make_opsetid(domain, 1 if domain else 17) for domain in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


TYPES = {numpy.uint8: TensorProto.UINT8, numpy.int8: TensorProto.INT8}


@pytest.mark.parametrize("a_type", TYPES)
@pytest.mark.parametrize("b_type", TYPES)
@pytest.mark.parametrize("rows", [1, 40])
def test_packed_integer_products_are_exact(a_type, b_type, rows):
    terms, columns = 4100, 37

    def bytes_of(kind, *shape):
        limits = numpy.iinfo(kind)
        return random.integers(limits.min, limits.max + 1, shape).astype(kind)

    a, b = bytes_of(a_type, rows, terms), bytes_of(b_type, terms, columns)
    a_zero, b_zero = bytes_of(a_type), bytes_of(b_type, columns)
    node = helper.make_node("MatMulInteger", ["a", "b", "az", "bz"], ["y"])
    model = model_of(node, [("a", TYPES[a_type], ["m", terms]), ("az", TYPES[a_type], [])],
                     [("y", TensorProto.INT32, ["m", columns])], {"b": b, "bz": b_zero})
    result = trt.infer(build(model, [{"a": a.shape, "az": ()}]), {"a": a, "az": a_zero})["y"]
    wide = [x.astype(numpy.int64) for x in (a, b, a_zero, b_zero)]
    assert numpy.array_equal(result, (wide[0] - wide[2]) @ (wide[1] - wide[3]))


@pytest.mark.parametrize("groups", [1, 2])
def test_integer_convolutions_are_exact(groups):
    """Sums beyond 2^24, which f32 does not hold."""
    x = random.integers(200, 256, (1, 600, 5)).astype(numpy.uint8)
    weights = random.integers(100, 128, (4, 600 // groups, 3)).astype(numpy.int8)
    node = helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], pads=[1, 1], group=groups)
    model = model_of(node, [("x", TensorProto.UINT8, ["n", 600, 5])], [("y", TensorProto.INT32, ["n", 4, 5])],
                     {"w": weights, "z": numpy.uint8(3)})
    result = trt.infer(build(model, [{"x": x.shape}]), {"x": x})["y"]
    padded = numpy.pad(x.astype(numpy.int64) - 3, ((0, 0), (0, 0), (1, 1)))
    wanted = numpy.zeros((1, 4, 5), numpy.int64)
    for group in range(groups):
        channels, filters = slice(600 // groups * group, 600 // groups * (group + 1)), slice(
            4 // groups * group, 4 // groups * (group + 1))
        for i in range(5):
            wanted[0, filters, i] = numpy.einsum("mck,ck->m", weights[filters].astype(numpy.int64),
                                                 padded[0, channels, i:i + 3])
    assert wanted.max() > 2 ** 24
    assert numpy.array_equal(result, wanted)


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_weights_of_few_bits_stay_packed(bits):
    columns, depth, block = 256, 1024, 32
    packed = random.integers(0, 256, (columns, depth // block, block * bits // 8)).astype(numpy.uint8)
    scales = floats(columns, depth // block)
    node = helper.make_node("MatMulNBits", ["a", "w", "s"], ["y"], domain="com.microsoft", bits=bits, block_size=block,
                            N=columns, K=depth)
    model = model_of(node, [("a", TensorProto.FLOAT, ["m", depth])], [("y", TensorProto.FLOAT, ["m", columns])],
                     {"w": packed, "s": scales}, ("", "com.microsoft"))
    for rows in (1, 19):
        a = floats(rows, depth)
        engine = build(model, [{"a": a.shape}])
        assert len(bytes(engine.serialize())) < columns * depth * bits // 4  # f32 would be 32 bits
        numbers = numpy.stack([packed >> i & 2 ** bits - 1 for i in range(0, 8, bits)], axis=-1)
        numbers = numbers.reshape(columns, depth // block, block).astype(numpy.float32)
        weights = ((numbers - 2 ** (bits - 1)) * scales[..., None]).reshape(columns, depth)
        numpy.testing.assert_allclose(trt.infer(engine, {"a": a})["y"], a @ weights.T, atol=1e-4, rtol=1e-5)


INTEGERS = {"int2": (TensorProto.INT2, -2, 4), "uint2": (TensorProto.UINT2, 0, 4), "int4": (TensorProto.INT4, -8, 16),
            "uint4": (TensorProto.UINT4, 0, 16), "int8": (TensorProto.INT8, -128, 256),
            "uint8": (TensorProto.UINT8, 0, 256)}


def block_model(type_, integers, weights, zeros, scales, block, form):
    """DequantizeLinear in blocks along K before a product, in the forms that quantisers write."""
    kind = TensorProto.FLOAT if type_ == "float32" else TensorProto.FLOAT16
    depth, columns = weights.shape
    nodes, axis = [], 0 if form in ("matmul", "cast") else 1
    if axis == 1:
        weights, scales, zeros = weights.T, scales.T, None if zeros is None else zeros.T
    if form == "rows":  # a row for each block
        weights, scales = weights.reshape(-1, block), scales.reshape(-1, 1)
        zeros = None if zeros is None else zeros.reshape(-1, 1)
    tensors = [helper.make_tensor("w", integers, weights.shape, weights.ravel()),
               numpy_helper.from_array(numpy.ascontiguousarray(scales), "s")]
    if zeros is not None:
        tensors.append(helper.make_tensor("z", integers, zeros.shape, zeros.ravel()))
    nodes.append(helper.make_node("DequantizeLinear", ["w", "s"] + ["z"] * (zeros is not None), ["b"], axis=axis,
                                  block_size=block))
    if form == "rows":
        tensors.append(numpy_helper.from_array(numpy.array([columns, depth]), "shape"))
        nodes.append(helper.make_node("Reshape", ["b", "shape"], ["joined"]))
    if form == "cast":
        nodes.append(helper.make_node("Cast", ["b"], ["wide"], to=kind))
    b = {"rows": "joined", "cast": "wide"}.get(form, "b")
    if form == "gemm":
        nodes.append(helper.make_node("Gemm", ["a", b], ["y"], transB=1))
    else:
        if axis == 1:
            nodes.append(helper.make_node("Transpose", [b], ["turned"], perm=[1, 0]))
        nodes.append(helper.make_node("MatMul", ["a", "turned" if axis == 1 else b], ["y"]))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "blocks", [value("a", kind, [3, depth])], [value("y", kind, [3, columns])], tensors)
    opset = 25 if integers in (TensorProto.INT2, TensorProto.UINT2) else 21
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10).SerializeToString()


@pytest.mark.parametrize(("form", "type_", "integers"),
                         [("gemm", "float32", "uint4"), ("transpose", "float16", "int4"), ("rows", "float32", "int4"),
                          ("cast", "float16", "uint4"), *(("matmul", "float32", integers) for integers in INTEGERS)])
@pytest.mark.parametrize("has_zeros", [False, True])
def test_weights_dequantised_in_blocks_stay_packed(form, type_, integers, has_zeros):
    """As ModelOpt and ONNX Runtime write them."""
    columns, depth, block = 512, 512 if form == "rows" else 528, 32
    blocks = -(-depth // block)
    element, least, count = INTEGERS[integers]
    numbers = random.integers(least, least + count, (depth, columns))
    zeros = random.integers(least, least + count, (blocks, columns)) if has_zeros else None
    scales = (random.uniform(0.5, 1, (blocks, columns)) / count / 8).astype("float32" if form == "cast" else type_)
    centred = numbers - (zeros.repeat(block, 0)[:depth] if has_zeros else 0)
    weights = centred * scales.repeat(block, 0)[:depth].astype(numpy.float64)
    a = floats(3, depth).astype(type_)
    engine = build(block_model(type_, element, numbers, zeros, scales, block, form), [{"a": a.shape}])
    assert len(bytes(engine.serialize())) < columns * depth * 2
    numpy.testing.assert_allclose(trt.infer(engine, {"a": a})["y"], a.astype(numpy.float64) @ weights,
                                  atol=1e-4 if type_ == "float32" else 2e-2, rtol=1e-4 if type_ == "float32" else 1e-2)


def test_blocks_of_onnx_runtimes_quantiser_stay_packed():
    pytest.importorskip("onnx_ir", reason="ONNX Runtime's quantiser of a few bits needs onnx_ir")
    from onnxruntime.quantization import matmul_nbits_quantizer as quantiser
    weights = floats(256, 384)
    model = onnx.load_from_string(model_of(helper.make_node("MatMul", ["a", "w"], ["y"]),
                                           [("a", TensorProto.FLOAT, ["m", 256])],
                                           [("y", TensorProto.FLOAT, ["m", 384])], {"w": weights}))
    model.opset_import[0].version = 21
    model.ir_version = 10
    for is_symmetric in (True, False):
        quantised = quantiser.MatMulNBitsQuantizer(model, block_size=64, is_symmetric=is_symmetric,
                                                   quant_format=quantization.QuantFormat.QDQ)
        quantised.process()
        data = quantised.model.model.SerializeToString()
        assert b"DequantizeLinear" in data
        a = floats(5, 256)
        engine = build(data, [{"a": a.shape}])
        assert len(bytes(engine.serialize())) < weights.size * 2
        plainly = onnxruntime.SessionOptions()  # else it rounds activations to bytes
        plainly.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        wanted = onnxruntime.InferenceSession(data, plainly).run(None, {"a": a})[0]
        numpy.testing.assert_allclose(trt.infer(engine, {"a": a})["y"], wanted, atol=1e-4, rtol=1e-4)
