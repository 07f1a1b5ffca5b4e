"""camshaft.quantize and its command: the model they write, in ONNX Runtime and here, and what they refuse."""

import json
import os
import pathlib
import subprocess
import sys

import exact_onnxruntime
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
import onnxruntime
from PIL import Image
import pytest

import camshaft
from camshaft._slim import _engine

random = numpy.random.default_rng(5)


def normal(*shape, deviation=0.3):
    return (random.standard_normal(shape) * deviation).astype(numpy.float32)


def model_of(nodes, constants, inputs, outputs, opset=17):
    graph = helper.make_graph(
        nodes, "small",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    helper.set_model_props(model, {"author": "somebody"})
    return model


def pictures_model(opset=17, height=12, width=10):
    """Convolutions with a batch norm, a depthwise one, and a Gemm."""
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["c1"], "first", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1"], "norm"),
        helper.make_node("Relu", ["n1"], ["r1"], "relu"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], "depthwise", group=8, pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("GlobalAveragePool", ["r2"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], "dense", transB=1)]
    constants = {"w1": normal(8, 3, 3, 3), "scale": normal(8) + 1, "shift": normal(8), "mean": normal(8),
                 "variance": normal(8) ** 2 + 0.5, "w2": normal(8, 1, 3, 3), "b2": normal(8), "w3": normal(5, 8),
                 "b3": normal(5)}
    return model_of(nodes, constants, {"x": ["n", 3, height, width]}, {"y": ["n", 5]}, opset)


def transformer_model():
    """A norm in one node and a norm in many, and products behind them."""
    nodes = [
        helper.make_node("LayerNormalization", ["x", "g1", "s1"], ["n1"], "norm"),
        helper.make_node("MatMul", ["n1", "w1"], ["m1"], "up"), helper.make_node("Add", ["m1", "b1"], ["a1"], "bias"),
        helper.make_node("Relu", ["a1"], ["r1"], "relu"), helper.make_node("MatMul", ["r1", "w2"], ["m2"], "down"),
        helper.make_node("Add", ["x", "m2"], ["y"], "residual")]
    gain = numpy.ones(48, numpy.float32)
    gain[7] = 30
    constants = {"g1": gain, "s1": normal(48), "w1": normal(48, 70), "b1": normal(70), "w2": normal(70, 48)}
    return model_of(nodes, constants, {"x": ["batch", "length", 48]},
                    {"y": ["batch", "length", 48]})


def relative(actual, expected):
    return float(numpy.linalg.norm(actual - expected) / numpy.linalg.norm(expected))


def run_onnx_runtime(model, feeds):
    model = model.SerializeToString() if hasattr(model, "SerializeToString") else model
    options = exact_onnxruntime.session_options()
    if TensorProto.FLOAT8E4M3FN in types_in(model):
        # Its optimisations for the CPU take FP8 for integers.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def types_in(model):
    return {tensor.data_type for tensor in onnx.load_from_string(model).graph.initializer}


def check(model, data, feeds, limit, **options):
    """Quantises; the checker takes the result, it is near the f32 one, and we give what ONNX Runtime gives."""
    made = camshaft.quantize(model, data, **options)
    loaded = onnx.load_from_string(made)
    onnx.checker.check_model(loaded, full_check=True)
    theirs = run_onnx_runtime(made, feeds)
    assert relative(theirs, run_onnx_runtime(model, feeds)) < limit
    ours = camshaft.infer(_engine(made, {name: value.shape for name, value in feeds.items()}), feeds)
    assert relative(ours["y"], theirs) < 0.02
    return loaded


PICTURES = [{"x": normal(2, 3, 12, 10, deviation=1)} for _ in range(8)]
TEXTS = [{"x": normal(1, length, 48, deviation=1)} for length in (5, 9, 16, 3)]


@pytest.mark.parametrize("activations", ["int8", "uint8"])
@pytest.mark.parametrize("range", ["minmax", "percentile", "entropy", "mse"])
def test_int8(range, activations):
    made = check(pictures_model(), PICTURES[:6], PICTURES[7], 0.03, range=range, activations=activations)
    kinds = [node.op_type for node in made.graph.node]
    assert kinds.count("QuantizeLinear") == 3 and kinds.count("DequantizeLinear") == 6
    assert "BatchNormalization" not in kinds
    names = [node.name for node in made.graph.node if not node.op_type.endswith("Linear")]
    assert names == ["first", "relu", "depthwise", "relu2", "pool", "flat", "dense"]
    assert {prop.key: prop.value for prop in made.metadata_props} == {"author": "somebody"}
    types = {tensor.name: tensor.data_type for tensor in made.graph.initializer}
    wanted = TensorProto.INT8 if activations == "int8" else TensorProto.UINT8
    assert types["x_zero_point"] == wanted and types["w2_equalized_quantized"] == TensorProto.INT8
    assert "w2" not in types and "w2_equalized" not in types and len(made.opset_import) == 1


