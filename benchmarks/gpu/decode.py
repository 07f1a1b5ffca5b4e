"""Steps of a Llama-like model with weights of 16, 8 and 4 bits: milliseconds, and bytes of weights a second.

    python3 benchmarks/gpu/decode.py [--rows 1 128 2048] [--weights f16 fp8 int4:32 int4:128] [--layers 4]
        [--vocabulary 64] [--past 511] [--caches f16 int8 fp8] [--copied-caches] [--profile]

A step of one token has --past cached ones; longer ones have none. Caches have room for all tokens and are updated in
place, or, with --copied-caches, read at one address and written at another. The models, of layers of Llama-3-8B's
sizes, are made here with random weights; with --layers 32 --vocabulary 128256 they are the whole. Bytes of weights a
second are given as such, and as a share of what a copy within the GPU's memory reaches in the same process.
"""

import argparse
import itertools
import math
import pathlib
import sys
import tempfile
import time

import numpy
import onnx
import torch

import camshaft as trt

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "examples/text_generation"), str(ROOT / "benchmarks/gpu")]

import measure  # noqa: E402
import language_models  # noqa: E402

CACHES = {"f16": "", "int8": "int8", "fp8": "float8"}


def config_of(weights, layers, vocabulary=64, caches="f16", positions=4096):
    is_float = weights in ("f16", "fp8")
    bits, _, block = weights.removeprefix("int").partition(":") if not is_float else ("0", "", "32")
    return language_models.Config(layers=layers, hidden=4096, heads=32, kv_heads=8, inner=14336, vocabulary=vocabulary,
                                  positions=positions, caches=CACHES[caches], type="float16", bits=int(bits),
                                  block=int(block or 32), float8=weights == "fp8")


def weight_bytes(config):
    """Of all products, with their scales."""
    kv_width = config.kv_heads * config.size
    layer = 2 * config.hidden + 2 * kv_width + 3 * config.inner
    numbers = config.hidden * (config.layers * layer + config.vocabulary)
    return numbers * (config.bits / 8 + 2 / config.block if config.bits else 1 if config.float8 else 2)


def fix_sizes(model, rows, past):
    """Gives the symbols of the model's inputs their sizes, and `total` its value: caches have room for as many."""
    graph, sizes = model.graph, {"batch": 1, "length": rows, "past": past + rows, "total": past + rows}
    for described in [*graph.input, *graph.output]:
        for dim in described.type.tensor_type.shape.dim:
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
    graph.input.remove(next(described for described in graph.input if described.name == "total"))
    graph.initializer.append(onnx.numpy_helper.from_array(numpy.array(past + rows, numpy.int32), "total"))


def build(config, rows, past, folder):
    model = language_models.llama(config)
    fix_sizes(model, rows, past)
    path = folder / "model.onnx"
    language_models.save(model, path)
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file(str(path)):
        raise RuntimeError("; ".join(parser.get_error(i).desc() for i in range(parser.num_errors)))
    settings = builder.create_builder_config()
    settings.set_flag(trt.BuilderFlag.FP16)
    if config.float8:
        settings.set_flag(trt.BuilderFlag.FP8)
    settings.profiling_verbosity = trt.ProfilingVerbosity.LAYER_NAMES_ONLY
    start = time.perf_counter()
    plan = builder.build_serialized_network(network, settings)
    if plan is None:
        raise RuntimeError("the build failed")
    return trt.Runtime(logger).deserialize_cuda_engine(plan), time.perf_counter() - start


class Step:
    """An engine with its tensors on the GPU."""

    def __init__(self, engine, last, copies_caches=False):
        """`last` is the place of the step's last token."""
        self.engine, self.context, self.tensors = engine, engine.create_execution_context(), {}
        for i in range(engine.num_io_tensors):
            name = engine.get_tensor_name(i)
            dtype = {trt.DataType.HALF: torch.float16, trt.DataType.INT64: torch.int64,
                     trt.DataType.INT32: torch.int32, trt.DataType.INT8: torch.int8,
                     trt.DataType.FP8: torch.int8}[engine.get_tensor_dtype(name)]
            elements = max(1, math.prod(self.context.get_tensor_shape(name)))
            self.tensors[name] = torch.full((elements,), last if name == "last" else 1, dtype=dtype, device="cuda")
        for name in self.tensors:
            cache = None if copies_caches else engine.get_aliased_input_tensor(name)
            self.context.set_tensor_address(name, self.tensors[cache or name].data_ptr())

    def run(self):
        if not self.context.execute_async_v3(torch.cuda.current_stream().cuda_stream):
            raise RuntimeError("the step failed")

    def slowest(self, runs=20, most=16):
        """[(ms, layer)] launched one by one."""
        times = {}

        class Times(trt.IProfiler):
            def report_layer_time(self, layer_name, ms):
                times.setdefault(layer_name, []).append(ms)

        self.context.profiler = Times()
        for _ in range(runs):
            self.run()
        torch.cuda.synchronize()
        self.context.profiler = None
        return sorted(((sum(ms) / runs, name) for name, ms in times.items()), reverse=True)[:most]


def copy_bandwidth():
    """Bytes a second, read and written, of a copy within the GPU's memory."""
    a = torch.empty(1 << 31, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    ms = measure.run_for(lambda: b.copy_(a), 0.5, on_gpu=True)["ms"]
    return 2 * a.numel() / ms * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 128, 2048])
    parser.add_argument("--weights", nargs="+", default=["f16", "fp8", "int4:32", "int4:128"], help="f16, fp8, int8:32, int4:128 …")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=64)
    parser.add_argument("--past", type=int, default=511, help="cached tokens of a step of one")
    parser.add_argument("--caches", nargs="+", choices=CACHES, default=["f16"])
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--copied-caches", action="store_true", help="past and present keys and values lie apart")
    parser.add_argument("--profile", action="store_true", help="list the slowest layers of each engine")
    options = parser.parse_args()
    torch.cuda.set_stream(torch.cuda.Stream())
    bandwidth = copy_bandwidth()
    print(f"{torch.cuda.get_device_name()}, a copy moves {bandwidth / 1e9:.0f} GB/s\n", flush=True)
    print("| rows | weights | caches | ms | GB/s of weights | share | beside f16 | build s |\n|---:|---|---|---:|---:|---:|---:|---:|")
    for rows in options.rows:
        f16_ms, past = None, options.past if rows == 1 else 0
        for weights, caches in itertools.product(options.weights, options.caches):
            config = config_of(weights, options.layers, options.vocabulary, caches, max(4096, past + rows))
            with tempfile.TemporaryDirectory() as folder:
                engine, seconds = build(config, rows, past, pathlib.Path(folder))
            step = Step(engine, past + rows - 1, options.copied_caches)
            ms = measure.run_for(step.run, options.seconds, on_gpu=True)["ms"]
            f16_ms = ms if weights == caches == "f16" else f16_ms
            speed = weight_bytes(config) / ms * 1e3
            gain = f"{f16_ms / ms:.2f}x" if f16_ms else ""
            print(f"| {rows} | {weights} | {caches} | {ms:.3f} | {speed / 1e9:.0f} | {speed / bandwidth:.0%} | {gain} | {seconds:.0f} |",
                  flush=True)
            for layer_ms, name in step.slowest() if options.profile else ():
                print(f"    {layer_ms:.4f} ms  {name}")
            del step, engine


if __name__ == "__main__":
    main()
