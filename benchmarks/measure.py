"""One measurement of one peer, in this process alone; compare.py starts it and reads its JSON.

    python benchmarks/measure.py quantise|build|load|run|profile PEER MODEL FOLDER THREADS SECONDS

FOLDER holds feeds.npz and receives the peer's artefact and its outputs.
"""

import collections
import json
import pathlib
import statistics
import sys
import time

import numpy
from peers import PEERS, artefact_of, quantised

WARM_UP = 0.3  # of the measured time
PER_CHANNEL = 13  # the opset from which on QuantizeLinear has an axis


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def run_for(run, feeds, seconds):
    """Latencies of at least five runs, for `seconds`, after warming up."""
    end = time.perf_counter() + seconds * WARM_UP
    run(feeds)
    while time.perf_counter() < end:
        run(feeds)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        times.append(timed(run, feeds)[1])
    return times


def quantise(model, feeds, folder, **_):
    """QDQ by ONNX Runtime's own tool, calibrated on the inputs that are measured."""
    import onnx
    import onnx.version_converter
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Feeds(CalibrationDataReader):
        def __init__(self):
            self.left = [feeds]

        def get_next(self):
            return self.left.pop() if self.left else None

    prepared = folder / "prepared.onnx"
    graph = onnx.load(model)
    if graph.opset_import[0].version < PER_CHANNEL:
        onnx.save(onnx.version_converter.convert_version(graph, PER_CHANNEL), prepared)
        model = prepared
    quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
    quantize_static(str(prepared), str(quantised(folder)), Feeds(), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    prepared.unlink()
    return {}


def build(peer, model, artefact, feeds, threads, **_):
    _, seconds = timed(peer.build, model, artefact, feeds, threads)
    result = {"build": seconds, "build_memory": peak_memory()}
    if hasattr(peer, "keep"):
        peer.keep(model, artefact, feeds, threads)
    return result | {"size": artefact.stat().st_size}


def load(peer, model, artefact, threads, **_):
    return {"load": timed(peer.load, model, artefact, threads)[1]}


def run(peer, model, artefact, feeds, threads, seconds, outputs, **_):
    function = peer.open(model, artefact, threads)
    times = run_for(function, feeds, seconds)
    numpy.savez(outputs, **function(feeds))
    return {"times": times, "memory": peak_memory()}


def profile(peer, model, artefact, feeds, threads, **_):
    """Median milliseconds of each of our layers over 20 runs, with what it computes and moves."""
    import camshaft as trt
    import roofline

    class Times(trt.IProfiler):
        def __init__(self):
            trt.IProfiler.__init__(self)
            self.layers = collections.defaultdict(list)

        def report_layer_time(self, layer_name, ms):
            self.layers[layer_name].append(ms)

    context = peer.context(artefact, threads)
    trt.infer(context, feeds)
    context.profiler = times = Times()
    for _ in range(20):
        trt.infer(context, feeds)
    inspector = context.engine.create_engine_inspector()
    inspector.execution_context = context  # with the sizes of the run
    information = json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))
    described = {layer["Name"]: layer for layer in information["Layers"] if isinstance(layer, dict)}
    patches = roofline.patches(model)
    layers = []
    for name, ms in times.layers.items():
        layer = described.get(name)
        layers.append({"name": name, "kernel": layer["TacticName"] if layer else "",
                       "ms": statistics.median(ms) * len(ms) / 20,
                       "operations": roofline.operations(layer, patches) if layer else 0,
                       "bytes": roofline.bytes_moved(layer) if layer else 0})
    return {"layers": layers}


def peak_memory():
    """Bytes. From /proc, since getrusage counts what the parent had before this program began."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def main():
    what, name, model, folder, threads, seconds = sys.argv[1:]
    folder = pathlib.Path(folder)
    with numpy.load(folder / "feeds.npz") as stored:
        feeds = dict(stored)
    result = globals()[what](peer=PEERS[name], model=pathlib.Path(model), feeds=feeds,
                             artefact=artefact_of(folder, name), threads=int(threads),
                             seconds=float(seconds), outputs=folder / f"{name}.npz", folder=folder)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
