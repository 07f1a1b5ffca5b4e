"""camshaft build: flags from typed settings, the engine, its summary."""

import json
import os
import signal

import numpy
import pytest
from command import as_json, on_terminal, refusal, succeed
from small_models import perceptron

import camshaft as trt
from camshaft.cli import build as build_command, settings
from camshaft.cli.main import make_parser
from camshaft.config import BuildConfig, InferenceConfig

X = numpy.linspace(-1, 1, 8, dtype=numpy.float32).reshape(2, 4)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "m.onnx").write_bytes(perceptron()[0])
    return tmp_path


def test_builds_and_sums_up(folder):
    text = succeed("build", "m.onnx", "--shapes", "x:1x4..2x4..8x4", "--device", "cpu", cwd=folder)
    assert text.startswith("m.engine: ") and "built in" in text
    assert "1x4..2x4..8x4" in text and "where the time goes" in text and "fp32" in text
    outputs = trt.load(folder / "m.engine")(X)
    numpy.testing.assert_allclose(outputs["y"], perceptron()[1](X), rtol=1e-5)


def test_json_has_what_the_summary_has(folder):
    result = as_json("build", "m.onnx", "-o", "other.engine", "--shapes", "x:2x4", "--device=cpu", cwd=folder)
    assert result["engine"] == "other.engine" and result["bytes"] == (folder / "other.engine").stat().st_size
    assert result["layers"] >= 1 and result["device"] == "cpu" and result["phases"]["Building the engine"] > 0
    assert result["tensors"][0]["profiles"] == [{"min": [2, 4], "opt": [2, 4], "max": [2, 4]}]
    assert sum(kernel["share"] for kernel in result["kernels"]) == pytest.approx(1)


def test_flags_go_before_the_file_and_are_saved(folder):
    (folder / "b.yaml").write_text("device: cpu\nshapes: {x: 1x4}\noptimization_level: 1\nverbosity: none\n")
    as_json("build", "m.onnx", "--config", "b.yaml", "--shapes", "x:2x4", "--save-config", "all.yaml",
            "--precision", "fp32", "--strip-weights", cwd=folder)
    saved = BuildConfig.from_file(folder / "all.yaml")
    assert saved == BuildConfig(device="cpu", shapes={"x": (2, 4)}, optimization_level=1, verbosity="none",
                                precision="fp32", strip_weights=True)


@pytest.mark.parametrize("arguments,sentence", [
    (["--shapes", "x:1x5"], "camshaft build: shapes.x is 1x5, and the model's input has shape ?x4"),
    (["--optimization-level", "9"], "camshaft build: --optimization-level should be less than or equal to 5, not '9'"),
    (["--calibration-samples", "0"], "camshaft build: --calibration-samples should be greater than or equal to 1"),
    (["--shapes", "x:nx4"], "camshaft build: --shapes x min should be a shape such as 1x3x224x224"),
    (["--config", "nowhere.yaml"], "camshaft build: nowhere.yaml: No such file or directory"),
    (["--device", "gpu", "--shapes", "x:2x4"], "no GPU can be used here"),
    (["--config", "bad.yaml"], "camshaft build: bad.yaml:1: precison is no setting; did you mean 'precision'?"),
])
def test_mistakes_are_one_sentence(folder, arguments, sentence):
    (folder / "bad.yaml").write_text("precison: fp16")
    if "gpu" in arguments and trt.load(trt.build(perceptron()[0], optimization_level=0)).engine.device is not None:
        pytest.skip("there is a GPU")
    assert sentence in refusal("build", "m.onnx", *arguments, cwd=folder)
    assert not (folder / "m.engine").exists()


def test_unreadable_models(folder):
    (folder / "broken.onnx").write_bytes(b"no model")
    assert "nowhere.onnx" in refusal("build", "nowhere.onnx", cwd=folder)
    assert refusal("build", "broken.onnx", cwd=folder).startswith("camshaft build: ")


def test_wrong_flags_name_what_was_meant(folder):
    assert "did you mean '--precision'?" in refusal("build", "m.onnx", "--precison", "fp16", status=2, cwd=folder)
    assert "'x' is not of the form NAME:VALUE" in refusal("build", "m.onnx", "--shapes", "x", status=2, cwd=folder)


def test_every_setting_has_a_flag():
    parsers = make_parser().subcommands()
    for command, model in (("build", BuildConfig), ("run", InferenceConfig)):
        flags = parsers[command]._option_string_actions
        for path, field in settings._fields(model):
            assert settings._flag(path) in flags, path
            assert field.description.split("%")[0][:20] in flags[settings._flag(path)].help


def test_flags_of_every_kind(folder):
    given = make_parser("build").parse_args(
        ["build", "m.onnx", "--profiles", "[{shapes: {x: 1x4}}, {shapes: {x: 8x4}}]", "--precision", "fp16,int8",
         "--dynamic-ranges", "x:-1,2", "--tactic-sources", "cudnn:false", "--workspace", "1G", "--weight-streaming",
         "--no-strip-weights", "--layer-output-types", "a:b:fp16,fp32", "--calibration-mean", "1,2"])
    config = BuildConfig.of(settings.given_settings(given))
    assert [profile.shapes["x"].opt for profile in config.all_profiles] == [(1, 4), (8, 4)]
    assert config.precision == ("fp16", "int8") and config.dynamic_ranges == {"x": (-1, 2)}
    assert config.tactic_sources == {"cudnn": False} and config.workspace == 1 << 30
    assert config.weight_streaming and config.layer_output_types == {"a:b": ("fp16", "fp32")}
    assert config.calibration.mean == (1, 2)


def test_progress_is_drawn_on_a_terminal(folder):
    text = on_terminal("build", "m.onnx", "--shapes", "x:2x4", cwd=folder)
    assert "Building the engine" in text and "3/3" in text
    assert "\033[K" in text and "m.engine: " in text


def test_stripped_engines_are_written_without_being_loaded(folder):
    result = json.loads(succeed("build", "m.onnx", "--shapes", "x:2x4", "--strip-weights", "--json", cwd=folder))
    assert "layers" not in result and (folder / "m.engine").exists()


def test_interrupted_builds_end_and_leave_nothing(folder, monkeypatch):
    original = build_command.Watch.__call__

    def pressing(self, *phase):
        os.kill(os.getpid(), signal.SIGINT)
        return original(self, *phase)

    monkeypatch.setattr(build_command.Watch, "__call__", pressing)
    before = signal.getsignal(signal.SIGINT)
    assert refusal("build", "m.onnx", "--shapes", "x:2x4", status=130, cwd=folder) == "camshaft: interrupted"
    assert signal.getsignal(signal.SIGINT) == before and not (folder / "m.engine").exists()
