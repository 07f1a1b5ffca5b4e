"""What trtexec's tests run: a small model and its engine."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from trtexec_program import QUICK, run


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def engine(model):
    path = model.with_suffix(".engine")
    shapes = ["--minShapes=x:1x3", "--optShapes=x:2x3", "--maxShapes=x:8x3"]
    done = run(f"--onnx={model}", f"--saveEngine={path}", "--profilingVerbosity=detailed", *shapes, *QUICK)
    assert done.returncode == 0, done.stdout + done.stderr
    return path


@pytest.fixture(scope="session")
def places(model, engine, tmp_path_factory):
    """What the data files call {model}, {engine}, {inputs}, {outputs} and {scales}."""
    inputs, outputs = model.with_name("x.bin"), model.with_name("y.bin")
    np.array([[1, 2, 3], [-1, -2, -3]], np.float32).tofile(inputs)
    np.array([[14, 0], [0, 14]], np.float32).tofile(outputs)
    scales = model.with_name("small.cache")
    scales.write_text("TRT-101600-EntropyCalibration2\nx: 3cc18306\nxw: 3de1c387\ny: 3de1c387\n")  # 3 and 14
    return {"model": model, "engine": engine, "inputs": inputs, "outputs": outputs, "scales": scales}
