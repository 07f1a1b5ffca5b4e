"""Quantised models on every kernel that takes their layers, byte by byte beside the CPU.

    python3 tests/gpu/quantised_check.py [--models FOLDER] [--write] [--runs 6] [--ahead 4096] [NAME...]

The models are those of tests/python/test_quantised_bytes.py, which ONNX Runtime quantises, every quantised tensor an
output. With --write they go to FOLDER, from where a machine without ONNX Runtime takes them. Engine i of a model has
kernel i of each layer's list, or the last.

Runs are queued behind a product that keeps the GPU busy, so that kernels follow one another without a pause, on two
inputs in turn: what is read before the kernel ahead has written it belongs to the other input. For each engine that
differs, prints the first tensor, how much of it and in which runs, and the kernels. Exit status 0 when no byte does.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper

os.environ.setdefault("CAMSHAFT_TEST_ENGINES", "gpu")
TESTS = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "python")]

import camshaft as trt  # noqa: E402
from building import build  # noqa: E402


class Numbered(trt.IAlgorithmSelector):
    """Gives each layer the kernel of that number, or its last; `most` is how many a layer has at most."""

    def __init__(self, number):
        trt.IAlgorithmSelector.__init__(self)
        self.number, self.most = number, 0

    def select_algorithms(self, context, choices):
        self.most = max(self.most, len(choices))
        return [min(self.number, len(choices) - 1)]

    def report_algorithms(self, contexts, choices):
        pass


class Memory:
    """Device memory that holds an array, or room for one."""

    def __init__(self, device, size, array=None):
        self.device, self.size, self.address = device, size, device.allocate(size)
        if array is not None:
            device.copy(self.address, array.ctypes.data, size)
            device.synchronize()

    def __del__(self):
        self.device.release(self.address)

    def array(self, like):
        result = numpy.empty_like(like)
        self.device.copy(result.ctypes.data, self.address, self.size)
        self.device.synchronize()
        return result


class Busy:
    """A product of large matrices, to be queued in front of others."""

    def __init__(self, side):
        value = helper.make_tensor_value_info
        graph = helper.make_graph([helper.make_node("MatMul", ["a", "a"], ["b"])], "busy",
                                  [value("a", TensorProto.FLOAT, [side, side])],
                                  [value("b", TensorProto.FLOAT, [side, side])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        engine = build(model.SerializeToString(), level=0)
        self.context = engine.create_execution_context()
        self.memory = {name: Memory(engine.device, 4 * side * side) for name in "ab"}
        for name, memory in self.memory.items():
            self.context.set_tensor_address(name, memory.address)

    def queue(self, stream):
        self.context.execute_async_v3(stream)


def run_queued(engine, feeds, wanted, runs, busy):
    """What run i gives for feeds[i % 2], all of them queued before the first has ended."""
    device, context = engine.device, engine.create_execution_context()
    stream = device.create_stream()
    given = [{name: Memory(device, array.nbytes, array) for name, array in each.items()} for each in feeds]
    inputs = {name: Memory(device, array.nbytes) for name, array in feeds[0].items()}
    outputs = {name: Memory(device, array.nbytes) for name, array in wanted[0].items()}
    kept = [{name: Memory(device, memory.size) for name, memory in outputs.items()} for _ in range(runs)]
    for name, array in feeds[0].items():
        context.set_input_shape(name, array.shape)
    for name, memory in [*inputs.items(), *outputs.items()]:
        context.set_tensor_address(name, memory.address)
    if busy:
        busy.queue(stream)
    for i in range(runs):
        for name, memory in inputs.items():
            device.copy(memory.address, given[i % 2][name].address, memory.size, stream)
        context.execute_async_v3(stream)
        for name, memory in outputs.items():
            device.copy(kept[i][name].address, memory.address, memory.size, stream)
    device.synchronize(stream)
    device.destroy_stream(stream)
    return [{name: kept[i][name].array(wanted[0][name]) for name in outputs} for i in range(runs)]


def differences(found, wanted, order):
    """The first tensor that differs anywhere, as text; empty where none does."""
    for name in order:
        counts = {i: int(numpy.count_nonzero(run[name] != wanted[i % 2][name])) for i, run in enumerate(found)}
        if any(counts.values()):
            runs = ", ".join(f"{count} in run {i}" for i, count in counts.items() if count)
            return f"'{name}' differs, of {wanted[0][name].size} elements {runs}"
    return ""


def kernels_of(engine):
    inspector = engine.create_engine_inspector()
    layers = json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))["Layers"]
    return "\n".join(f"    {layer['Name']}: {layer['TacticName']}" for layer in layers)


def on_cpu(model, feeds):
    engine = build(model, [{name: array.shape for name, array in feeds.items()}], device=trt.DeviceType.CPU)
    return trt.infer(engine.create_execution_context(), feeds)


def check(path, feeds, runs, busy):
    """(engines, those of them that differ) of one model."""
    feeds = [feeds, {name: numpy.ascontiguousarray(numpy.flip(array)) for name, array in feeds.items()}]
    wanted = [on_cpu(str(path), each) for each in feeds]
    model = onnx.load(path)
    computed = [name for node in model.graph.node for name in node.output]
    order = sorted(wanted[0], key=computed.index)
    wrong, number, most = 0, 0, 1
    while number < most:
        selector = Numbered(number)
        engine = build(path, [{name: array.shape for name, array in feeds[0].items()}], level=0, detailed=True,
                       selector=selector)
        most = max(most, selector.most)
        difference = differences(run_queued(engine, feeds, wanted, runs, busy), wanted, order)
        if difference:
            wrong += 1
            print(f"{path.parent.name}, engine {number}: {difference}\n{kernels_of(engine)}", flush=True)
        number += 1
    return number, wrong


def write_models(folder):
    import test_quantised_bytes as tests

    for name, make in (tests.MODELS | tests.NETWORKS).items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as temporary:  # the quantiser leaves much behind
            model, feeds = make(pathlib.Path(temporary))
        onnx.save(tests.showing_bytes(model), place / "model.onnx")
        numpy.savez(place / "feeds.npz", **feeds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="all by default")
    parser.add_argument("--models", type=pathlib.Path, help="folder of models that --write wrote")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--ahead", type=int, default=4096, help="side of the matrices queued in front; 0: none")
    options = parser.parse_args()
    if options.write and not options.models:
        parser.error("--write needs --models")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.models or pathlib.Path(temporary)
        if options.write or not options.models:
            write_models(folder)
        if options.write:
            return 0
        busy = Busy(options.ahead) if options.ahead else None
        engines = wrong = 0
        paths = [path for path in sorted(folder.glob("*/model.onnx"))
                 if not options.names or path.parent.name in options.names]
        for path in paths:
            with numpy.load(path.parent / "feeds.npz") as stored:
                counts = check(path, dict(stored), options.runs, busy)
            print(f"{path.parent.name}: {counts[0]} engines, {counts[1]} differ", flush=True)
            engines, wrong = engines + counts[0], wrong + counts[1]
    print(f"SUMMARY {len(paths)} models, {engines} engines, {wrong} differ")
    return 1 if wrong or not engines else 0


if __name__ == "__main__":
    sys.exit(main())
