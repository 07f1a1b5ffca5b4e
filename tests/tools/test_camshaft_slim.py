"""camshaft-slim: the model it writes, what it prints, exit codes."""

import json
import pathlib
import subprocess

import onnx
import pytest
from onnx import TensorProto, helper

SLIM = pathlib.Path(__file__).parents[2] / "build/bin/camshaft-slim"


def run(*args):
    return subprocess.run([SLIM, *args], capture_output=True, text=True, timeout=60)


@pytest.fixture
def model(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Dropout", ["a"], ["b"]),
         helper.make_node("Relu", ["b"], ["y"], "rectify")],
        "small", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])])
    path = tmp_path / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_writes_the_slim_model_and_a_table(model, tmp_path):
    done = run(model, tmp_path / "slim.onnx")
    assert done.returncode == 0, done.stderr
    slim = onnx.load(tmp_path / "slim.onnx")
    onnx.checker.check_model(slim)
    assert [node.name for node in slim.graph.node] == ["rectify"]
    assert ["all", "nodes", "3", "1"] in [line.split() for line in done.stdout.splitlines()]


def test_json(model, tmp_path):
    done = run(model, tmp_path / "slim.onnx", "--json")
    report = json.loads(done.stdout)
    assert report["operators"] == {"Dropout": {"before": 1, "after": 0},
                                   "Identity": {"before": 1, "after": 0},
                                   "Relu": {"before": 1, "after": 1}}
    assert report["bytes"]["after"] == (tmp_path / "slim.onnx").stat().st_size


def test_problems_are_said_and_nothing_is_written(model, tmp_path):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(model.read_bytes()[:-5])
    done = run(broken, tmp_path / "slim.onnx")
    assert done.returncode == 1
    assert done.stderr.startswith("camshaft-slim: ")
    assert not (tmp_path / "slim.onnx").exists()
    assert run(model, tmp_path / "nowhere/slim.onnx").returncode == 1
    assert run(tmp_path / "nothing.onnx", tmp_path / "slim.onnx").returncode != 0
    assert run(model).returncode != 0
