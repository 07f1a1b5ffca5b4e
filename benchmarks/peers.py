"""The runtimes that compare.py measures, behind one shape: build, then load, then run.

A peer has `build(model, artefact, feeds, threads)`, which prepares the model and leaves a file,
`load(artefact, ...)` from that file, and `open(...)`, the way its users run it fastest; the last
two return a function from feeds to outputs by name. Imports are local: each peer is measured in a
process that holds no other. Peers whose name ends in INT8 get the model as ONNX Runtime quantises
it, all the same one.
"""

import pathlib


class Camshaft:
    """Engine file built for this machine; profile of exactly the measured shapes. By default f32
    products may be as coarse as TF32's, as in TensorRT; bf16 also lets them round to that."""

    def __init__(self, tf32=True, bf16=False):
        self.tf32 = tf32
        self.bf16 = bf16

    def build(self, model, artefact, feeds, threads):
        import camshaft as trt

        logger = trt.Logger(trt.Logger.WARNING)
        builder = trt.Builder(logger)
        builder.max_threads = threads
        network = builder.create_network()
        parser = trt.OnnxParser(network, logger)
        if not parser.parse_from_file(str(model)):
            errors = [parser.get_error(i).desc() for i in range(parser.num_errors)]
            raise RuntimeError("\n".join(errors))
        config = builder.create_builder_config()
        config.default_device_type = trt.DeviceType.CPU
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        if not self.tf32:
            config.clear_flag(trt.BuilderFlag.TF32)
        if self.bf16:
            config.set_flag(trt.BuilderFlag.BF16)
        profile = builder.create_optimization_profile()
        for name, array in feeds.items():
            profile.set_shape(name, min=array.shape, opt=array.shape, max=array.shape)
        config.add_optimization_profile(profile)
        artefact.write_bytes(builder.build_serialized_network(network, config))

    def context(self, artefact, threads):
        import camshaft as trt

        runtime = trt.Runtime(trt.Logger(trt.Logger.WARNING))
        runtime.max_threads = threads
        return runtime.deserialize_cuda_engine_from_file(artefact).create_execution_context()

    def load(self, model, artefact, threads):
        import camshaft as trt

        context = self.context(artefact, threads)
        return lambda feeds: trt.infer(context, feeds)

    open = load


class OnnxRuntime:
    """All graph optimisations; the artefact is the optimised model in ORT format."""

    def session(self, model, threads, save_as=None):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        if save_as:
            options.optimized_model_filepath = str(save_as)
            options.add_session_config_entry("session.save_model_format", "ORT")
        session = onnxruntime.InferenceSession(str(model), options,
                                               providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return lambda feeds: dict(zip(names, session.run(names, feeds)))

    def build(self, model, artefact, feeds, threads):
        self.session(model, threads)

    def keep(self, model, artefact, feeds, threads):
        """What load() reads; apart from build() because its users seldom write it."""
        self.session(model, threads, save_as=artefact)

    def load(self, model, artefact, threads):
        return self.session(artefact, threads)

    def open(self, model, artefact, threads):
        return self.session(model, threads)


class OpenVino:
    """Latency mode. By default it computes in f16 or bf16 where the CPU has them."""

    def __init__(self, precision=None):
        self.precision = precision

    def settings(self, threads):
        settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads}
        return settings | ({"INFERENCE_PRECISION_HINT": self.precision} if self.precision else {})

    def build(self, model, artefact, feeds, threads):
        import openvino

        core = openvino.Core()
        graph = core.read_model(model)
        graph.reshape({name: list(array.shape) for name, array in feeds.items()})
        compiled = core.compile_model(graph, "CPU", self.settings(threads))
        artefact.write_bytes(compiled.export_model().getvalue())

    def load(self, model, artefact, threads):
        import openvino

        core = openvino.Core()
        compiled = core.import_model(artefact.read_bytes(), "CPU", self.settings(threads))
        request = compiled.create_infer_request()
        names = [output.get_any_name() for output in compiled.outputs]
        return lambda feeds: dict(zip(names, request.infer(feeds).values()))

    open = load


INT8 = "-int8"
PEERS = {
    "camshaft": Camshaft(),
    "camshaft-f32": Camshaft(tf32=False),
    "camshaft-bf16": Camshaft(bf16=True),
    "camshaft" + INT8: Camshaft(),
    "onnxruntime": OnnxRuntime(),
    "onnxruntime" + INT8: OnnxRuntime(),
    "openvino-f32": OpenVino("f32"),
    "openvino-bf16": OpenVino("bf16"),
    "openvino": OpenVino(),
    "openvino" + INT8: OpenVino(),
}


def artefact_of(folder, peer):
    is_ort = isinstance(PEERS[peer], OnnxRuntime)
    return pathlib.Path(folder) / (peer + (".ort" if is_ort else ".engine"))


def quantised(folder):
    """Where measure.py leaves the model of 8-bit weights and activations."""
    return pathlib.Path(folder) / "quantised.onnx"
