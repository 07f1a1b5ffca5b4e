"""The runtimes that are timed, each opened in a process of its own.

`prepare(name)` does what needs no GPU. `open(name, batch)` gives a function that queues one run on
the current stream, and one that returns the output; inputs lie on the device before.
"""

import time

import models
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Ours:
    """Our engine, in the precision it was built for."""

    def __init__(self, engine, profile=False):
        self.engine_path, self.profile = engine, profile

    def prepare(self, name):
        import camshaft  # noqa: F401

    def open(self, name, batch):
        import camshaft as trt

        start = time.perf_counter()
        self.logger = trt.Logger(trt.Logger.WARNING)
        self.runtime = trt.Runtime(self.logger)
        self.engine = self.runtime.deserialize_cuda_engine_from_file(self.engine_path)
        self.context = self.engine.create_execution_context()
        self.load = time.perf_counter() - start
        if (self.engine.device is None) != (DEVICE == "cpu"):
            raise RuntimeError("the engine was not built for the device that this machine has")
        feeds = models.inputs(name, batch)
        self.tensors = {}
        for index in range(self.engine.num_io_tensors):
            tensor = self.engine.get_tensor_name(index)
            dtype = torch_type(self.engine.get_tensor_dtype(tensor))
            self.tensors[tensor] = (
                feeds[tensor].to(dtype).contiguous().to(DEVICE) if tensor in feeds else
                torch.empty(tuple(self.context.get_tensor_shape(tensor)), dtype=dtype,
                            device=DEVICE))
            self.context.set_tensor_address(tensor, self.tensors[tensor].data_ptr())
        return self.run, lambda: self.tensors[models.output_name(name)]

    def run(self):
        stream = torch.cuda.current_stream().cuda_stream if DEVICE == "cuda" else 0
        self.context.execute_async_v3(stream)

    def figures(self):
        found = {"load_s": self.load, "size": self.engine_path.stat().st_size,
                 "arena": self.engine.device_memory_size_v2, "layers": self.engine.num_layers}
        return found | ({"slowest": self.slowest()} if self.profile else {})

    def slowest(self, runs=20, most=40):
        """[[ms, layer, kernel]] of the slowest layers, launched one by one."""
        import collections
        import json
        import statistics

        import camshaft as trt

        class Times(trt.IProfiler):
            def __init__(self):
                trt.IProfiler.__init__(self)
                self.layers = collections.defaultdict(list)

            def report_layer_time(self, layer_name, ms):
                self.layers[layer_name].append(ms)

        self.context.profiler = times = Times()
        for _ in range(runs):
            self.run()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        self.context.profiler = None
        inspector = self.engine.create_engine_inspector()
        text = inspector.get_engine_information(trt.LayerInformationFormat.JSON)
        kernels = {layer["Name"]: layer.get("TacticName", "")
                   for layer in json.loads(text)["Layers"] if isinstance(layer, dict)}
        rows = [[round(statistics.median(ms) * len(ms) / runs, 5), name, kernels.get(name, "")]
                for name, ms in times.layers.items()]
        return sorted(rows, reverse=True)[:most]


class Torch:
    """PyTorch in f16, pictures channels-last: plain, as one CUDA graph, or compiled."""

    def __init__(self, how, mode="reduce-overhead"):
        self.how, self.mode = how, mode

    def prepare(self, name):
        self.network = models.module(name).half()

    def open(self, name, batch):
        torch.backends.cudnn.benchmark = True
        start = time.perf_counter()
        network = self.network.to(DEVICE)
        feeds = [models.halved(value).to(DEVICE) for value in models.inputs(name, batch).values()]
        if name in models.VISION:
            network = network.to(memory_format=torch.channels_last)
            feeds = [value.to(memory_format=torch.channels_last) for value in feeds]
        if self.how == "compile":
            network = torch.compile(network, mode=self.mode)
        self.output = None

        def run():
            self.output = network(*feeds)

        for _ in range(3):
            run()
        self.load = time.perf_counter() - start
        if self.how == "graph":
            run = self.captured(run)
        return run, lambda: self.output

    def captured(self, run):
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
        return graph.replay

    def figures(self):
        return {"load_s": self.load}


class OnnxRuntime:
    """ONNX Runtime's CUDA provider on a model exported in f16, with a CUDA graph."""

    def __init__(self, model):
        self.model = model

    def prepare(self, name):
        import onnxruntime  # noqa: F401

    def open(self, name, batch):
        import numpy
        import onnxruntime

        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            raise RuntimeError("ONNX Runtime is installed without its CUDA provider")
        start = time.perf_counter()
        stream = str(torch.cuda.current_stream().cuda_stream)
        settings = {"enable_cuda_graph": "1", "prefer_nhwc": "1", "use_tf32": "1",
                    "cudnn_conv_algo_search": "EXHAUSTIVE", "user_compute_stream": stream}
        session = onnxruntime.InferenceSession(
            str(self.model), providers=[("CUDAExecutionProvider", settings)])
        self.load = time.perf_counter() - start
        binding = session.io_binding()
        self.kept = []
        for key, value in models.inputs(name, batch).items():
            value = models.halved(value).to(DEVICE)
            self.kept.append(value)
            kind = numpy.int64 if value.dtype == torch.int64 else numpy.float16
            binding.bind_input(key, "cuda", 0, kind, list(value.shape), value.data_ptr())
        described = session.get_outputs()[0]
        output = torch.empty(described.shape, dtype=torch.float16, device=DEVICE)
        binding.bind_output(described.name, "cuda", 0, numpy.float16, list(output.shape),
                            output.data_ptr())
        return lambda: session.run_with_iobinding(binding), lambda: output

    def figures(self):
        return {"load_s": self.load}


def torch_type(data_type):
    import camshaft as trt

    return {trt.DataType.FLOAT: torch.float32, trt.DataType.HALF: torch.float16,
            trt.DataType.BF16: torch.bfloat16, trt.DataType.INT64: torch.int64,
            trt.DataType.INT32: torch.int32, trt.DataType.BOOL: torch.bool}[data_type]
