"""camshaft.config: files, mistakes, schemas, and that every setting reaches the build."""

import importlib.util
import json
import pathlib
import threading

import numpy
import onnx
import pytest
from small_models import perceptron, reshaper

import camshaft as trt
from camshaft.config import (BuildConfig, Calibration, ConfigError, InferenceConfig, Profile, ProviderConfig,
                             ShapeRange, TorchConfig, TritonConfig)

ROOT = pathlib.Path(__file__).resolve().parents[2]
X = numpy.linspace(-1, 1, 8, dtype=numpy.float32).reshape(2, 4)


@pytest.fixture
def model():
    return perceptron()[0]


# Files.

BUILD = """
precision: [fp16, int8]
shapes:
  x: {min: 1x4, opt: [2, 4], max: 8x4}
  y: 3x224
workspace: 1.5G
calibration:
  data: pictures/
  mean: 0.5
dynamic_ranges: {x: 2, y: [0, 1]}
"""


def test_settings_go_to_yaml_and_json_and_back(tmp_path):
    config = BuildConfig.from_text(BUILD)
    assert config.shapes["x"].min == (1, 4) and config.shapes["y"].max == (3, 224)
    assert config.workspace == 3 << 29 and config.calibration.mean == (0.5,)
    assert config.dynamic_ranges == {"x": (-2, 2), "y": (0, 1)}
    for name in ("build.yaml", "build.json"):
        config.to_file(tmp_path / name)
        assert BuildConfig.from_file(tmp_path / name) == config
    assert json.loads((tmp_path / "build.json").read_text())["precision"] == ["fp16", "int8"]
    assert "optimization_level" not in config.to_text()  # as it is by default
    assert "optimization_level: 3" in config.to_text(defaults=True)
    assert BuildConfig.from_text("") == BuildConfig() == BuildConfig.from_text(BuildConfig().to_text())


@pytest.mark.parametrize("text,sentence", [
    ("devcie: cpu", "b.yaml:1: devcie is no setting; did you mean 'device'?"),
    ("threads: 1\ndevice: tpu", "b.yaml:2: device should be 'auto', 'cpu' or 'gpu', not 'tpu'"),
    ("profiles:\n- shapes:\n    x: {mni: 3}", "b.yaml:3: profiles[0].shapes.x.mni is no setting; did you mean 'min'?"),
    ("calibration: {dta: x}", "b.yaml:1: calibration.dta is no setting; did you mean 'data'?"),
    ("shapes: {x: 4x3..2x4}", "b.yaml:1: shapes.x should have min <= opt <= max in every dimension: 4x3..2x4..2x4"),
    ("shapes: {x: 4..2x4}", "b.yaml:1: shapes.x has min, opt and max of different ranks: 4..2x4..2x4"),
    ("shapes: {x: 4xn}", "b.yaml:1: shapes.x.min should be a shape such as 1x3x224x224, not '4xn'"),
    ("workspace: 5X", "b.yaml:1: workspace should be a number of bytes, such as 4096, 512M or 1.5G, not '5X'"),
    ("optimization_level: 9", "b.yaml:1: optimization_level should be less than or equal to 5, not 9"),
    ("{\"precision\": \"fp61\"}", "b.yaml:1: precision[0] should be 'fp32', 'tf32', 'fp16', 'bf16'"),
    ("shapes: {x: 2}\nprofiles: [{}]", "b.yaml:1: shapes and profiles are both given"),
    ("- 3", "b.yaml holds no settings"),
    ("a: [", "b.yaml:1 is neither YAML nor JSON"),
])
def test_mistakes_name_the_key_and_its_place(text, sentence):
    with pytest.raises(ConfigError) as error:
        BuildConfig.from_text(text, "b.yaml")
    assert sentence in str(error.value)


def test_mistakes_in_python_name_the_key():
    with pytest.raises(ConfigError, match="^devce is no setting; did you mean 'device'\\?$"):
        BuildConfig(devce="cpu")
    with pytest.raises(ConfigError, match="^calibration.dta is no setting"):
        BuildConfig(calibration={"dta": 1})
    with pytest.raises(ConfigError, match="^device should be"):
        BuildConfig().device = "tpu"
    with pytest.raises(ConfigError, match="a dict or the path"):
        BuildConfig.of(3)
    with pytest.raises(OSError):
        BuildConfig.of("nowhere.yaml")


@pytest.mark.parametrize("written,low,best,high", [
    ((1, 4), (1, 4), (1, 4), (1, 4)), ("1x4", (1, 4), (1, 4), (1, 4)), ("1x4..8x4", (1, 4), (8, 4), (8, 4)),
    ("1x4..2x4..8x4", (1, 4), (2, 4), (8, 4)), ({"opt": "2x4"}, (2, 4), (2, 4), (2, 4)), (3, (3,), (3,), (3,)),
    ({"min": [1], "max": 4}, (1,), (4,), (4,)), ("scalar", (), (), ())])
