"""`camshaft compare`: what it measures, what it refuses, and that a peer's failure is one row."""

import json
import math
import pathlib
import sys

from command import as_json, camshaft_command, on_terminal, refusal
import numpy
import onnx
from onnx import TensorProto, helper
import pytest
from small_models import perceptron

from camshaft.compare import PEERS, Job, chosen, feeds_for, rounds
from camshaft.compare.page import page
from camshaft.compare.report import document, summarise

QUICK = ("--rounds", 1, "--seconds", 0.01, "--threads", 1)
NOTHING_MISSING = {"cpu": {"cores": 2}, "cuda": [{"name": "GPU 0", "problem": ""}],
                   "cpu_units": [{"name": "f32 products on matrix units", "problem": ""},
                                 {"name": "bf16 products", "problem": ""},
                                 {"name": "f16 products", "problem": ""}]}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "perceptron.onnx"
    path.write_bytes(perceptron()[0])
    return path


def test_rows_file_and_page(model, tmp_path):
    saved, html = tmp_path / "out.json", tmp_path / "out.html"
    result = as_json("compare", model, "--batch", 3, *QUICK, "--rounds", 2, "--peers", "camshaft-f32",
                     "onnxruntime", "--save", saved, "--page", html)
    assert result == json.loads(saved.read_text())
    assert result["shapes"] == {"x": [3, 4]} and result["threads"] == 1 and result["reference"] == "onnxruntime"
    rows = {own["peer"]: own for own in result["peers"]}
    assert set(rows) == {"camshaft-f32", "onnxruntime"}
    for own in rows.values():
        assert len(own["times"]) >= 10  # two processes, five runs each
        assert 0 < own["median"] <= own["p95"] and own["build"] > 0 and own["load"] > 0
        assert own["memory"] > 10e6 and own["size"] > 0 and own["version"]
    assert rows["onnxruntime"]["error"] == 0 and rows["onnxruntime"]["speed"] == 1
    assert rows["camshaft-f32"]["error"] < 1e-6
    written = html.read_text()
    assert "camshaft-f32" in written and "prefers-color-scheme: dark" in written
    assert not any(word in written for word in ("http:", "https:", "src=", "@import", "<script"))


# ONNX Runtime has no such operator, and Camshaft does; then Camshaft's f32 is the reference.
def test_a_peer_that_fails_is_a_row(tmp_path):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("InstanceNormalization_TRT", ["x", "scale", "bias"], ["y"], domain="trt.plugins",
                          epsilon=1e-5, alpha=0.0, relu=0)], "g",
        [value("x", TensorProto.FLOAT, [1, 2, 8, 8]), value("scale", TensorProto.FLOAT, [2]),
         value("bias", TensorProto.FLOAT, [2])], [value("y", TensorProto.FLOAT, [1, 2, 8, 8])])
    path = tmp_path / "plugin.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17),
                                                      helper.make_opsetid("trt.plugins", 1)], ir_version=10), path)
    result = as_json("compare", path, *QUICK, "--peers", "onnxruntime", "camshaft-f32")
    first, last = result["peers"]
    assert first["peer"] == result["reference"] == "camshaft-f32" and first["speed"] == 1
    assert last["peer"] == "onnxruntime" and "InstanceNormalization_TRT" in last["failure"]
    assert "failed: " in page(result)


def test_no_peer_left_is_status_1(tmp_path, model):
    done = camshaft_command("compare", model, *QUICK, "--peers", "openvino-int8")
    assert done.returncode == 1 and "openvino-int8: the model has no 8-bit version (--data FOLDER)" in done.stdout


def test_a_process_that_dies_is_a_failure(monkeypatch, tmp_path):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o755)
    monkeypatch.setattr(rounds.sys, "executable", str(program))
    assert rounds.measure("run", "camshaft", tmp_path)["failure"] == "its run was ended by SIGSEGV"
    program.write_text("#!/bin/sh\necho first >&2; echo 'the reason' >&2; exit 3\n")
    assert rounds.measure("run", "camshaft", tmp_path)["failure"] == "the reason"
    monkeypatch.setattr(rounds, "LIMIT", 0.2)
    program.write_text("#!/bin/sh\nexec sleep 5\n")
    assert "did not end within" in rounds.measure("run", "camshaft", tmp_path)["failure"]


def test_processes_that_stay_run_in_turns(model, tmp_path):
    job = Job(model, 1, 0.01)
    figures = rounds.compare(job, feeds_for(model, {}), ["camshaft-f32", "onnxruntime"], rounds=3, stay=True)
    for own in figures.values():
        assert len(own["times"]) >= 3 * 5 and own["error"] < 1e-6 and own["memory"] > 1 << 20


def test_one_that_dies_while_it_stays_is_a_failure(monkeypatch, model, tmp_path):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\ncase $3 in turns) echo {{}}; read line; kill -SEGV $$;; esac\n"
                       f"exec {sys.executable} \"$@\"\n")
    program.chmod(0o755)
    monkeypatch.setattr(rounds.sys, "executable", str(program))
    figures = rounds.compare(Job(model, 1, 0.01), feeds_for(model, {}), ["camshaft-f32"], rounds=2, stay=True)
    assert figures["camshaft-f32"]["failure"] == "its run was ended by SIGSEGV"


def test_terminals_get_a_table_and_progress(model):
    text = on_terminal("compare", model, *QUICK, "--peers", "camshaft-f32", "camshaft-gpu", "--device", "cpu")
    assert "build camshaft-f32" in text and "━" in text
    assert "median" in text and "1.00x" in text and "Speed and error are against camshaft-f32" in text
    assert "Not measured: camshaft-gpu: --device cpu leaves it out" in text


