"""Operators beside ONNX Runtime's own kernels on random data of odd sizes, and random draws."""

import numpy
import onnxruntime
import pytest
from building import build
from onnx import TensorProto, helper, numpy_helper

import camshaft as trt

random = numpy.random.default_rng(7)
ML = "ai.onnx.ml"


def floats(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


def boxes(count):
    corners = numpy.sort(random.uniform(-5, 40, (count, 2, 2)), axis=1)
    return corners.reshape(count, 4).astype(numpy.float32)


def model_of(nodes, inputs, constants, opset):
    """The nodes' last output as a model; rows of the inputs are known at run time only."""
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype),
                                       [f"{name}_rows", *value.shape[1:]] if value.ndim else [])
         for name, value in inputs.items()],
        [helper.make_empty_tensor_value_info(nodes[-1].output[0])],
        [numpy_helper.from_array(numpy.asarray(value), name) for name, value in constants.items()])
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(ML, 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()


def run(model, inputs):
    engine = build(model, [{name: value.shape for name, value in inputs.items()}])
    return next(iter(trt.infer(engine.create_execution_context(), inputs).values()))


def compare(model, inputs, wanted):
    result = run(model, inputs)
    assert result.dtype == wanted.dtype and result.shape == wanted.shape
    numpy.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4)


def check(nodes, inputs, opset=17, **constants):
    nodes = nodes if isinstance(nodes, list) else [nodes]
    model = model_of(nodes, inputs, constants, opset)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    compare(model, inputs, session.run(None, inputs)[0])


def parts(values):
    return numpy.stack([values.real, values.imag], -1).astype(numpy.float32)


@pytest.mark.parametrize("length", (1, 7, 16, 37, 100, 211))
def test_dft(length):  # ONNX Runtime's rounds too much to compare with
    real, complex_ = floats(2, length, 1), floats(2, length, 2)
    numbers = complex_[..., 0] + 1j * complex_[..., 1]

    def transform(x, wanted, opset=17, inputs=("x",), constants={}, **attributes):
        node = helper.make_node("DFT", inputs, ["y"], **attributes)
        compare(model_of([node], {"x": x}, constants, opset), {"x": x}, wanted)

    transform(real, parts(numpy.fft.fft(real[..., 0])), axis=1)
    transform(real, parts(numpy.fft.rfft(real[..., 0])), axis=1, onesided=1)
    transform(complex_, parts(numpy.fft.ifft(numbers)), axis=1, inverse=1)
    transform(complex_, parts(numpy.fft.fft(numbers, 13)), inputs=["x", "n"], constants={"n": 13}, axis=1)
    transform(complex_, parts(numpy.fft.fft(numbers, axis=0)), 20, ["x", "", "a"], {"a": 0})
    transform(complex_, numpy.fft.irfft(numbers, 19).astype(numpy.float32)[..., None], 20, ["x", "n"], {"n": 19},
              inverse=1, onesided=1)


def test_stft():
    window = numpy.hanning(25).astype(numpy.float32)
    check(helper.make_node("STFT", ["x", "s", "w"], ["y"]), {"x": floats(2, 131, 1)}, s=numpy.int64(7), w=window)
    check(helper.make_node("STFT", ["x", "s", "", "n"], ["y"], onesided=0), {"x": floats(2, 131, 1)},
          s=numpy.int64(7), n=numpy.int64(30))


def test_mel_weight_matrix():
    check(helper.make_node("MelWeightMatrix", [*"abcdx"], ["y"]), {"x": numpy.array(7600, numpy.float32)},
          a=numpy.int64(40), b=numpy.int64(512), c=numpy.int64(16000), d=numpy.float32(20))


@pytest.mark.parametrize("mode", ("avg", "max"))
@pytest.mark.parametrize("rule", ("half_pixel", "output_half_pixel"))
@pytest.mark.parametrize("ratio", (0, 2, 3))
def test_roi_align(mode, rule, ratio):
    node = helper.make_node("RoiAlign", [*"xrb"], ["y"], mode=mode, coordinate_transformation_mode=rule,
                            sampling_ratio=ratio, output_height=5, output_width=3, spatial_scale=0.5)
    check(node, {"x": floats(3, 5, 13, 17), "r": boxes(11), "b": random.integers(0, 3, 11)}, opset=16)