@pytest.mark.parametrize("format,limit", [("int8", 0.03), ("fp8", 0.08), ("int4", 0.2)])
def test_transformer_at_several_lengths(format, limit):
    check(transformer_model(), TEXTS, TEXTS[2], limit, format=format)


def test_older_opsets_become_new_enough():
    made = check(pictures_model(opset=11), PICTURES, PICTURES[0], 0.03)
    assert made.opset_import[0].version == 13
    made = check(pictures_model(), PICTURES, PICTURES[0], 0.08, format="fp8")
    assert made.opset_import[0].version == 19 and made.ir_version >= 9


def test_int4_needs_no_data_and_gains_by_it():
    model, feeds = transformer_model(), TEXTS[2]
    errors = {}
    for rounding, data in [("nearest", None), ("nearest", TEXTS), ("gptq", TEXTS)]:
        made = camshaft.quantize(model, data, format="int4", rounding=rounding, block_size=16)
        errors[rounding, data is None] = relative(run_onnx_runtime(made, feeds), run_onnx_runtime(model, feeds))
    assert errors["nearest", True] == errors["nearest", False]
    assert errors["gptq", False] < errors["nearest", False]


def test_matmulnbits():
    model = transformer_model()
    made = camshaft.quantize(model, TEXTS, format="int4", int4_nodes="matmulnbits", block_size=32)
    loaded = onnx.load_from_string(made)
    assert [node.op_type for node in loaded.graph.node].count("MatMulNBits") == 2
    assert [(each.domain, each.version) for each in loaded.opset_import] == [("", 17), ("com.microsoft", 1)]
    blocks = camshaft.quantize(model, TEXTS, format="int4", block_size=32)
    expected, actual = run_onnx_runtime(blocks, TEXTS[1]), run_onnx_runtime(made, TEXTS[1])
    assert relative(actual, expected) < 0.02  # it may multiply in 8 bits
    ours = camshaft.infer(_engine(made, {"x": TEXTS[1]["x"].shape}), TEXTS[1])["y"]
    assert relative(ours, actual) < 1e-4


def test_report(tmp_path):
    phases = []
    report = camshaft.quantize(pictures_model(), PICTURES, tmp_path / "made.onnx", exclude=["dense"],
                               progress=lambda phase, done, total: phases.append((phase, done, total)))
    assert [layer["name"] for layer in report["layers"]] == ["first", "depthwise"]
    for layer in report["layers"]:
        assert layer["snr_db"] > 25 and 0 <= layer["clipped"] < 0.05
        assert layer["range"][0] <= 0 < layer["range"][1] and layer["scale"] > 0
    assert report["skipped"] == [{"name": "dense", "op": "Gemm", "reason": "it is excluded"}]
    assert report["batch_norms_folded"] == 1 and report["samples"] == 8
    assert report["bytes"]["after"] == (tmp_path / "made.onnx").stat().st_size
    assert phases[0] == ("ranges", 0, 8) and phases[-1] == ("errors", 8, 8)


