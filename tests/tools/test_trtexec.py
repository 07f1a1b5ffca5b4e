"""trtexec as scripts use it: flags, output shape, files written, exit codes."""

import ctypes
import json
import os
import pathlib
import re
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

BUILD = pathlib.Path(__file__).parents[2] / "build"
TRTEXEC = BUILD / "bin/trtexec"
EMULATED = BUILD / "lib/libcamshaft_cuda_emulated.so"  # a GPU where there is none
QUICK = ["--iterations=3", "--duration=0", "--warmUp=0"]


def run(*args):
    """On the CPU, also where there is a GPU."""
    return run_anywhere("--cpu", *args)


def run_anywhere(*args, **environment):
    return subprocess.run([TRTEXEC, *args], capture_output=True, text=True, timeout=120,
                          env=os.environ | environment)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """y = relu(x @ w) with a run-time batch."""
    weights = helper.make_tensor("w", TensorProto.FLOAT, [3, 2], [1, -1, 2, -2, 3, -3])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["xw"], "product"), helper.make_node("Relu", ["xw"], ["y"], "relu")],
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 2])],
        [weights],
    )
    path = tmp_path_factory.mktemp("model") / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


@pytest.fixture(scope="module")
def engine(model):
    path = model.with_suffix(".engine")
    shapes = ["--minShapes=x:1x3", "--optShapes=x:2x3", "--maxShapes=x:8x3"]
    done = run(f"--onnx={model}", f"--saveEngine={path}", *shapes, *QUICK)
    assert done.returncode == 0, done.stdout + done.stderr
    return path


def test_build_prints_the_summary(model):
    done = run(f"--onnx={model}", "--shapes=x:2x3", *QUICK, "--avgRuns=3", "--percentile=50,99")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    stamp = r"\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[[IWEV]\] "
    assert all(re.match(stamp, line) for line in lines)
    assert "&&&& RUNNING TensorRT.trtexec" in lines[0] and "&&&& PASSED TensorRT.trtexec" in lines[-1]
    for text in ("Finished parsing network model. Parse time:", "Engine built in", "=== Trace details ===",
                 "Average on 3 runs - GPU latency:", "=== Performance summary ===", "Throughput:",
                 "percentile(50%) =", "percentile(99%) =", "Total Host Walltime:"):
        assert text in done.stdout, text


def test_loaded_engine_computes_what_the_model_says(engine, tmp_path):
    x = np.array([[1, 2, 3], [-1, -2, -3]], np.float32)
    x.tofile(tmp_path / "x.bin")
    out = tmp_path / "out.json"
    done = run(f"--loadEngine={engine}", "--shapes=x:2x3", f"--loadInputs=x:{tmp_path / 'x.bin'}", f"--exportOutput={out}", *QUICK)
    assert done.returncode == 0, done.stderr
    (y,) = json.loads(out.read_text())
    assert y["name"] == "y" and y["dimensions"] == "2x2" and y["values"] == [14, 0, 0, 14]


def test_exports_are_json_of_the_documented_form(engine, tmp_path):
    files = {flag: tmp_path / f"{flag}.json" for flag in ("exportTimes", "exportProfile", "exportLayerInfo")}
    done = run(f"--loadEngine={engine}", *(f"--{flag}={path}" for flag, path in files.items()), "--dumpProfile", "--dumpLayerInfo", *QUICK)
    assert done.returncode == 0, done.stderr
    times = json.loads(files["exportTimes"].read_text())
    assert len(times) == 3 and {"startEnqMs", "computeMs", "latencyMs", "h2dMs"} <= times[0].keys()
    profile = json.loads(files["exportProfile"].read_text())
    assert profile[0]["count"] >= 10 and {"name", "timeMs", "averageMs", "medianMs", "percentage"} <= profile[1].keys()
    layers = json.loads(files["exportLayerInfo"].read_text())
    assert layers["Layers"][0]["OriginNodes"] and layers["Layers"][0]["TacticName"].startswith("cpu/")
    assert "=== Profile (" in done.stdout and "Time(%)" in done.stdout and "Layer Information:" in done.stdout