def test_shapes_can_be_written_in_several_ways(written, low, best, high):
    assert BuildConfig(shapes={"x": written}).shapes["x"] == ShapeRange(min=low, opt=best, max=high)


def test_settings_go_before_those_of_files(tmp_path):
    (tmp_path / "b.yaml").write_text("device: cpu\nshapes: {x: 1x4}\ncalibration: {data: a, colors: bgr}\n")
    config = BuildConfig.of(tmp_path / "b.yaml", shapes={"y": 3}, calibration={"data": "b"}, threads="2")
    assert config.device == "cpu" and list(config.shapes) == ["x", "y"] and config.threads == 2
    assert (config.calibration.data, config.calibration.colors) == ("b", "bgr")
    assert BuildConfig.of({"device": "cpu"}).device == "cpu"


def test_every_setting_is_described():
    for model in (BuildConfig, InferenceConfig, Calibration, Profile, ProviderConfig, TorchConfig, TritonConfig):
        for name, field in model.model_fields.items():
            assert field.description, name
            assert not field.is_required(), name


def as_integrations_read_it(config):
    """The canonical form of integrations/settings: ranges always with their three keys."""
    given = config.model_dump(mode="json", exclude_unset=True)
    if "shapes" in given:
        given["shapes"] = {name: {key: list(getattr(one, key)) for key in ("min", "opt", "max")}
                           for name, one in config.shapes.items()}
    return given


@pytest.mark.parametrize("case", json.loads((ROOT / "tests/settings/cases.json").read_text()))
def test_python_and_integrations_read_alike(case):
    if "error" not in case:
        assert as_integrations_read_it(ProviderConfig.of(case["given"])) == case["read"]
        return
    with pytest.raises(ConfigError) as error:
        ProviderConfig.of(case["given"])
    assert str(error.value) == case["error"]


def test_what_others_decide_is_refused():
    for model, who in ((ProviderConfig, "ONNX Runtime"), (TorchConfig, "PyTorch"), (TritonConfig, "Triton")):
        assert model().tensor_types == {}
        with pytest.raises(ConfigError, match=f"^tensor_types cannot be set here: {who} says"):
            model(tensor_types={"x": "fp16"})
        for key in model.REFUSED:
            assert key in BuildConfig.model_fields


def test_schemas_and_tables_are_those_of_the_documents():
    spec = importlib.util.spec_from_file_location("write_schemas", ROOT / "scripts/write_schemas.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for path, text in script.expected():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run scripts/write_schemas.py"


# Builds.

def test_build_and_load_in_two_calls(model, tmp_path):
    path = trt.build(model, tmp_path / "m.engine", device="cpu", shapes={"x": "1x4..8x4"}, optimization_level=0)
    assert path == tmp_path / "m.engine"
    session = trt.load(path, threads=1)
    compute = perceptron()[1]
    for outputs in (session(X), session(x=X), session({"x": X})):
        numpy.testing.assert_allclose(outputs["y"], compute(X), rtol=1e-5)
    assert session.inputs["x"].max == (8, 4) and session.outputs["y"].shape == (-1, 3)
    assert repr(session) == "<camshaft.Session (x: float32[-1, 4]) -> (y: float32[-1, 3])>"
    assert trt.load(trt.build(onnx.load_from_string(model), config={"shapes": {"x": (2, 4)}}))(X)["y"].shape == (2, 3)


def test_sessions_say_what_is_wrong(model):
    session = trt.load(trt.build(model, shapes={"x": (2, 4)}, optimization_level=0))
    with pytest.raises(ValueError, match="no array was given for input 'x'"):
        session()
    with pytest.raises(ValueError, match="2 arrays were given, and the engine has 1 inputs"):
        session(X, X)
    with pytest.raises(ValueError, match="'z' is no input"):
        session(X, z=X)
    with pytest.raises(ValueError, match="profile is 4, and the engine has 1"):
        trt.load(session.engine, profile=4)


def test_threads_share_a_session(model):
    session = trt.load(trt.build(model, shapes={"x": "1x4..8x4"}, optimization_level=0))
    expected, wrong = perceptron()[1](X), []

    def calls():
        for _ in range(50):
            if not numpy.allclose(session(X)["y"], expected, rtol=1e-5):
                wrong.append(1)

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(session._contexts) <= 4


def test_profiles_and_values_of_shape_inputs():
    profiles = [{"shapes": {"x": "1x3..4x3"}, "values": {"shape": "1x2..8x8"}},
                {"shapes": {"x": "8x3"}, "values": {"shape": "4x4"}}]
    engine = trt.build(reshaper(), profiles=profiles, device="cpu", optimization_level=0)
    session = trt.load(engine, profile=1)
    outputs = session(numpy.ones((8, 3), numpy.float32), numpy.array([4, 4]))
    assert session.inputs["x"].opt == (8, 3) and outputs["z"].shape == (4, 4)


def info_of(plan):
    engine = trt.load(plan).engine
    return json.loads(engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON))


