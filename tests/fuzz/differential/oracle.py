"""ONNX Runtime with its optimisations off: single nodes while a graph grows, and whole models."""

import functools
import re

import numpy
import onnx
import onnxruntime
from onnx import helper

from . import values

IR_VERSION = 10


class Refused(Exception):
    """ONNX Runtime's reason against a model or its inputs."""


@functools.lru_cache(None)
def options():
    made = onnxruntime.SessionOptions()
    made.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    made.intra_op_num_threads = 1
    made.log_severity_level = 4
    return made


def opsets(version):
    return [helper.make_opsetid("", version), helper.make_opsetid("com.microsoft", 1),
            helper.make_opsetid("ai.onnx.ml", 3)]


class Session:
    """A model in ONNX Runtime."""

    def __init__(self, model):
        try:
            self.session = onnxruntime.InferenceSession(
                model.SerializeToString(), options(), providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 - its exceptions share no base
            raise Refused(str(error)) from None
        self.types = [output.type for output in self.session.get_outputs()]

    def run(self, feed):
        try:
            return self.session.run(None, feed)
        except Exception as error:  # noqa: BLE001
            raise Refused(re.sub(r"^.*returned while running |/onnxruntime_src/\S+", "", str(error))) from None


class NodeSession:
    """One node, or a few, alone: `inputs` are (name, type, rank), constants are initialisers.

    Types that numpy cannot hand over are cast on the way in and out.
    """

    def __init__(self, nodes, inputs, constants, outputs, opset):
        self.types = self.types_of(nodes, inputs, constants, outputs, opset)
        before, after, given, made = [], [], [], []
        for name, dtype, rank in inputs:
            wide = values.STORED_AS.get(dtype)
            given.append(info(name + "_wide" if wide else name, wide or dtype, rank))
            if wide:
                before.append(helper.make_node("Cast", [name + "_wide"], [name], to=values.CODES[dtype]))
        for name, dtype in zip(outputs, self.types):
            wide = values.STORED_AS.get(dtype)
            made.append(name + "_wide" if wide else name)
            if wide:
                after.append(helper.make_node("Cast", [name], [name + "_wide"], to=values.CODES[wide]))
        self.feeds = [value.name for value in given]
        self.session = Session(model_of(before + nodes + after, given, constants, made, opset))

    @staticmethod
    def types_of(nodes, inputs, constants, outputs, opset):
        session = Session(model_of(nodes, [info(*given) for given in inputs], constants, outputs, opset))
        types = [values.runtime_type(text) for text in session.types]
        if None in types:
            raise Refused("an output is no tensor of numbers")
        return types

    def run(self, arrays):
        results = self.session.run(dict(zip(self.feeds, arrays)))
        return [numpy.asarray(array) for array in results]


def info(name, dtype, rank):
    return helper.make_tensor_value_info(name, values.CODES[dtype], [None] * rank)


def model_of(nodes, inputs, constants, outputs, opset):
    """A model whose outputs ONNX Runtime finds the types of."""
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name=name) for name in outputs], constants)
    return helper.make_model(graph, opset_imports=opsets(opset), ir_version=IR_VERSION)