def test_timing_cache_is_written_and_read(model, tmp_path):
    cache = tmp_path / "timings.bin"
    for _ in range(2):
        done = run(f"--onnx={model}", f"--timingCacheFile={cache}", "--profilingVerbosity=detailed", "--shapes=x:2x3", *QUICK)
        assert done.returncode == 0, done.stderr
        assert cache.stat().st_size > 0
    cache.write_bytes(b"no cache at all")
    done = run(f"--onnx={model}", f"--timingCacheFile={cache}", *QUICK)
    assert done.returncode == 1 and "timing cache" in done.stderr


def test_precision_flags(model, tmp_path):
    (tmp_path / "x.bin").write_bytes(np.array([[1.0001, 0, 0]], np.float32).tobytes())
    shapes = ["--shapes=x:1x3", f"--loadInputs=x:{tmp_path / 'x.bin'}", "--dumpOutput", *QUICK]
    plain = run(f"--onnx={model}", "--fp16", "--bf16", *shapes)
    assert plain.returncode == 0 and "faster in f32 than in 16 bits" in plain.stdout
    assert "1.0001" in plain.stdout
    obeyed = run(f"--onnx={model}", "--fp16", "--precisionConstraints=obey",
                 "--layerPrecisions=product:fp16,*:fp32", "--layerOutputTypes=relu:fp32", *shapes)
    assert obeyed.returncode == 0 and "1.0001" not in obeyed.stdout, obeyed.stderr
    typed = run(f"--onnx={model}", "--stronglyTyped", "--fp16", *shapes)
    assert typed.returncode == 1 and "strongly typed" in typed.stderr


def test_types_of_inputs_and_outputs(model, tmp_path):
    (tmp_path / "x.bin").write_bytes(np.array([[1, 2, 3]], np.float16).tobytes())
    done = run(f"--onnx={model}", "--inputIOFormats=fp16:chw", "--outputIOFormats=int32:chw",
               "--shapes=x:1x3", f"--loadInputs=x:{tmp_path / 'x.bin'}", "--dumpOutput", *QUICK)
    assert done.returncode == 0 and "14" in done.stdout, done.stderr
    done = run(f"--onnx={model}", "--outputIOFormats=int32:chw,fp32:chw", *QUICK)
    assert done.returncode == 1 and "lists 2 tensors" in done.stderr


def test_several_streams(engine):
    done = run(f"--loadEngine={engine}", "--infStreams=2", "--threads", *QUICK)
    assert done.returncode == 0 and "Timing trace has 6 queries" in done.stdout


@pytest.mark.skipif(not EMULATED.exists(), reason="built without CUDA's headers")
@pytest.mark.parametrize("flags", [[], ["--noDataTransfers", "--useCudaGraph", "--useSpinWait"],
                                   ["--streams=2", "--threads"]])
def test_engines_for_a_gpu(model, tmp_path, flags):
    np.array([[1, 2, 3], [-1, -2, -3]], np.float32).tofile(tmp_path / "x.bin")
    times, out, profile = (tmp_path / name for name in ("times.json", "out.json", "profile.json"))
    done = run_anywhere(f"--onnx={model}", "--shapes=x:2x3", f"--loadInputs=x:{tmp_path / 'x.bin'}",
                        "--builderOptimizationLevel=0", f"--exportTimes={times}",
                        f"--exportOutput={out}", f"--exportProfile={profile}", *flags, *QUICK,
                        CAMSHAFT_CUDA_LIBRARY=str(EMULATED))
    assert done.returncode == 0, done.stderr
    assert "Selected device: emulated GPU" in done.stdout
    (y,) = json.loads(out.read_text())
    assert y["values"] == [14, 0, 0, 14]
    runs = json.loads(times.read_text())
    assert len(runs) == (6 if "--streams=2" in flags else 3)
    has_transfers = "--noDataTransfers" not in flags
    for one in runs:
        assert one["computeMs"] > 0 and (one["h2dMs"] > 0) == (one["d2hMs"] > 0) == has_transfers
        assert one["latencyMs"] == pytest.approx(one["h2dMs"] + one["computeMs"] + one["d2hMs"])
    assert json.loads(profile.read_text())[1]["averageMs"] > 0


