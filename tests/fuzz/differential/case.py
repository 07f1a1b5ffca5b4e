"""A case: a model, inputs of some runs, and what ONNX Runtime makes of them with how far rounding reaches.

This file needs numpy alone, as do those that run cases elsewhere.
"""

import dataclasses
import json
import lzma
import pathlib

import numpy


@dataclasses.dataclass
class Run:
    inputs: dict  # array by name
    expected: dict | None  # array by name; None where ONNX Runtime refuses
    slack: dict  # by name: how far each element may be off; infinite where rounding decides; None: all of it
    refusal: str = ""


@dataclasses.dataclass
class Case:
    seed: int
    model: bytes
    runs: list
    operators: list = dataclasses.field(default_factory=list)


def pack_slack(slack):
    """A byte per element: 0 is exact, 255 infinite, others powers of two, rounded up."""
    with numpy.errstate(divide="ignore"):
        power = numpy.ceil(numpy.log2(slack)) + 100
    packed = numpy.where(numpy.isinf(slack), 255, numpy.clip(power, 1, 254))
    return numpy.where(slack == 0, 0, packed).astype(numpy.uint8)


def unpack_slack(packed):
    wide = numpy.exp2(packed.astype(numpy.float64) - 100)
    return numpy.where(packed == 0, 0, numpy.where(packed == 255, numpy.inf, wide))


class Pile:
    """Arrays one after the other, each known by its type, shape and place."""

    def __init__(self, data=b""):
        self.data = bytearray(data)

    def put(self, array):
        array = numpy.asarray(array)
        at = len(self.data)
        self.data += array.tobytes()
        return [array.dtype.str, list(array.shape), at]

    def get(self, entry):
        dtype, shape, at = entry
        count = int(numpy.prod(shape, dtype=numpy.int64))
        return numpy.frombuffer(self.data, numpy.dtype(dtype), count, at).reshape(shape).copy()


def write(cases, path):
    """All of them in one compressed file: a line of JSON that says what lies where, and the arrays."""
    pile, index = Pile(), []
    for case in cases:
        runs = []
        for run in case.runs:
            outputs = None if run.expected is None else {
                name: [pile.put(array), None if run.slack[name] is None else pile.put(pack_slack(run.slack[name]))]
                for name, array in run.expected.items()}
            inputs = {name: pile.put(array) for name, array in run.inputs.items()}
            runs.append({"inputs": inputs, "outputs": outputs, "refusal": run.refusal[:700]})
        index.append({"seed": case.seed, "operators": case.operators, "runs": runs,
                      "model": pile.put(numpy.frombuffer(case.model, numpy.uint8))})
    pathlib.Path(path).write_bytes(lzma.compress(json.dumps(index).encode() + b"\n" + bytes(pile.data)))


def read(path):
    """The cases that write() put there."""
    head, _, data = lzma.decompress(pathlib.Path(path).read_bytes()).partition(b"\n")
    pile, cases = Pile(data), []
    for entry in json.loads(head):
        runs = []
        for run in entry["runs"]:
            outputs = run["outputs"]
            expected = None if outputs is None else {name: pile.get(array) for name, (array, _) in outputs.items()}
            slack = {name: None if packed is None else unpack_slack(pile.get(packed))
                     for name, (_, packed) in (outputs or {}).items()}
            inputs = {name: pile.get(array) for name, array in run["inputs"].items()}
            runs.append(Run(inputs, expected, slack, run["refusal"]))
        cases.append(Case(entry["seed"], pile.get(entry["model"]).tobytes(), runs, entry["operators"]))
    return cases
