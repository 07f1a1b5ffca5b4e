"""camshaft.accuracy: bounds that are kept on data held out, metrics, islands in f32, recipes, and the command."""

import json

import numpy
from onnx import TensorProto, helper, numpy_helper
import pytest

import camshaft as trt
from camshaft.accuracy import tune_precision
from camshaft.cli.main import main

random = numpy.random.default_rng(7)


def normal(*shape, deviation=1.0):
    return (random.standard_normal(shape) * deviation).astype(numpy.float32)


def model_of(outliers=False):
    """Three products in a row. With outliers, a few columns between the second and the third are far larger than the
    rest, which decides the outputs: one scale for them all leaves nothing of it."""
    weights = [normal(32, 32, deviation=32 ** -0.5) for _ in range(3)]
    if outliers:
        weights[1][:, :2] *= 3000
        weights[2][:2] /= 30000
    nodes, value = [], "x"
    for i in range(3):
        nodes += [helper.make_node("MatMul", [value, f"w{i}"], [f"m{i}"], f"product{i}"),
                  helper.make_node("Relu", [f"m{i}"], ["y" if i == 2 else f"r{i}"], f"relu{i}")]
        value = f"r{i}"
    graph = helper.make_graph(
        nodes, "products", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 32])],
        [numpy_helper.from_array(weight, f"w{i}") for i, weight in enumerate(weights)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def samples(count=8):
    return [{"x": normal(64 + i % 2, 32)} for i in range(count)]


def run(plan, data):
    engine = trt.Runtime(trt.Logger(trt.Logger.ERROR)).deserialize_cuda_engine(plan)
    context = engine.create_execution_context()
    return [trt.infer(context, sample)["y"] for sample in data]


def error(actual, expected):
    squared = sum(numpy.square(a - e).sum() for a, e in zip(actual, expected))
    return (squared / sum(numpy.square(e).sum() for e in expected)) ** 0.5


def expected(model, data):
    weights = [numpy_helper.to_array(each) for each in model.graph.initializer]

    def evaluate(x):
        for weight in weights:
            x = numpy.maximum(x @ weight, 0)
        return x

    return [evaluate(sample["x"]) for sample in data]


def tuned(model, data, **settings):
    # Level 0 times nothing, so that what is chosen hangs on the errors alone.
    return tune_precision(model, data, device="cpu", precision="int8", optimization_level=0, **settings)


def precisions(result):
    return [layer["precision"] for layer in result.report["layers"]]


def test_a_loose_bound_lowers_all_and_a_tight_one_less():
    model, data = model_of(), samples()
    loose, tight = tuned(model, data, max_error=0.5), tuned(model, data, max_error=0.012)
    assert precisions(loose) == ["int8"] * 3
    assert 0 < precisions(tight).count("int8") < 3
    unseen = samples(16)
    truth = expected(model, unseen)
    assert error(run(tight.engine, unseen), truth) < 0.015  # other data: about the bound
    assert error(run(loose.engine, unseen), truth) > 0.012
    engines = {engine["name"]: engine for engine in tight.report["engines"]}
    assert engines["chosen"]["keeps"] and not engines["all i8"]["keeps"]
    assert engines["chosen"]["held_out"]["errors"]["y"] <= 0.012
    assert "product1" in tight.table


def test_the_report_says_what_a_layer_alone_costs():
    model, data = model_of(), samples()
    report = tuned(model, data, max_error=0.5).report
    assert [layer["name"] for layer in report["layers"]] == ["product0", "product1", "product2"]
    assert all(0.001 < layer["lowered"][0]["error"] < 0.1 for layer in report["layers"])
    assert report["samples"] == {"tuning": 4, "held_out": 4}


def test_numbers_too_large_for_bytes_become_an_island_in_f32():
    model, data = model_of(outliers=True), samples()
    result = tuned(model, data, max_error=0.05)
    assert precisions(result)[:2] == ["int8", "int8"] and precisions(result)[2] == "fp32"
    assert "beyond the bound" in result.report["layers"][2]["reason"]
    unseen = samples()
    assert error(run(result.engine, unseen), expected(model, unseen)) < 0.06


def test_a_bound_by_output_and_names_that_are_none():
    model, data = model_of(), samples(4)
    assert precisions(tuned(model, data, max_error={"y": 0.5})) == ["int8"] * 3
    with pytest.raises(trt.Error, match="'z', which is no output; the outputs are y"):
        tuned(model, data, max_error={"z": 0.5})
    with pytest.raises(trt.Error, match="no bound to keep"):
        tuned(model, data)
    with pytest.raises(trt.Error, match="must be above 0"):
        tuned(model, data, max_error=0)


def test_a_metric_of_the_users_decides():
    model, data = model_of(), samples()
    labels = [y.argmax(-1) for y in expected(model, data)]
    seen = []

    def agreement(outputs, numbers):
        seen.append(tuple(numbers))
        assert all(output["y"].dtype == numpy.float32 for output in outputs)
        right = [output["y"].argmax(-1) == labels[i] for output, i in zip(outputs, numbers)]
        return float(numpy.concatenate(right).mean())

    result = tuned(model, data, metric=agreement, max_drop=0.1)
    assert set(seen) == {(0, 2, 4, 6), (1, 3, 5, 7)}
    assert result.report["metric_fp32"] == {"tuning": 1, "held_out": 1}
    assert result.report["engines"][-1]["held_out"]["metric"] >= 0.9
    # One that lowering always breaks keeps everything in f32.
    exact = expected(model, data)

    def exactness(outputs, numbers):
        return -error([output["y"] for output in outputs], [exact[i] for i in numbers])

    assert precisions(tuned(model, data, metric=exactness, max_drop=1e-4)) == ["fp32"] * 3


def test_what_a_metric_raises_ends_it():
    def broken(outputs):
        raise KeyError("nothing there")

    with pytest.raises(KeyError, match="nothing there"):
        tuned(model_of(), samples(4), metric=broken)
    with pytest.raises(TypeError, match="no number"):
        tuned(model_of(), samples(4), metric=lambda outputs: "good")


def test_progress_is_told_and_stops_it():
    phases = []
    tuned(model_of(), samples(4), max_error=0.5, progress=lambda phase, done, total: phases.append(phase))
    assert {"Tuning precision", "Calibrating", "Timing precisions", "Lowering layers alone",
            "Trying mixes"} <= set(phases)
    with pytest.raises(trt.Error, match="cancelled"):
        tuned(model_of(), samples(4), max_error=0.5,
              progress=lambda phase, done, total: phase != "Lowering layers alone")


def test_a_recipe_builds_the_same_engine_without_data(tmp_path):
    model, data = model_of(), samples()
    result = tuned(model, data, max_error=0.012)
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps(result.recipe))
    plan = trt.build(model, config=recipe, device="cpu", optimization_level=0, shapes={"x": "1x32..64x32..65x32"})
    again = run(plan, data)
    assert error(again, run(result.engine, data)) < 1e-6
    assert error(again, expected(model, data)) > 1e-4  # bytes, and not f32


def test_the_command(tmp_path, capsys):
    from onnx import save

    save(model_of(), tmp_path / "m.onnx")
    (tmp_path / "data").mkdir()
    for i, sample in enumerate(samples()):
        numpy.save(tmp_path / "data" / f"{i}.npy", sample["x"])
    words = ["accuracy", str(tmp_path / "m.onnx"), "--data", str(tmp_path / "data"), "--device", "cpu",
             "--precision", "int8", "--optimization-level", "0", "-o", str(tmp_path / "e"), "--report", str(tmp_path / "r.json")]
    assert main([*words, "--max-error", "0.5"]) == 0
    assert "chosen" in capsys.readouterr().out
    assert (tmp_path / "e").stat().st_size > 0
    assert json.loads((tmp_path / "r.json").read_text())["recipe"]["precision"] == ["tf32", "int8"]
    assert main([*words, "--max-error", "y=0.5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bound"]["max_errors"] == {"y": 0.5}
    assert main([*words, "--max-error", "z=0.5"]) == 1
    assert "no output" in capsys.readouterr().err