def test_settings_reach_the_config(builder, network, config, logger, model, tmp_path):
    assert trt.OnnxParser(network, logger).parse(model)
    flag, pool = trt.BuilderFlag, trt.MemoryPoolType
    BuildConfig(device="cpu", precision="fp32,fp16,bf16", precision_constraints="obey", refit="all",
                strip_weights=True, optimization_level=4, timing_iterations=3, max_tactics=7, max_aux_streams=2,
                workspace="64M", tactic_shared_memory="48K", tactic_dram="1G", verbosity="none",
                hardware_compatibility="ampere_plus", disabled_passes="fuse_epilogues", threads=1,
                graph_folder=str(tmp_path), layer_precisions={"dense": "fp16", "rect*": "fp32"},
                layer_output_types={"*": "fp32"}, tensor_types={"x": "fp16"}, version_compatible=True,
                timing_cache=str(tmp_path / "timings"), timing_cache_required=True,
                tactic_sources={"cudnn": False}).apply(builder, network, config)
    assert config.default_device_type == trt.DeviceType.CPU and builder.max_threads == 1
    on = [flag.FP16, flag.BF16, flag.OBEY_PRECISION_CONSTRAINTS, flag.REFIT, flag.STRIP_PLAN, flag.VERSION_COMPATIBLE,
          flag.ERROR_ON_TIMING_CACHE_MISS]
    assert all(map(config.get_flag, on)) and not config.get_flag(flag.TF32)
    assert (config.builder_optimization_level, config.avg_timing_iterations, config.max_num_tactics,
            config.max_aux_streams) == (4, 3, 7, 2)
    assert [config.get_memory_pool_limit(each) for each in (pool.WORKSPACE, pool.TACTIC_SHARED_MEMORY,
                                                            pool.TACTIC_DRAM)] == [64 << 20, 48 << 10, 1 << 30]
    assert config.profiling_verbosity == trt.ProfilingVerbosity.NONE
    assert config.hardware_compatibility_level == trt.HardwareCompatibilityLevel.AMPERE_PLUS
    assert not config.is_pass_enabled("fuse_epilogues") and config.graph_folder == str(tmp_path)
    assert config.get_timing_cache() is not None
    assert not config.get_tactic_sources() >> int(trt.TacticSource.CUDNN) & 1
    layers = [network.get_layer(i) for i in range(network.num_layers)]
    precisions = {layer.name: layer.precision for layer in layers if layer.precision_is_set}
    assert precisions["dense"] == trt.float16 and precisions["rectify"] == trt.float32
    assert network.get_input(0).dtype == trt.float16


def test_defaults_change_nothing_but_the_verbosity(builder, network, logger, model):
    assert trt.OnnxParser(network, logger).parse(model)
    plain, made = builder.create_builder_config(), builder.create_builder_config()
    BuildConfig().apply(builder, network, made)
    for name in ("flags", "default_device_type", "builder_optimization_level", "avg_timing_iterations",
                 "max_num_tactics", "max_aux_streams", "compute_capability", "hardware_compatibility_level"):
        assert getattr(plain, name) == getattr(made, name), name
    assert made.profiling_verbosity == trt.ProfilingVerbosity.DETAILED


@pytest.mark.parametrize("settings,sentence", [
    ({"shapes": {"xx": (2, 4)}}, "shapes names 'xx', which is no input of the model"),
    ({"shapes": {"x": (2, 5)}}, "shapes.x is 2x5, and the model's input has shape ?x4"),
    ({"tensor_types": {"h": "fp16"}}, "tensor_types names 'h', which is no input or output; there is x, y"),
    ({"debug_tensors": ["hh"]}, "debug_tensors names 'hh'"),
    ({"dynamic_ranges": {"zz": 1}}, "dynamic_ranges names 'zz'"),
    ({"calibration": {"cache": "a"}}, "calibration is for precision int8"),
    ({"precision": "int8", "calibration": {"cache": "a"}}, "calibration.cache is 'a', which is not there"),
    ({"timing_cache_required": True}, "timing_cache_required wants a timing_cache"),
    ({"disabled_passes": ["fold_constant"]}, "there is no pass 'fold_constant'"),
])
def test_what_does_not_fit_the_model_is_told(model, settings, sentence):
    with pytest.raises((ConfigError, trt.Error)) as error:
        trt.build(model, logger=trt.Logger(trt.Logger.INTERNAL_ERROR), **settings)
    assert sentence in str(error.value)


