"""Our layers one by one, in this process alone; compare.py starts it and reads its JSON.

    python benchmarks/layers.py PEER MODEL FEEDS.npz THREADS
"""

import collections
import json
import pathlib
import statistics
import sys
import tempfile

import numpy

import camshaft as trt
from camshaft.compare.peers import PEERS, Job

RUNS = 20


class Times(trt.IProfiler):
    def __init__(self):
        trt.IProfiler.__init__(self)
        self.layers = collections.defaultdict(list)

    def report_layer_time(self, layer_name, ms):
        self.layers[layer_name].append(ms)


def layers_of(peer, job, feeds):
    """Median milliseconds of each layer over some runs, with what it computes and moves."""
    with tempfile.TemporaryDirectory() as folder:
        engine = pathlib.Path(folder) / "engine"
        peer.build(job, engine, feeds)
        context = peer.context(job, engine)
    trt.infer(context, feeds)
    context.profiler = times = Times()
    for _ in range(RUNS):
        trt.infer(context, feeds)
    inspector = context.engine.create_engine_inspector()
    inspector.execution_context = context  # with the sizes of the run
    information = json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))
    described = {layer["Name"]: layer for layer in information["Layers"] if isinstance(layer, dict)}
    layers = []
    for name, ms in times.layers.items():
        layer = described.get(name, {})
        layers.append({"name": name, "kernel": layer.get("TacticName", ""),
                       "ms": statistics.median(ms) * len(ms) / RUNS,
                       "operations": layer.get("Operations", 0), "bytes": layer.get("BytesMoved", 0)})
    return layers


def main():
    name, model, feeds, threads = sys.argv[1:]
    with numpy.load(feeds) as stored:
        job = Job(pathlib.Path(model), int(threads), int8_model=pathlib.Path(model))
        print(json.dumps({"layers": layers_of(PEERS[name], job, dict(stored))}))


if __name__ == "__main__":
    main()
