"""trtexec as scripts use it: flags, output shape, files written, exit codes."""

import ctypes
import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from trtexec_program import BUILD, EMULATED, QUICK, TRTEXEC, run, run_anywhere


def test_build_prints_the_summary(model):
    done = run(f"--onnx={model}", "--shapes=x:2x3", *QUICK, "--avgRuns=3", "--percentile=50,99")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    stamp = r"\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[[IWEV]\] "
    assert all(re.match(stamp, line) for line in lines)
    assert "&&&& RUNNING TensorRT.trtexec" in lines[0] and "&&&& PASSED TensorRT.trtexec" in lines[-1]
    for text in ("=== Model Options ===", "Format: ONNX", "=== Build Options ===", "Precision: FP32",
                 "=== System Options ===", "=== Inference Options ===", "Iterations: 3", "=== Reporting Options ===",
                 "=== Device Information ===", "Selected Device: CPU", "Finished parsing network model. Parse time:", "Engine built in", "=== Trace details ===",
                 "Average on 3 runs - GPU latency:", "=== Performance summary ===", "Throughput:",
                 "Latency: min =", "Enqueue Time: min =", "H2D Latency: min =", "GPU Compute Time: min =",
                 "D2H Latency: min =", "percentile(50%) =", "percentile(99%) =", "Total Host Walltime:",
                 "Total GPU Compute Time:"):
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


def test_a_loaded_engine_can_be_saved(engine, tmp_path):
    before = engine.read_bytes()
    copy = tmp_path / "copy.engine"
    for target in (copy, engine):
        done = run(f"--loadEngine={engine}", f"--saveEngine={target}", *QUICK)
        assert done.returncode == 0, done.stderr
        assert target.read_bytes() == before
    assert run(f"--loadEngine={copy}", *QUICK).returncode == 0


@pytest.mark.parametrize("flag", ["saveEngine", "exportTimes", "exportProfile", "exportLayerInfo", "exportOutput"])
def test_a_file_that_cannot_be_written_is_as_it_was(model, tmp_path, flag):
    """The disk is full, as far as write() says: files may have 100 bytes."""
    path = tmp_path / "old"
    path.write_text("old")
    command = [TRTEXEC, "--cpu", f"--onnx={model}", f"--{flag}={path}", *QUICK]
    done = subprocess.run(["bash", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "-", *command],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 1 and f"could not write '{path}': File too large" in done.stderr
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_a_timing_cache_that_cannot_be_written_does_not_lose_the_engine(model, tmp_path):
    engine, folder = tmp_path / "an.engine", tmp_path / "missing"
    done = run(f"--onnx={model}", f"--saveEngine={engine}", f"--timingCacheFile={folder / 'cache'}", *QUICK)
    assert done.returncode == 0 and engine.stat().st_size > 0
    assert "[W]" in done.stderr and "No such file or directory" in done.stderr
    done = run(f"--onnx={model}", f"--saveEngine={engine}", f"--timingCacheFile={model}", *QUICK)
    assert done.returncode == 1 and "no timing cache" in done.stderr, "a model is not written over"


def test_builds_that_share_a_timing_cache_add_to_it(model, tmp_path):
    shared, alone = tmp_path / "shared", [tmp_path / name for name in ("a", "b", "c", "d")]

    def command(cache, rows):
        return [TRTEXEC, "--cpu", f"--onnx={model}", f"--timingCacheFile={cache}", f"--shapes=x:{rows}x3",
                "--skipInference"]

    for rows, cache in enumerate(alone):
        assert subprocess.run(command(cache, 64 << rows), capture_output=True).returncode == 0
    builds = [subprocess.Popen(command(shared, 64 << rows), stdout=subprocess.DEVNULL) for rows in range(len(alone))]
    assert all(build.wait() == 0 for build in builds)

    def entries(path):
        config = camshaft_config()
        cache = config.create_timing_cache(path.read_bytes())
        for other in alone:
            before = len(cache.serialize())
            cache.combine(config.create_timing_cache(other.read_bytes()), False)
            assert len(cache.serialize()) == before, other
        return cache

    entries(shared)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "c", "d", "shared"]


def camshaft_config():
    trt = pytest.importorskip("camshaft")
    return trt.Builder(trt.Logger()).create_builder_config()