def test_timing_caches_are_kept(model, tmp_path):
    trt.build(model, shapes={"x": (2, 4)}, timing_cache=str(tmp_path / "timings"))
    assert (tmp_path / "timings").stat().st_size > 0
    trt.build(model, shapes={"x": (2, 4)}, timing_cache=str(tmp_path / "timings"), timing_cache_required=True)


def test_calibration_from_data_and_from_its_cache(model, tmp_path):
    (tmp_path / "data").mkdir()
    for i in range(4):
        numpy.save(tmp_path / f"data/{i}.npy", X + i)
    settings = {"precision": "int8", "shapes": {"x": (2, 4)}, "device": "cpu", "optimization_level": 0}
    cache = {"cache": str(tmp_path / "cache"), "method": "minmax"}
    engine = trt.build(model, calibration={"data": str(tmp_path / "data"), **cache}, **settings)
    assert (tmp_path / "cache").read_text().startswith("TRT-")
    assert any("8" in layer["Inputs"][0]["Datatype"] for layer in info_of(engine)["Layers"] if layer["Inputs"])
    numpy.testing.assert_allclose(trt.load(engine)(X)["y"], perceptron()[1](X), atol=0.1)
    again = trt.build(model, calibration=cache, **settings)
    numpy.testing.assert_array_equal(trt.load(again)(X)["y"], trt.load(engine)(X)["y"])
    numpy.save(tmp_path / "data/5.npy", X[:1])
    with pytest.raises(ConfigError, match="samples of different shapes"):
        trt.build(model, calibration={"data": str(tmp_path / "data")}, **settings)


def test_weights_come_back_to_stripped_engines(model, tmp_path):
    (tmp_path / "m.onnx").write_bytes(model)
    engine = trt.build(model, shapes={"x": (2, 4)}, strip_weights=True, optimization_level=0)
    with pytest.raises(trt.Error, match="built without its weights"):
        trt.load(engine)
    session = trt.load(engine, weights=str(tmp_path / "m.onnx"))
    numpy.testing.assert_allclose(session(X)["y"], perceptron()[1](X), rtol=1e-5)


def test_progress_is_told_and_stops_builds(model):
    told = []
    trt.build(model, shapes={"x": (2, 4)}, progress=lambda *phase: told.append(phase))
    assert ("Building the engine", 0, 3) in told and ("Building the engine", 3, 3) in told
    with pytest.raises(trt.Error):
        trt.build(model, shapes={"x": (2, 4)}, progress=lambda *_: False,
                  logger=trt.Logger(trt.Logger.INTERNAL_ERROR))
    with pytest.raises(ZeroDivisionError):
        trt.build(model, shapes={"x": (2, 4)}, progress=lambda *_: 1 // 0,
                  logger=trt.Logger(trt.Logger.INTERNAL_ERROR))


def test_models_that_cannot_be_read_say_why(tmp_path):
    quiet = trt.Logger(trt.Logger.INTERNAL_ERROR)
    with pytest.raises(trt.Error, match="nowhere.onnx"):
        trt.build(tmp_path / "nowhere.onnx", logger=quiet)
    with pytest.raises(trt.Error):
        trt.build(b"no model", logger=quiet)


def test_a_gpu_that_is_asked_for_must_be_there(model):
    if trt.load(trt.build(model, shapes={"x": (2, 4)}, optimization_level=0)).engine.device is not None:
        pytest.skip("there is a GPU")
    with pytest.raises(trt.Error, match="no GPU can be used here"):
        trt.build(model, shapes={"x": (2, 4)}, device="gpu", optimization_level=0)


# Runs.

def test_inference_settings():
    config = InferenceConfig(percentiles="50,99.9", shapes={"x": "2x4"}, weight_streaming_budget="30%")
    assert config.percentiles == (50, 99.9) and config.shapes["x"] == (2, 4)
    for settings, sentence in [({"percentiles": 100}, "percentiles should be between 0 and 100"),
                               ({"weight_streaming_budget": "x%"}, "weight_streaming_budget should be all, auto"),
                               ({"iteration": 3}, "iteration is no setting; did you mean 'iterations'?")]:
        with pytest.raises(ConfigError) as error:
            InferenceConfig(**settings)
        assert sentence in str(error.value)
