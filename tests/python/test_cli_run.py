"""camshaft run: inputs from files, outputs, references and times."""

import numpy
import onnx
import pytest
from command import as_json, on_terminal, refusal, succeed
from onnx import TensorProto, helper
from PIL import Image
from small_models import perceptron

import camshaft as trt

X = numpy.linspace(-1, 1, 8, dtype=numpy.float32).reshape(2, 4)
QUICK = ("--duration", "0", "--warm-up", "0", "--iterations", "3")


def averages():
    """The mean of a picture's channels, and of that and a second input."""
    graph = helper.make_graph(
        [helper.make_node("GlobalAveragePool", ["picture"], ["mean"])], "averages",
        [helper.make_tensor_value_info("picture", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["n", 3, 1, 1])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def two_inputs():
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Add", ["a:0", "b"], ["sum"])], "two",
                              [value("a:0", TensorProto.FLOAT, ["n", 2]), value("b", TensorProto.FLOAT, [2])],
                              [value("sum", TensorProto.FLOAT, ["n", 2])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "m.onnx").write_bytes(perceptron()[0])
    trt.build(tmp_path / "m.onnx", tmp_path / "m.engine", shapes={"x": "1x4..2x4..8x4"}, optimization_level=0)
    numpy.save(tmp_path / "x.npy", X)
    numpy.savez(tmp_path / "y.npz", y=perceptron()[1](X))
    return tmp_path


def test_engines_run_on_random_inputs(folder):
    text = succeed("run", "m.engine", *QUICK, cwd=folder)
    assert "inputs: random" in text and "2x3" in text and "p99" in text and "3 runs" in text
    result = as_json("run", "m.engine", *QUICK, "--shapes", "x:5x4", "--percentiles", "10,99.9", cwd=folder)
    assert result["outputs"]["y"]["shape"] == [5, 3]
    assert list(result["timing"]["milliseconds"]) == ["mean", "min", "p10", "p99.9", "max"]
    assert result == {**result, "samples": 1, "inputs": "random"}


def test_inputs_outputs_and_references(folder):
    result = as_json("run", "m.engine", "-i", "x.npy", "-o", "out.npz", "--reference", "y.npz", "--no-timing",
                     cwd=folder)
    assert result["reference"]["y"]["outside"] == 0 and "timing" not in result
    numpy.testing.assert_allclose(numpy.load(folder / "out.npz")["y"], perceptron()[1](X), rtol=1e-5)
    numpy.savez(folder / "wrong.npz", y=perceptron()[1](X) + [[0, 0, 1]])
    text = refusal("run", "m.engine", "-i", "x:x.npy", "--reference", "wrong.npz", "--no-timing", cwd=folder)
    assert text == ""  # the table says it, and the exit status
    assert "beyond tolerance" in succeed("run", "m.engine", "-i", "x.npy", "--reference", "wrong.npz", "--no-timing",
                                         "--atol", "2", cwd=folder)


def test_models_are_built_for_what_runs(folder):
    result = as_json("run", "m.onnx", "-i", "x.npy", *QUICK, "--precision", "fp32", "--device", "cpu",
                     "--reference", "y.npz", cwd=folder)
    assert result["reference"]["y"]["outside"] == 0
    assert as_json("run", "m.onnx", *QUICK, cwd=folder)["outputs"]["y"]["shape"] == [1, 3]  # an open batch is 1
    (folder / "b.yaml").write_text("shapes: {x: 1x4..4x4}")
    result = as_json("run", "m.onnx", "--build-config", "b.yaml", "--shapes", "x:3x4", *QUICK, cwd=folder)
    assert result["outputs"]["y"]["shape"] == [3, 3]


def test_pictures_and_folders_of_them(folder):
    onnx.save(averages(), folder / "mean.onnx")
    (folder / "pictures").mkdir()
    for i in range(3):
        Image.new("RGB", (20, 10), (255, 51 * i, 0)).save(folder / f"pictures/{i}.png")
    result = as_json("run", "mean.onnx", "-i", "pictures", "-o", "means", "--no-timing", cwd=folder)
    assert result["samples"] == 3
    for i in range(3):
        found = numpy.load(folder / f"means/{i}.npz")["mean"].ravel()
        numpy.testing.assert_allclose(found, [1, 0.2 * i, 0], atol=1e-6)
    one = as_json("run", "mean.onnx", "-i", "pictures/1.png", "--mean", "1", "--no-timing", cwd=folder)
    assert one["outputs"]["mean"]["max"] == pytest.approx(0)


def test_several_inputs_by_name(folder):
    onnx.save(two_inputs(), folder / "two.onnx")
    numpy.save(folder / "a.npy", numpy.ones((3, 2), numpy.float32))
    numpy.save(folder / "b.npy", numpy.full(2, 2, numpy.float32))
    result = as_json("run", "two.onnx", "-i", "a:0:a.npy", "-i", "b:b.npy", "--no-timing", cwd=folder)
    assert result["outputs"]["sum"]["min"] == result["outputs"]["sum"]["max"] == 3
    assert "given as NAME:FILE, with the names a:0, b" in refusal("run", "two.onnx", "-i", "a.npy", "-i", "b.npy",
                                                                  cwd=folder)


def test_streams_run_side_by_side(folder):
    timing = as_json("run", "m.engine", *QUICK, "--streams", "3", cwd=folder)["timing"]
    assert timing["streams"] == 3 and timing["runs"] == 9


@pytest.mark.parametrize("arguments,sentence", [
    (["nowhere.engine"], "nowhere.engine: No such file or directory"),
    (["m.engine", "-i", "nowhere.npy"], "there is no input at 'nowhere.npy'"),
    (["m.engine", "--shapes", "x:9x4"], "outside the profile's (1, 4) to (8, 4)"),
    (["m.engine", "--profile", "3"], "profile is 3, and the engine has 1, counted from 0"),
    (["m.engine", "-i", "y.npz"], "has an array for 'y', and the model's inputs are 'x'"),
    (["m.engine", "--reference", "x.npy"], "output 'y' has shape (2, 3), and the reference (2, 4)"),
    (["m.engine", "--iterations", "0"], "--iterations should be greater than or equal to 1"),
])
def test_mistakes_are_one_sentence(folder, arguments, sentence):
    said = refusal("run", *arguments, cwd=folder)
    assert sentence in said and "\n" not in said


def test_open_sizes_are_asked_for(folder):
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "open",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, "h", "w"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, "h", "w"])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), folder / "o.onnx")
    assert "has shape 1x3x?x?: say which to run with, such as --shapes x:1x3x1x1" in refusal("run", "o.onnx", cwd=folder)


def test_stripped_engines_want_their_weights(folder):
    trt.build(folder / "m.onnx", folder / "s.engine", shapes={"x": (2, 4)}, strip_weights=True, optimization_level=0)
    assert "built without its weights" in refusal("run", "s.engine", cwd=folder)
    result = as_json("run", "s.engine", "--weights", "m.onnx", "-i", "x.npy", "--reference", "y.npz", "--no-timing",
                     cwd=folder)
    assert result["reference"]["y"]["outside"] == 0


def test_progress_on_a_terminal(folder):
    text = on_terminal("run", "m.engine", "--duration", "0.3", "--warm-up", "0", cwd=folder)
    assert "running" in text and "p99" in text