def has_nvrtc():
    try:
        ctypes.CDLL("libnvrtc.so.13")
        return (BUILD / "lib/libcamshaft_cuda.so").exists()
    except OSError:
        return False


@pytest.mark.skipif(not has_nvrtc(), reason="no CUDA backend or no NVRTC")
@pytest.mark.parametrize("capability", [80, 90, 100])
def test_engines_for_a_gpu_that_is_not_here(model, tmp_path, capability):
    path = tmp_path / "gpu.engine"
    done = run_anywhere(f"--onnx={model}", "--fp16", f"--computeCapability={capability}",
                        "--skipInference", f"--saveEngine={path}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"ELF" in path.read_bytes(), "no device code in the engine"



@pytest.mark.parametrize("args, words", [
    (["--onx=a"], "did you mean --onnx?"),
    (["--onnx=a", "--int8"], "INT8"),
    (["--onnx=a", "--precisionConstraints=maybe"], "precisionConstraints"),
    (["--onnx=a", "--layerPrecisions=product"], "layer:type"),
    (["--onnx=a", "--layerPrecisions=product:half"], "'half'"),
    (["--onnx=a", "--inputIOFormats=fp16:hwc8"], "type:chw"),
    ([], "--onnx=FILE"),
    (["--onnx=a", "--loadEngine=b"], "exclude each other"),
    (["--onnx=/nonexistent.onnx"], "/nonexistent.onnx"),
    (["--loadEngine=/nonexistent.engine"], "/nonexistent.engine"),
    (["--onnx=a", "--minShapes=x"], "--minShapes"),
    (["--onnx=a", "--minShapes=x:1xq"], "'q'"),
    (["--onnx=a", "--builderOptimizationLevel=9"], "builderOptimizationLevel"),
    (["--onnx=a", "--memPoolSize=lake:3"], "memPoolSize"),
    (["--onnx=a", "--percentile=101"], "percentile"),
])
def test_mistakes_are_named_and_exit_with_one(args, words):
    done = run(*args)
    assert done.returncode == 1
    assert words in done.stderr, done.stderr


def test_wrong_shapes_and_inputs_are_named(engine, tmp_path):
    assert "allows 1 to 8" in run(f"--loadEngine={engine}", "--shapes=x:9x3", *QUICK).stderr
    assert "'z'" in run(f"--loadEngine={engine}", "--shapes=z:1x3", *QUICK).stderr
    (tmp_path / "short.bin").write_bytes(b"1234")
    assert "takes 24" in run(f"--loadEngine={engine}", f"--loadInputs=x:{tmp_path / 'short.bin'}", *QUICK).stderr
    done = run(f"--loadEngine={engine}", "--device=3", *QUICK)
    assert done.returncode == 1 and "&&&& FAILED" in done.stdout


def test_help_lists_every_flag():
    done = run("--help")
    assert done.returncode == 0
    for flag in ("onnx saveEngine loadEngine minShapes optShapes maxShapes shapes loadInputs exportOutput iterations "
                 "duration warmUp avgRuns percentile infStreams threads timingCacheFile builderOptimizationLevel "
                 "memPoolSize profilingVerbosity dumpLayerInfo exportLayerInfo dumpProfile exportProfile exportTimes "
                 "device verbose help").split():
        assert f"--{flag}" in done.stdout, flag


def test_numbers_and_files_that_cannot_be_meant(tmp_path):
    engine = tmp_path / "an.engine"
    engine.write_bytes(b"kept")
    for flags, sentence in (
        (["--onnx=x", "--percentile=abc"], "--percentile: 'abc' is not a number"),
        (["--onnx=x", f"--memPoolSize=workspace:{'9' * 309}"], "--memPoolSize"),
        ([f"--loadEngine={engine}", f"--saveEngine={engine}"], "--saveEngine writes what --onnx builds"),
    ):
        done = run_anywhere(*flags)
        assert done.returncode != 0 and sentence in done.stdout + done.stderr
    assert engine.read_bytes() == b"kept"