def test_pipes_are_read(model, engine, tmp_path):
    for flag, path in (("onnx", model), ("loadEngine", engine)):
        pipe = tmp_path / flag
        os.mkfifo(pipe)
        writer = subprocess.Popen(["cp", path, pipe])
        done = run(f"--{flag}={pipe}", "--shapes=x:2x3", *QUICK)
        assert done.returncode == 0, done.stderr
        assert writer.wait(10) == 0
        with open(path, "rb") as file:
            done = subprocess.run([TRTEXEC, "--cpu", f"--{flag}=/dev/stdin", "--shapes=x:2x3", *QUICK],
                                  input=file.read(), capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr


def test_graphs_are_written_and_passes_left_out(model, tmp_path):
    def graphs(folder, *flags):
        result = run(f"--onnx={model}", "--skipInference", f"--dumpGraphs={folder}", *flags)
        assert result.returncode == 0, result.stdout
        return {path.name.split("-", 1)[1]: path.read_text() for path in sorted(folder.iterdir())}

    whole = graphs(tmp_path / "new" / "whole")
    assert "Pointwise(" in whole["network.txt"]
    assert "MatMul(%x, %w) epilogue" in whole["fuse_epilogues.txt"]
    assert "fuse_epilogues.txt" not in graphs(tmp_path / "part", "--disablePass=fuse_epilogues")

    result = run(f"--onnx={model}", "--skipInference", "--disablePass=fuse_epilogue")
    assert result.returncode == 1
    assert "there is no pass 'fuse_epilogue'; the passes are" in result.stdout + result.stderr
    blocked = run(f"--onnx={model}", "--skipInference", f"--dumpGraphs={model}/graphs")
    assert blocked.returncode == 1
    assert "cannot make the folder" in blocked.stdout + blocked.stderr


def test_precision_flags(model, tmp_path):
    (tmp_path / "x.bin").write_bytes(np.array([[1.0001, 0, 0]], np.float32).tobytes())
    shapes = ["--shapes=x:1x3", f"--loadInputs=x:{tmp_path / 'x.bin'}", "--dumpOutput", *QUICK]
    plain = run(f"--onnx={model}", "--fp16", "--bf16", *shapes)
    assert plain.returncode == 0, plain.stderr
    rounds = any(words in plain.stdout for words in ("products round their operands to", "16 bits are bf16 on this CPU"))
    assert rounds or "computes no faster in 16 bits" in plain.stdout
    assert rounds or "1.0001" in plain.stdout
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
                                   ["--streams=2", "--threads"],
                                   ["--allocationStrategy=runtime", "--exposeDMA", "--idleTime=1",
                                    "--includeDataTransfers"]])
def test_engines_for_a_gpu(model, tmp_path, flags):
    np.array([[1, 2, 3], [-1, -2, -3]], np.float32).tofile(tmp_path / "x.bin")
    times, out, profile = (tmp_path / name for name in ("times.json", "out.json", "profile.json"))
    done = run_anywhere(f"--onnx={model}", "--shapes=x:2x3", f"--loadInputs=x:{tmp_path / 'x.bin'}",
                        "--builderOptimizationLevel=0", f"--exportTimes={times}",
                        f"--exportOutput={out}", f"--exportProfile={profile}", *flags, *QUICK,
                        CAMSHAFT_CUDA_LIBRARY=str(EMULATED))
    assert done.returncode == 0, done.stderr
    assert "Selected Device: emulated GPU" in done.stdout
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


def test_flags_and_values_may_be_two_words(model):
    done = run("--onnx", model, "--minShapes", "x:1x3", "--optShapes", "x:2x3", "--maxShapes", "x:4x3",
               "--shapes", "x:4x3", "--dumpLayerInfo", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "allows 1 to 4" in run("--onnx", model, "--maxShapes", "x:4x3", "--minShapes", "x:1x3",
                                  "--shapes", "x:5x3", *QUICK).stderr


def test_a_run_without_end_reports_when_it_is_interrupted(engine):
    program = subprocess.Popen([TRTEXEC, f"--loadEngine={engine}", "--duration=-1", "--warmUp=0"],
                               stdout=subprocess.PIPE, text=True)
    for line in program.stdout:
        if "Warmup completed" in line:
            break
    time.sleep(0.3)
    program.send_signal(signal.SIGINT)
    said = program.communicate(timeout=60)[0]
    assert program.returncode == 0 and "=== Performance summary ===" in said and "&&&& PASSED" in said


def test_idle_time_lies_between_runs(engine, tmp_path):
    times = tmp_path / "times.json"
    done = run(f"--loadEngine={engine}", "--idleTime=20", f"--exportTimes={times}", *QUICK)
    assert done.returncode == 0, done.stderr
    starts = [one["startEnqMs"] for one in json.loads(times.read_text())]
    assert all(later - earlier >= 20 for earlier, later in zip(starts, starts[1:]))


def skip_where_refused(done, *words):
    """The library does not do everything yet; its sentence says so."""
    if done.returncode == 1 and any(word in done.stderr for word in words):
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr


def test_debug_tensors_are_written(model, places, tmp_path):
    done = run(f"--onnx={model}", "--shapes=x:2x3", f"--loadInputs=x:{places['inputs']}", "--markDebug=xw",
               f"--saveDebugTensors=xw:{tmp_path / 'own'}", "--saveAllDebugTensors=summary,numpy,string,raw",
               *QUICK, cwd=tmp_path)
    skip_where_refused(done, "debug tensors are not available")
    values = [[14, -14], [-14, 14]]
    for file in ("own", "xw.raw"):
        assert np.fromfile(tmp_path / file, np.float32).reshape(2, 2).tolist() == values
    assert np.load(tmp_path / "xw.npy").tolist() == values
    assert [float(line) for line in (tmp_path / "xw.str").read_text().split()] == [14, -14, -14, 14]
    (summary,) = json.loads((tmp_path / "tensor_summary.json").read_text())
    assert (summary["name"], summary["min"], summary["max"]) == ("xw", -14, 14)


def test_engines_are_refitted(model, tmp_path):
    stripped = tmp_path / "stripped.engine"
    done = run(f"--onnx={model}", "--shapes=x:2x3", "--stripWeights", f"--saveEngine={stripped}", *QUICK)
    assert done.returncode == 0 and "Engine refitted from" in done.stdout and "Throughput" in done.stdout, done.stderr
    done = run(f"--loadEngine={stripped}", *QUICK)
    assert done.returncode == 0 and "is stripped of its weights" in done.stdout + done.stderr, done.stderr
    assert "Throughput" not in done.stdout
    done = run(f"--loadEngine={stripped}", f"--refitFromOnnx={model}", "--timeRefit", "--dumpRefit", *QUICK)
    assert done.returncode == 0 and "Engine refitted from" in done.stdout, done.stderr