def test_progress_stops_it():
    with pytest.raises(camshaft.Error, match="stopped"):
        camshaft.quantize(pictures_model(), PICTURES, progress=lambda *_: False)
    with pytest.raises(ZeroDivisionError):
        camshaft.quantize(pictures_model(), PICTURES, progress=lambda *_: 1 // 0)


def test_external_data_is_taken_in(tmp_path):
    model = transformer_model()
    expected = run_onnx_runtime(model, TEXTS[0])
    onnx.save(model, tmp_path / "big.onnx", save_as_external_data=True, size_threshold=0)
    made = camshaft.quantize(tmp_path / "big.onnx", TEXTS)
    assert relative(run_onnx_runtime(made, TEXTS[0]), expected) < 0.03


@pytest.mark.parametrize("data,message", [
    ([], "there is no calibration data"),
    ([{"y": PICTURES[0]["x"]}], "has an array for 'y', and the model's inputs are 'x'"),
    ([{}], "has no array for input 'x'"),
    ([{"x": PICTURES[0]["x"][0]}], r"wants shape \?x3x12x10, and sample 0 gives 3x12x10"),
    ([PICTURES[0]["x"][:, :2]], r"wants shape \?x3x12x10, and sample 0 gives 2x2x12x10"),
])
def test_wrong_samples_are_named(data, message):
    with pytest.raises(ValueError, match=message):
        camshaft.quantize(pictures_model(), data)


@pytest.mark.parametrize("options,message", [
    ({"format": "int3"}, "option format is one of int8, fp8, int4, not 'int3'"),
    ({"range": "wide"}, "option range is one of minmax, percentile, entropy, mse, not 'wide'"),
    ({"percentile": 1}, "a number from 50 to 100, not '1'"),
    ({"exclude": ["nobody"]}, "there is no node 'nobody' to exclude"),
    ({"exclude_ops": ["Conv", "Gemm"]}, "the model has no ConvTranspose, MatMul"),
    ({"ops": ["Relu"]}, "Conv, ConvTranspose, Gemm and MatMul, not 'Relu'"),
])
def test_wrong_options_are_named(options, message):
    with pytest.raises(camshaft.Error, match=message):
        camshaft.quantize(pictures_model(), PICTURES, **options)


def test_models_that_cannot_be_quantised():
    unknown = model_of([helper.make_node("Strange", ["x"], ["y"], "odd", domain="nowhere")], {}, {"x": [1]},
                       {"y": [1]})
    with pytest.raises(camshaft.Error, match="odd"):
        camshaft.quantize(unknown, [numpy.zeros(1, numpy.float32)])
    with pytest.raises(camshaft.Error, match="opset 9"):
        camshaft.quantize(pictures_model(opset=9), PICTURES)
    with pytest.raises(camshaft.Error):
        camshaft.quantize(b"no model", PICTURES)


def command(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(camshaft.__file__).parents[1])}
    return subprocess.run([sys.executable, "-m", "camshaft.quantize", *map(str, arguments)], capture_output=True,
                          text=True, timeout=120, env=environment)


@pytest.fixture
def folder(tmp_path):
    onnx.save(pictures_model(height=8, width=6), tmp_path / "small.onnx")
    for kind in ("pictures", "arrays", "empty"):
        (tmp_path / kind).mkdir()
    for i in range(4):
        pixels = random.integers(0, 256, (20, 30, 3)).astype(numpy.uint8)
        Image.fromarray(pixels).save(tmp_path / f"pictures/{i}.png")
        numpy.save(tmp_path / f"arrays/{i}.npy", normal(1, 3, 8, 6))
        numpy.savez(tmp_path / f"arrays/{i}.npz", x=normal(2, 3, 8, 6))
    return tmp_path


@pytest.mark.parametrize("data,samples", [("pictures", 4), ("arrays", 8), ("arrays/1.npz", 1)])
def test_command(folder, data, samples):
    done = command(folder / "small.onnx", folder / data, folder / "made.onnx", "--json", "--mean", "0.5,0.5,0.5")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["samples"] == samples
    onnx.checker.check_model(onnx.load(folder / "made.onnx"))
    done = command(folder / "small.onnx", folder / data, folder / "made.onnx", "--exclude", "dense")
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:3]] == [["first", "Conv"], ["depthwise", "Conv"]]


def test_command_refuses_in_one_sentence(folder):
    def refusal(*arguments):
        done = command(*arguments, folder / "made.onnx")
        assert done.returncode == 1 and not (folder / "made.onnx").exists()
        assert len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr

    model = folder / "small.onnx"
    assert "holds neither pictures" in refusal(model, folder / "empty")
    assert "there is no calibration data at" in refusal(model, folder / "nowhere")
    assert "nothing.onnx" in refusal(folder / "nothing.onnx", folder / "arrays")
    assert "int8 needs calibration data" in refusal(model, "-")
    (folder / "arrays/0.npy").write_bytes(b"broken")
    assert "0.npy' cannot be read" in refusal(model, folder / "arrays")
    (folder / "pictures/0.png").write_bytes(b"broken")
    assert "0.png' cannot be read as a picture" in refusal(model, folder / "pictures")
    onnx.save(transformer_model(), model)
    assert "no batch of pictures" in refusal(model, folder / "pictures")
    onnx.save(pictures_model(height="h", width="w"), model)
    assert "has no fixed height and width" in refusal(model, folder / "pictures")
