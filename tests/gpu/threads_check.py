"""Threads that each run a context on a stream of their own and synchronise the whole device between
runs, as PyTorch programs do. Nobody may get an error, and results must be the same bits every time.

    python3 tests/gpu/threads_check.py [--seconds 60] [--threads 16] [--models own libraries]

`own` runs on kernels generated here, `libraries` on cuBLASLt and cuDNN. Contexts are made anew now
and then and batches change, so that runs are recorded all the time. Exit status 0 when all was well.
"""

import argparse
import json
import os
import pathlib
import sys
import threading
import time

import numpy
import onnx
import torch
from onnx import helper, numpy_helper

import camshaft as trt

os.environ["CAMSHAFT_TEST_ENGINES"] = "gpu"
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from building import build  # noqa: E402

BATCHES = (4, 1, 3, 8)
RUNS_PER_CONTEXT = 40
CHANNELS, SIDE, FEATURES = 16, 12, 64


def network(dtype):
    """Convolution, normalisation, products and a softmax over images of 16 channels."""
    random = numpy.random.default_rng(7)
    weights = {"filter": (32, CHANNELS, 3, 3), "first": (32 * SIDE * SIDE, FEATURES),
               "second": (FEATURES, FEATURES), "scale": (FEATURES,), "shift": (FEATURES,)}
    kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    node, value = helper.make_node, helper.make_tensor_value_info
    graph = helper.make_graph(
        [node("Conv", ["x", "filter"], ["c"], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"]),
         node("Flatten", ["r"], ["f"]), node("MatMul", ["f", "first"], ["a"]),
         node("LayerNormalization", ["a", "scale", "shift"], ["n"]),
         node("MatMul", ["n", "second"], ["b"]), node("Softmax", ["b"], ["y"])],
        "threads",
        [value("x", kind, ["n", CHANNELS, SIDE, SIDE])], [value("y", kind, ["n", FEATURES])],
        [numpy_helper.from_array((random.standard_normal(shape) * 0.05).astype(dtype), name)
         for name, shape in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return model.SerializeToString()


class Messages(trt.ILogger):
    """Warnings, among them those about runs that were not recorded."""

    def __init__(self):
        trt.ILogger.__init__(self)
        self.warnings, self.lock = {}, threading.Lock()

    def log(self, severity, message):
        if severity <= trt.ILogger.Severity.WARNING:
            with self.lock:
                self.warnings[message] = self.warnings.get(message, 0) + 1


def libraries_in(engine):
    """The kernels of libraries among those of the engine's layers."""
    inspector = engine.create_engine_inspector()
    layers = json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))["Layers"]
    names = {layer["TacticName"].removeprefix("cuda/") for layer in layers}
    return sorted(name for name in names if name.endswith(("_cublaslt", "_cudnn")))


class Runs:
    """What the threads do with one engine, and what became of it."""

    def __init__(self, engine, dtype):
        self.engine, self.dtype = engine, dtype
        self.count, self.errors, self.lock = 0, [], threading.Lock()
        generator = torch.Generator().manual_seed(1)
        self.inputs = {batch: torch.rand((batch, CHANNELS, SIDE, SIDE), generator=generator)
                       .to("cuda", dtype) for batch in BATCHES}
        context = engine.create_execution_context()
        stream = torch.cuda.Stream()
        self.wanted = {batch: self.once(context, stream, batch, self.output(batch)).cpu()
                       for batch in BATCHES}

    def output(self, batch):
        return torch.empty((batch, FEATURES), dtype=self.dtype, device="cuda")

    def once(self, context, stream, batch, output):
        x = self.inputs[batch]
        stream.wait_stream(torch.cuda.current_stream())
        assert context.set_input_shape("x", tuple(x.shape))
        context.set_tensor_address("x", x.data_ptr())
        context.set_tensor_address("y", output.data_ptr())
        if not context.execute_async_v3(stream.cuda_stream):
            raise RuntimeError("the run failed; the log says why")
        torch.cuda.synchronize()
        return output

    def work(self, until):
        run = 0
        try:
            stream = torch.cuda.Stream()
            outputs = {batch: self.output(batch) for batch in BATCHES}
            while time.monotonic() < until:
                if run % RUNS_PER_CONTEXT == 0:
                    context = self.engine.create_execution_context()
                batch = BATCHES[run // 3 % len(BATCHES)]  # direct, recorded, replayed
                outputs[batch].zero_()
                found = self.once(context, stream, batch, outputs[batch]).cpu()
                if not torch.equal(found, self.wanted[batch]):
                    raise RuntimeError(f"other bits at batch {batch}, run {run}")
                run += 1
        except Exception as error:  # noqa: BLE001  whatever it is, it is what we look for
            with self.lock:
                self.errors.append(f"{type(error).__name__}: {error}")
        with self.lock:
            self.count += run


def check(name, seconds, threads):
    own = name == "own"
    numpy_type, dtype = (numpy.float16, torch.float16) if own else (numpy.float32, torch.float32)
    messages = Messages()
    shapes = [{"x": (batch, CHANNELS, SIDE, SIDE)} for batch in BATCHES]
    # At level 0 the first kernel of a list is taken: in f16 one of ours, in f32 a library's.
    engine = build(network(numpy_type), shapes, level=0, logger=messages, detailed=True)
    used = libraries_in(engine)
    if bool(used) == own:
        print(f"the model '{name}' runs on {', '.join(used) or 'kernels of ours'}")
        return False
    runs = Runs(engine, dtype)
    until = time.monotonic() + seconds
    workers = [threading.Thread(target=runs.work, args=(until,)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for message, times in messages.warnings.items():
        print(f"{times} times: {message}")
    for error in runs.errors:
        print("error:", error)
    print(f"SUMMARY {name} ({', '.join(used) or 'generated kernels'}): {runs.count} runs of "
          f"{threads} threads, {len(runs.errors)} errors, {len(messages.warnings)} warnings")
    return not runs.errors and runs.count > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--models", nargs="+", default=["own", "libraries"])
    options = parser.parse_args()
    results = [check(name, options.seconds, options.threads) for name in options.models]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
