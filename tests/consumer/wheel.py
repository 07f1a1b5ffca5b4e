"""Builds and runs a model with the installed package: wheel.py ENVIRONMENT."""
import pathlib
import subprocess
import sys

import numpy as np
import onnx

import camshaft as trt

environment = pathlib.Path(sys.argv[1])
assert pathlib.Path(trt.__file__).is_relative_to(environment), f"{trt.__file__} is not what was installed"

graph = onnx.parser.parse_graph("net (float[N, 3] x) => (float[N, 3] y) { y = Softmax(x) }")
onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]), "net.onnx")
subprocess.run([environment / "bin/trtexec", "--onnx=net.onnx", "--shapes=x:2x3", "--saveEngine=net.engine", "--cpu"],
               check=True, stdout=subprocess.DEVNULL)
subprocess.run([environment / "bin/camshaft", "build", "net.onnx", "-o", "own.engine", "--shapes", "x:2x3"], check=True,
               stdout=subprocess.DEVNULL)
subprocess.run([environment / "bin/camshaft", "run", "own.engine", "--no-timing"], check=True, stdout=subprocess.DEVNULL)
subprocess.run([environment / "bin/camshaft-slim", "net.onnx", "slim.onnx"], check=True, stdout=subprocess.DEVNULL)

runtime = trt.Runtime(trt.Logger())
engine = runtime.deserialize_cuda_engine(pathlib.Path("net.engine").read_bytes())
x = np.array([[1, 2, 3], [0, 0, 0]], np.float32)
found = trt.infer(engine.create_execution_context(), {"x": x})["y"]
np.testing.assert_allclose(found, np.exp(x) / np.exp(x).sum(1, keepdims=True), rtol=1e-6)
print("the wheel works")