def test_max_roi_pool():
    rois = numpy.concatenate([random.integers(0, 3, (11, 1)).astype(numpy.float32), boxes(11)], 1)
    check(helper.make_node("MaxRoiPool", [*"xr"], ["y"], pooled_shape=[3, 4], spatial_scale=0.7),
          {"x": floats(3, 5, 13, 17), "r": rois})


@pytest.mark.parametrize("groups, offset_groups, masked", ((1, 1, False), (2, 1, True), (1, 3, True), (2, 2, False)))
def test_deform_conv(groups, offset_groups, masked):
    inputs = {"x": floats(2, 6, 9, 11), "o": floats(2, offset_groups * 12, 5, 11)}
    if masked:
        inputs["m"] = floats(2, offset_groups * 6, 5, 11)
    node = helper.make_node("DeformConv", [*"xwob", "m" if masked else ""], ["y"], group=groups,
                            offset_group=offset_groups, strides=[2, 1], dilations=[1, 2], pads=[1, 0, 1, 2],
                            kernel_shape=[3, 2])
    check(node, inputs, opset=19, w=floats(8, 6 // groups, 3, 2), b=floats(8))


def test_col2im():
    check(helper.make_node("Col2Im", [*"xib"], ["y"], strides=[2, 1], dilations=[1, 2], pads=[1, 0, 0, 1]),
          {"x": floats(2, 18, 25)}, opset=18, i=numpy.array([10, 6]), b=numpy.array([3, 2]))


def test_max_unpool():
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    check([helper.make_node("MaxPool", ["x"], ["p", "i"], **window),
           helper.make_node("MaxUnpool", ["p", "i"], ["y"], **window)], {"x": floats(2, 3, 8, 6)}, opset=11)


def test_det():
    check(helper.make_node("Det", ["x"], ["y"]), {"x": floats(2, 3, 5, 5)}, opset=11)


@pytest.mark.parametrize("equation, shapes", (
    ("ii->i", [(5, 5)]), ("bii->b", [(3, 4, 4)]), ("iij->ij", [(3, 3, 4)]), ("i,i", [(6,), (6,)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("bqhs,bkhs->bhqk", [(2, 3, 4, 5), (2, 6, 4, 5)]),
    ("bij,bkj->bik", [(2, 3, 4), (2, 5, 4)]), ("ij,j->i", [(3, 4), (4,)]), ("abc,cd->abd", [(2, 3, 4), (4, 5)]),
    ("ab,cd->acbd", [(2, 3), (4, 5)]), ("abc,ad->cd", [(2, 3, 4), (2, 5)]), ("abk,bk->", [(2, 3, 4), (3, 4)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (6, 4, 5)]), ("bki,bkj->bij", [(2, 5, 3), (2, 5, 4)]),
    ("bn,anm->abm", [(2, 3), (4, 3, 5)]), ("bhqk,bkhs->bqhs", [(2, 4, 3, 6), (2, 6, 4, 5)]),
    ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 5)])))
def test_einsum(equation, shapes):
    names = [f"x{i}" for i in range(len(shapes))]
    inputs = {name: floats(*shape) for name, shape in zip(names, shapes)}
    model = model_of([helper.make_node("Einsum", names, ["y"], equation=equation)], inputs, {}, 13)
    compare(model, inputs, numpy.asarray(numpy.einsum(equation, *inputs.values())))


@pytest.mark.parametrize("dtype", ("int8", "int64", "uint8", "uint64"))
def test_shrink_of_integers(dtype):
    numbers = numpy.arange(0 if dtype.startswith("u") else -9, 9).astype(dtype).reshape(-1, 3)
    check(helper.make_node("Shrink", ["x"], ["y"], lambd=1.5, bias=0.25), {"x": numbers})


@pytest.mark.parametrize("operator, attributes", (
    ("Binarizer", {"threshold": 0.3}), ("Scaler", {"offset": [0.1, 0.2, 0.3], "scale": [2.0, 3.0, 4.0]}),
    ("Normalizer", {"norm": "MAX"}), ("Normalizer", {"norm": "L1"}), ("Normalizer", {"norm": "L2"}),
    ("LinearRegressor", {"coefficients": [1.0, 2.0, 3.0, -1.0, 0.5, 0.25], "intercepts": [0.5, -0.5], "targets": 2}),
    ("TreeEnsembleRegressor", {
        "n_targets": 2, "nodes_treeids": [0, 0, 0, 1, 1, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 0, 1, 2, 3, 4], "nodes_featureids": [0, 0, 0, 1, 0, 2, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
        "nodes_values": [0.1, 0.0, 0.0, -0.2, 0.0, 0.3, 0.0, 0.0], "nodes_truenodeids": [1, 0, 0, 1, 0, 3, 0, 0],
        "nodes_falsenodeids": [2, 0, 0, 2, 0, 4, 0, 0], "target_treeids": [0, 0, 1, 1, 1, 1],
        "target_nodeids": [1, 2, 1, 3, 4, 4], "target_ids": [0, 1, 0, 1, 0, 1],
        "target_weights": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})))
def test_classical(operator, attributes):
    check(helper.make_node(operator, ["x"], ["y"], domain=ML, **attributes), {"x": floats(9, 3)})


def test_labels_and_missing_values():
    check(helper.make_node("LabelEncoder", ["x"], ["y"], domain=ML, keys_int64s=[3, 5, 9],
                           values_floats=[0.3, 0.5, 0.9], default_float=-2.0), {"x": numpy.array([[3, 9], [4, 5]])})
    check(helper.make_node("Imputer", ["x"], ["y"], domain=ML, imputed_value_floats=[5.0, 6.0],
                           replaced_value_float=float("nan")),
          {"x": numpy.array([[1, numpy.nan], [numpy.nan, 2]], numpy.float32)})
    check(helper.make_node("ArrayFeatureExtractor", ["x", "i"], ["y"], domain=ML), {"x": floats(4, 3)},
          i=numpy.array([2, 0]))


def draw(operator, inputs, **attributes):
    node = helper.make_node(operator, list(inputs), ["y"], name="draws", **attributes)
    return run(model_of([node], inputs, {}, 15), inputs)


def test_draws_have_their_moments_and_repeat():
    like = {"x": numpy.zeros((100, 100), numpy.float32)}
    normal = draw("RandomNormalLike", like, mean=2.0, scale=3.0)
    assert abs(normal.mean() - 2) < 0.15 and abs(normal.std() - 3) < 0.15
    assert (normal == draw("RandomNormalLike", like, mean=2.0, scale=3.0)).all()
    assert (normal != draw("RandomNormalLike", like, mean=2.0, scale=3.0, seed=1.0)).mean() > 0.9
    uniform = draw("RandomUniformLike", like, low=-1.0, high=3.0)
    assert -1 <= uniform.min() and uniform.max() < 3 and abs(uniform.mean() - 1) < 0.1


def test_bernoulli_and_multinomial():
    chances = numpy.full((100, 100), 0.25, numpy.float32)
    drawn = draw("Bernoulli", {"x": chances})
    assert set(numpy.unique(drawn)) == {0, 1} and abs(drawn.mean() - 0.25) < 0.03
    weights = numpy.array([[0.2, 0.5, 0.3], [0.0, 0.0, 1.0]], numpy.float32)
    with numpy.errstate(divide="ignore"):
        picked = draw("Multinomial", {"x": numpy.log(weights)}, sample_size=5000, dtype=TensorProto.INT64)
    assert picked.dtype == numpy.int64 and (picked[1] == 2).all()
    shares = numpy.bincount(picked[0], minlength=3) / 5000
    numpy.testing.assert_allclose(shares, weights[0], atol=0.03)


def test_dropout_in_training():
    inputs = {"x": numpy.ones((100, 100), numpy.float32), "r": numpy.array(0.25, numpy.float32), "t": numpy.array(True)}
    kept = draw("Dropout", inputs)
    assert set(numpy.unique(kept)) == {numpy.float32(0), numpy.float32(1 / 0.75)}
    assert abs((kept == 0).mean() - 0.25) < 0.03
    assert (draw("Dropout", inputs | {"t": numpy.array(False)}) == 1).all()
