"""The runtimes that are compared, behind one shape: build, then load, then run.

A peer has `absence(job, machine)`, why it cannot take part and what would change that, or None;
`build(job, artefact, feeds)`, which prepares the model and may leave a file; `load(job, artefact)`
from that file; and `open(job, artefact)`, the way its users run it fastest. The last two return a
function from feeds to outputs by name. Imports are local: each peer is measured in a process that
holds no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
import dataclasses
import importlib.metadata
import importlib.util
import pathlib
from typing import Any, Optional

Run = Callable[[dict], dict]


@dataclasses.dataclass
class Job:
    """What every peer is given."""

    model: pathlib.Path
    threads: int
    seconds: float = 1.0  # of running, per process
    int8_model: Optional[pathlib.Path] = None  # the model quantised, for peers that run it so
    torch_model: Optional[str] = None  # a .pt2 or TorchScript file, or package.module:function
    device: str = "all"  # or "cpu", "gpu"


@dataclasses.dataclass
class Absence:
    reason: str
    remedy: str = ""  # a command or an option; empty where nothing helps


class Peer:
    suffix = ".engine"  # of the file that build() leaves
    package = "camshaft"
    on_gpu = False
    is_int8 = False
    is_usual = True  # takes part unless others are asked for

    def model(self, job: Job) -> pathlib.Path:
        model = job.int8_model if self.is_int8 else job.model
        assert model, "a peer of 8 bits needs a quantised model"
        return model

    def absence(self, job: Job, machine: dict) -> Absence | None:
        """`machine` is what the library says of it (`describe_machine`)."""
        if job.device != "all" and self.on_gpu != (job.device == "gpu"):
            return Absence(f"--device {job.device} leaves it out")
        if self.is_int8 and not job.int8_model:
            return Absence("the model has no 8-bit version", "--data FOLDER")
        if self.on_gpu and (problem := gpu_problem(machine)):
            return Absence(problem, "camshaft doctor")
        if importlib.util.find_spec(self.package) is None:
            return Absence("it is not installed", f"pip install {self.package}")
        return None

    def version(self) -> str:
        return importlib.metadata.version(self.package)

    def keep(self, job: Job, artefact: pathlib.Path) -> None:
        """Writes what load() reads, where users of the runtime seldom do."""

    def build(self, job: Job, artefact: pathlib.Path, feeds: dict) -> None:
        raise NotImplementedError

    def load(self, job: Job, artefact: pathlib.Path) -> Run:
        raise NotImplementedError

    def open(self, job: Job, artefact: pathlib.Path) -> Run:
        return self.load(job, artefact)


def gpu_problem(machine: dict) -> str:
    """Why no GPU can be used; empty where one can."""
    for finding in machine["cuda"]:
        if finding["name"].startswith(("CUDA", "GPU")) and finding["problem"]:
            return str(finding["problem"])
    return ""


def unit_problem(machine: dict, name: str) -> str:
    """Why the CPU does no such products; empty where it does."""
    return next(str(unit["problem"]) for unit in machine["cpu_units"] if unit["name"] == name)


class Camshaft(Peer):
    """Engine file built for this machine; profile of exactly the measured shapes. "tf32" is as it
    comes: f32 products may be as coarse as TF32's, as in TensorRT. "bf16" and "fp16" let them round
    to that as well."""

    UNITS = {"tf32": "f32 products on matrix units", "bf16": "bf16 products", "fp16": "f16 products"}

    def __init__(self, precision: str = "tf32", gpu: bool = False, int8: bool = False) -> None:
        self.precision, self.on_gpu, self.is_int8 = precision, gpu, int8

    def absence(self, job: Job, machine: dict) -> Absence | None:
        if not self.on_gpu and not self.is_int8 and self.precision in self.UNITS:
            if problem := unit_problem(machine, self.UNITS[self.precision]):
                return Absence(f"{problem}: it would compute in f32")
            if self.precision == "fp16" and not unit_problem(machine, self.UNITS["bf16"]):
                return Absence("FP16 is bf16 on this CPU: it would be camshaft-bf16 again")
        return super().absence(job, machine)

    def version(self) -> str:
        import camshaft

        return camshaft.camshaft_version

    def build(self, job: Job, artefact: pathlib.Path, feeds: dict) -> None:
        import camshaft as trt

        logger = trt.Logger(trt.Logger.ERROR)
        builder = trt.Builder(logger)
        builder.max_threads = job.threads
        network = builder.create_network()
        parser = trt.OnnxParser(network, logger)
        if not parser.parse_from_file(str(self.model(job))):
            raise RuntimeError(parser.get_error(0).desc())
        config = builder.create_builder_config()
        config.default_device_type = trt.DeviceType.GPU if self.on_gpu else trt.DeviceType.CPU
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        if self.precision == "f32":
            config.clear_flag(trt.BuilderFlag.TF32)
        elif self.precision != "tf32":
            config.set_flag(getattr(trt.BuilderFlag, self.precision.upper()))
        profile = builder.create_optimization_profile()
        for name, array in feeds.items():
            profile.set_shape(name, min=array.shape, opt=array.shape, max=array.shape)
        config.add_optimization_profile(profile)
        artefact.write_bytes(builder.build_serialized_network(network, config))

    def context(self, job: Job, artefact: pathlib.Path) -> Any:
        import camshaft as trt

        runtime = trt.Runtime(trt.Logger(trt.Logger.ERROR))
        runtime.max_threads = job.threads
        engine = runtime.deserialize_cuda_engine_from_file(artefact)
        if self.on_gpu and engine.device is None:
            raise RuntimeError("the engine was built for the CPU: no GPU could be used")
        return engine.create_execution_context()

    def load(self, job: Job, artefact: pathlib.Path) -> Run:
        import camshaft as trt

        context = self.context(job, artefact)
        return lambda feeds: trt.infer(context, feeds)


class OnnxRuntime(Peer):
    """All graph optimisations. On the CPU the artefact is the optimised model in ORT format; the
    TensorRT provider keeps its engines in a folder beside it."""

    suffix = ".ort"
    package = "onnxruntime"

    def __init__(self, provider: str = "CPU", options: dict | None = None, int8: bool = False) -> None:
        self.provider, self.options = f"{provider}ExecutionProvider", options or {}
        self.on_gpu, self.is_int8 = provider != "CPU", int8

    def absence(self, job: Job, machine: dict) -> Absence | None:
        if absence := super().absence(job, machine):
            return absence
        import onnxruntime

        if self.provider not in onnxruntime.get_available_providers():
            return Absence(f"the onnxruntime installed here has no {self.provider}",
                           "pip uninstall onnxruntime; pip install onnxruntime-gpu")
        return None

    def version(self) -> str:
        import onnxruntime

        return str(onnxruntime.__version__)  # onnxruntime-gpu is the same module

    def session(self, job: Job, model: pathlib.Path, save_as: pathlib.Path | None = None,
                cache: pathlib.Path | None = None) -> Run:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = job.threads
        options.log_severity_level = 3
        if save_as:
            options.optimized_model_filepath = str(save_as)
            options.add_session_config_entry("session.save_model_format", "ORT")
        settings = dict(self.options)
        if "trt_engine_cache_enable" in settings:
            settings["trt_engine_cache_path"] = str(cache)
        session = onnxruntime.InferenceSession(str(model), options, providers=[(self.provider, settings)])
        if session.get_providers()[0] != self.provider:
            raise RuntimeError(f"{self.provider} did not start, and ONNX Runtime took "
                               f"{session.get_providers()[0]} instead")
        names = [output.name for output in session.get_outputs()]
        return lambda feeds: dict(zip(names, session.run(names, feeds)))

    def build(self, job: Job, artefact: pathlib.Path, feeds: dict) -> None:
        run = self.session(job, self.model(job), cache=artefact.with_suffix(".cache"))
        if self.on_gpu:
            run(feeds)  # TensorRT's engines are made in the first run

    def keep(self, job: Job, artefact: pathlib.Path) -> None:
        if not self.on_gpu:
            self.session(job, self.model(job), save_as=artefact)

    def load(self, job: Job, artefact: pathlib.Path) -> Run:
        return self.open(job, artefact) if self.on_gpu else self.session(job, artefact)

    def open(self, job: Job, artefact: pathlib.Path) -> Run:
        return self.session(job, self.model(job), cache=artefact.with_suffix(".cache"))


class OpenVino(Peer):
    """Latency mode. By default it computes in f16 or bf16 where the CPU has them."""

    package = "openvino"

    def __init__(self, precision: str | None = None, int8: bool = False, usual: bool = True) -> None:
        self.precision, self.is_int8, self.is_usual = precision, int8, usual

    def settings(self, job: Job) -> dict:
        settings: dict = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": job.threads}
        return settings | ({"INFERENCE_PRECISION_HINT": self.precision} if self.precision else {})

    def build(self, job: Job, artefact: pathlib.Path, feeds: dict) -> None:
        import openvino

        core = openvino.Core()
        graph = core.read_model(self.model(job))
        graph.reshape({name: list(array.shape) for name, array in feeds.items()})
        compiled = core.compile_model(graph, "CPU", self.settings(job))
        artefact.write_bytes(compiled.export_model().getvalue())

    def load(self, job: Job, artefact: pathlib.Path) -> Run:
        import openvino

        core = openvino.Core()
        compiled = core.import_model(artefact.read_bytes(), "CPU", self.settings(job))
        request = compiled.create_infer_request()
        names = [output.get_any_name() for output in compiled.outputs]
        return lambda feeds: dict(zip(names, request.infer(feeds).values()))


class PyTorch(Peer):
    """The model as PyTorch has it: inputs and outputs are those of the ONNX model, in their order.
    With `compiled`, by torch.compile."""

    package = "torch"

    def __init__(self, compiled: bool = False, gpu: bool = False) -> None:
        self.compiled, self.on_gpu = compiled, gpu

    def absence(self, job: Job, machine: dict) -> Absence | None:
        if not job.torch_model:
            return Absence("it needs the model as PyTorch has it", "--torch FILE.pt2")
        return super().absence(job, machine)

    def build(self, job: Job, artefact: pathlib.Path, feeds: dict) -> None:
        self.load(job, artefact)(feeds)

    def load(self, job: Job, artefact: pathlib.Path) -> Run:
        import torch

        torch.set_num_threads(job.threads)
        device = "cuda" if self.on_gpu else "cpu"
        module = _torch_module(job.torch_model).to(device)
        if self.compiled:
            module = torch.compile(module)

        def run(feeds: dict) -> dict:
            with torch.inference_mode():
                outputs = module(*(torch.from_numpy(array).to(device) for array in feeds.values()))
            return {str(i): value.float().cpu().numpy() for i, value in enumerate(_tensors(outputs))}

        return run


def _torch_module(name: str | None) -> Any:
    import torch

    assert name
    if name.endswith(".pt2"):
        return torch.export.load(name).module()
    if pathlib.Path(name).is_file():
        return torch.jit.load(name).eval()
    module, _, function = name.partition(":")
    if not function:
        raise ValueError(f"'{name}' is neither a file of PyTorch's nor package.module:function")
    return getattr(importlib.import_module(module), function)().eval()


def _tensors(outputs: Any) -> list:
    """Those in a result, however it is nested."""
    if hasattr(outputs, "detach"):
        return [outputs]
    values = outputs.values() if hasattr(outputs, "values") else outputs or ()
    return [tensor for value in values for tensor in _tensors(value)]


TENSORRT = {"trt_engine_cache_enable": True}
PEERS: dict[str, Peer] = {
    "camshaft-f32": Camshaft("f32"),
    "camshaft": Camshaft(),
    "camshaft-bf16": Camshaft("bf16"),
    "camshaft-fp16": Camshaft("fp16"),
    "camshaft-int8": Camshaft(int8=True),
    "camshaft-gpu-f32": Camshaft("f32", gpu=True),
    "camshaft-gpu": Camshaft(gpu=True),
    "camshaft-gpu-bf16": Camshaft("bf16", gpu=True),
    "camshaft-gpu-fp16": Camshaft("fp16", gpu=True),
    "camshaft-gpu-int8": Camshaft("fp16", gpu=True, int8=True),
    "onnxruntime": OnnxRuntime(),
    "onnxruntime-int8": OnnxRuntime(int8=True),
    "onnxruntime-cuda": OnnxRuntime("CUDA"),
    "onnxruntime-tensorrt": OnnxRuntime("Tensorrt", TENSORRT),
    "onnxruntime-tensorrt-fp16": OnnxRuntime("Tensorrt", TENSORRT | {"trt_fp16_enable": True}),
    "openvino-f32": OpenVino("f32"),
    "openvino-bf16": OpenVino("bf16", usual=False),
    "openvino": OpenVino(),
    "openvino-int8": OpenVino(int8=True),
    "pytorch": PyTorch(),
    "pytorch-compile": PyTorch(compiled=True),
    "pytorch-cuda": PyTorch(gpu=True),
}


def chosen(job: Job, machine: dict, names: Iterable[str] | None = None) -> tuple[list[str], dict[str, Absence]]:
    """Of the peers with these names, or the usual ones: those that can take part, and why others
    cannot."""
    asked = list(names) if names else [name for name, peer in PEERS.items() if peer.is_usual]
    if unknown := [name for name in asked if name not in PEERS]:
        raise ValueError(f"there is no peer '{unknown[0]}'; there are {', '.join(PEERS)}")
    absences = {name: PEERS[name].absence(job, machine) for name in asked}
    return ([name for name, absence in absences.items() if not absence],
            {name: absence for name, absence in absences.items() if absence})


def artefact_of(folder: pathlib.Path, peer: str) -> pathlib.Path:
    return folder / (peer + PEERS[peer].suffix)