def test_quantised_with_data(tmp_path, model):
    (tmp_path / "data").mkdir()
    for i in range(4):
        numpy.save(tmp_path / f"data/{i}.npy", numpy.random.default_rng(i).standard_normal((1, 4)).astype("float32"))
    result = as_json("compare", model, "--data", tmp_path / "data", "--batch", 8, *QUICK, "--peers", "camshaft-int8",
                     "camshaft-f32")
    rows = {own["peer"]: own for own in result["peers"]}
    assert 1e-4 < rows["camshaft-int8"]["error"] < 0.2  # 8 bits, and not f32


def test_arrays_of_the_user(tmp_path, model):
    _, expected = perceptron()
    x = numpy.arange(8, dtype=numpy.float64).reshape(2, 4)
    numpy.save(tmp_path / "x.npy", x)
    assert feeds_for(model, arrays={"x": numpy.load(tmp_path / "x.npy")})["x"].dtype == numpy.float32
    result = as_json("compare", model, "--input", f"x={tmp_path / 'x.npy'}", *QUICK, "--peers", "camshaft-f32")
    assert result["shapes"] == {"x": [2, 4]}


def test_refusals(tmp_path, model):
    numpy.save(tmp_path / "x.npy", numpy.zeros((2, 5), numpy.float32))
    (tmp_path / "no.npy").write_text("nothing")
    assert "there is no such model" in refusal("compare", tmp_path / "nowhere.onnx")
    assert "input 'x' is ?x4 in the model, and was given as 2x5" in refusal("compare", model, "--input",
                                                                           f"x={tmp_path / 'x.npy'}")
    assert "'z' is no input of the model, which has x" in refusal("compare", model, "--shapes", "z:1x4")
    assert "cannot be read as a numpy array" in refusal("compare", model, "--input", f"x={tmp_path / 'no.npy'}")
    assert "there is no peer 'tensorflow'" in refusal("compare", model, "--peers", "tensorflow")
    assert "not of the form input=file.npy" in refusal("compare", model, "--input", "x", status=2)
    assert "--rounds and --seconds" in refusal("compare", model, "--rounds", 0)


def test_open_sizes_are_asked_for(tmp_path):
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Identity", ["ids"], ["y"])], "g",
                              [value("ids", TensorProto.INT64, ["batch", "sequence"])],
                              [value("y", TensorProto.INT64, ["batch", "sequence"])])
    path = tmp_path / "open.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    with pytest.raises(ValueError, match=r"dimension 1 \('sequence'\): add --shapes ids:1x<sequence>"):
        feeds_for(path)
    feeds = feeds_for(path, {"ids": (2, 7)})
    assert feeds["ids"].shape == (2, 7) and feeds["ids"].dtype == numpy.int64 and feeds["ids"].max() > 1


def test_errors_are_of_the_worst_output_and_say_when_there_are_none():
    one, zero = numpy.ones((2, 2)), numpy.zeros(3)
    assert rounds.worst_error({"a": one, "b": zero}, {"a": one, "b": zero}) == 0
    assert rounds.worst_error({"a": one * 1.5, "b": zero}, {"a": one, "b": zero}) == pytest.approx(0.5)
    assert rounds.worst_error({"0": one * 2, "1": zero}, {"a": one, "b": zero}) == pytest.approx(1)  # by order
    assert rounds.worst_error({"b": zero, "a": one}, {"a": one, "b": zero}) == 0  # by name
    assert rounds.worst_error({"a": one}, {"a": one, "b": zero}) is None
    assert rounds.worst_error({"a": zero}, {"a": one}) is None
    assert rounds.worst_error({"a": one * math.nan}, {"a": one}) is None
    masked = numpy.array([-math.inf, 1.0])
    assert rounds.worst_error({"a": masked}, {"a": masked}) == 0


def test_who_takes_part_follows_the_machine():
    job = Job(pathlib.Path("model.onnx"), 2)
    peers, absent = chosen(job, NOTHING_MISSING)
    assert {"camshaft", "camshaft-f32", "camshaft-bf16", "camshaft-gpu-fp16"} <= set(peers)
    assert "openvino-bf16" not in {*peers, *absent}  # unusual
    assert "it would be camshaft-bf16 again" in absent["camshaft-fp16"].reason
    assert absent["pytorch"].remedy == "--torch FILE.pt2"
    assert absent["camshaft-int8"].remedy == "--data FOLDER"
    poor = {"cpu": {"cores": 2}, "cuda": [{"name": "CUDA driver", "problem": "no driver"}],
            "cpu_units": [{"name": unit["name"], "problem": "no unit"} for unit in NOTHING_MISSING["cpu_units"]]}
    peers, absent = chosen(job, poor)
    assert "camshaft-f32" in peers and absent["camshaft-gpu"].reason == "no driver"
    assert absent["camshaft"].reason == absent["camshaft-bf16"].reason == "no unit: it would compute in f32"
    job.device = "gpu"
    assert all(PEERS[name].on_gpu for name in chosen(job, NOTHING_MISSING)[0])


def test_a_package_that_is_not_there_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "openvino", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "openvino" else True)
    _, absent = chosen(Job(pathlib.Path("model.onnx"), 2), NOTHING_MISSING)
    assert absent["openvino"].remedy == "pip install openvino"


def test_names_are_escaped_on_the_page():
    figures = summarise({"camshaft-f32": {"failure": "<i>no</i>"}})
    facts = {"model": "<b>m</b>", "shapes": {"<x>": []}, "threads": 1, "rounds": 1, "seconds": 1, "date": "today",
             "machine": {"cpu": {"model": "a & b", "features": "neon"}}}
    text = page(document(facts, figures, {}))
    assert "<b>" not in text and "<i>" not in text and "<x>" not in text and "a &amp; b" in text
