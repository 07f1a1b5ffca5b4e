#!/usr/bin/env python3
"""Load on a model under tritonserver, as perf_analyzer makes it: so many requests under way at any time.

    integrations/triton/load.py resnet50.onnx --shape x=3x224x224 [--against] [--concurrency 1 8 64]

Prints requests per second and percentiles of the latency that the client sees over gRPC on loopback. --against runs
the same load on ONNX Runtime in Triton's Python backend, with the same batching; a server that has that backend is
needed (--python-backend says where that is), and onnxruntime beside this script's tritonclient.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import threading
import time

import numpy
import tritonclient.grpc

import server as triton

CONFIG = """backend: "{backend}"
max_batch_size: {batch}
instance_group [{{ kind: KIND_CPU count: {instances} }}]
dynamic_batching {{ }}
"""
# The same in ONNX Runtime: requests that the queue joined run as one.
ONNX_RUNTIME = '''import pathlib
import sys
sys.path += {packages}  # where numpy and onnxruntime are for the client
import numpy
import onnxruntime
import triton_python_backend_utils as utils


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        return config

    def initialize(self, arguments):
        file = pathlib.Path(arguments["model_repository"]) / arguments["model_version"] / "model.onnx"
        self.session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        self.names = [[one.name for one in side] for side in (self.session.get_inputs(), self.session.get_outputs())]

    def execute(self, requests):
        inputs = [[utils.get_input_tensor_by_name(request, name).as_numpy() for name in self.names[0]]
                  for request in requests]
        ends = numpy.cumsum([one[0].shape[0] for one in inputs])[:-1]
        feeds = {name: numpy.concatenate(parts) for name, parts in zip(self.names[0], zip(*inputs))}
        outputs = [numpy.split(value, ends) for value in self.session.run(self.names[1], feeds)]
        return [utils.InferenceResponse([utils.Tensor(name, value) for name, value in zip(self.names[1], values)])
                for values in zip(*outputs)]
'''


def profile(shape, batch):
    sizes = "x".join(map(str, shape))
    return f"1x{sizes}..{batch}x{sizes}..{batch}x{sizes}"


def add_models(repository, arguments):
    """The model once for each backend; the other's tensors are those of ours."""
    shapes = {name: profile(shape, arguments.batch) for name, shape in arguments.shape.items()}
    config = CONFIG.format(backend="camshaft", batch=arguments.batch, instances=arguments.instances)
    config += f'parameters {{ key: "shapes" value {{ string_value: {json.dumps(json.dumps(shapes))} }} }}\n'
    triton.add_model(repository, "camshaft", arguments.model, config)
    if arguments.against:
        import onnx

        graph = onnx.load(arguments.model, load_external_data=False).graph
        text = CONFIG.format(backend="python", batch=arguments.batch, instances=arguments.instances)
        weights = {one.name for one in graph.initializer}
        for side, tensors in (("input", graph.input), ("output", graph.output)):
            for one in tensors:
                if one.name in weights:
                    continue
                dims = [one.dim_value or -1 for one in one.type.tensor_type.shape.dim][1:]
                text += f'{side} [{{ name: "{one.name}" data_type: TYPE_FP32 dims: {dims} }}]\n'
        folder = triton.add_model(repository, "onnxruntime", arguments.model, text)
        (folder / "1" / "model.py").write_text(ONNX_RUNTIME.replace(
            "{packages}", repr([path for path in sys.path if path.endswith("site-packages")])))


def backends_of(folder, python_backend):
    """A folder of backends with ours and the Python one."""
    folder.mkdir()
    (folder / "camshaft").symlink_to(triton.BACKENDS / "camshaft")
    if python_backend:
        (folder / "python").symlink_to(pathlib.Path(python_backend).resolve())
    return folder


def load(address, model, inputs, concurrency, seconds):
    """Latencies in seconds, and errors, of a closed loop."""
    latencies, errors = [], []
    lock, idle = threading.Lock(), threading.Semaphore(concurrency)
    end = time.perf_counter() + seconds
    with tritonclient.grpc.InferenceServerClient(address) as client:
        def ask():
            begin = time.perf_counter()

            def answered(result, error):
                with lock:
                    (errors if error else latencies).append(error or time.perf_counter() - begin)
                idle.release()

            client.async_infer(model, inputs, answered)

        start = time.perf_counter()
        while time.perf_counter() < end:
            idle.acquire()
            ask()
        for _ in range(concurrency):
            idle.acquire()
        taken = time.perf_counter() - start
    return numpy.array(latencies), errors, taken


def inputs_of(arguments):
    random = numpy.random.default_rng(1)
    made = []
    for name, shape in arguments.shape.items():
        one = tritonclient.grpc.InferInput(name, [1, *shape], "FP32")
        made.append(one.set_data_from_numpy(random.random((1, *shape), numpy.float32)))
    return made


def named_shape(text):
    name, _, sizes = text.partition("=")
    return name, [int(size) for size in sizes.split("x")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="an ONNX model whose first dimensions are a batch")
    parser.add_argument("--shape", action="append", type=named_shape, required=True, help="of an input, without batch")
    parser.add_argument("--batch", type=int, default=8, help="max_batch_size")
    parser.add_argument("--instances", type=int, default=1)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--against", action="store_true", help="ONNX Runtime in the Python backend too")
    parser.add_argument("--python-backend", help="folder of Triton's Python backend")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    arguments.shape = dict(arguments.shape)
    if not triton.find_program():
        sys.exit("there is no tritonserver: set TRITONSERVER to its program")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        add_models(folder / "models", arguments)
        backends = backends_of(folder / "backends", arguments.python_backend)
        for model in ["camshaft", "onnxruntime"] if arguments.against else ["camshaft"]:
            with triton.Server(folder / "models", folder / "engines", [model], backends) as server:
                for concurrency in arguments.concurrency:
                    load(server.grpc, model, inputs_of(arguments), concurrency, 1)  # warm up
                    latencies, errors, taken = load(server.grpc, model, inputs_of(arguments), concurrency,
                                                    arguments.seconds)
                    if not len(latencies):
                        sys.exit(f"no request to {model} was answered: {errors[0]}; the server says:\n" + server.log.read_text()[-3000:])
                    p50, p95, p99 = numpy.percentile(latencies * 1000, [50, 95, 99])
                    results.append({"model": model, "concurrency": concurrency, "errors": len(errors),
                                    "per second": round(len(latencies) / taken, 2), "p50 ms": round(float(p50), 1),
                                    "p95 ms": round(float(p95), 1), "p99 ms": round(float(p99), 1),
                                    "server MB": round(server.resident_bytes() / 1e6)})
                    if not arguments.json:
                        print(results[-1], flush=True)
    if arguments.json:
        print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
