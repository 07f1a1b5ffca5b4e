"""The cases of the ONNX backend suite, as models with inputs and expected outputs."""

import dataclasses
import glob
import os
import pathlib
import warnings

import numpy
import onnx
from onnx import numpy_helper

KINDS = ("node", "simple", "real", "pytorch-converted", "pytorch-operator")


@dataclasses.dataclass
class Case:
    kind: str
    name: str
    suite: object  # the suite's own TestCase

    def model(self):
        if self.suite.model is not None:
            return self.suite.model
        return onnx.load(self._path())

    def data_sets(self, model):
        """[(inputs, expected outputs)], each a list in the order of the graph."""
        if self.suite.data_sets is not None:
            return [tuple([normalised(v) for v in values] for values in data)
                    for data in self.suite.data_sets]
        if self.kind == "real":
            return [self._light_data(model)]
        return [tuple(values_in(folder, what, types) for what, types in
                      (("input", model.graph.input), ("output", model.graph.output)))
                for folder in sorted(glob.glob(f"{self.suite.model_dir}/test_data_set_*"))]

    def _path(self):
        if self.kind == "real":
            return pathlib.Path(onnx.__file__).parent.parent / self.suite.url
        return pathlib.Path(self.suite.model_dir) / "model.onnx"

    def _light_data(self, model):
        """Inputs made as the suite makes them, beside the outputs it ships."""
        from onnx.backend.test.runner import Runner

        weights = {tensor.name for tensor in model.graph.initializer}
        inputs = [Runner.generate_dummy_data(value, name=self.suite.model_name)
                  for value in model.graph.input if value.name not in weights]
        prefix = os.path.splitext(self._path())[0]
        return inputs, [value_in(f"{prefix}_output_{i}.pb", value.type)
                        for i, value in enumerate(model.graph.output)]


def load(kinds=KINDS):
    """All cases of these kinds, by name. Node cases are made in memory, which takes seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        cases = [Case(kind, suite.name, suite)
                 for kind in kinds for suite in load_model_tests(kind=kind)]
    return sorted(cases, key=lambda case: (KINDS.index(case.kind), case.name))


def normalised(value):
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value if isinstance(value, list) or value is None else numpy.asarray(value)


def values_in(folder, what, values):
    count = len(glob.glob(f"{folder}/{what}_*.pb"))
    return [value_in(f"{folder}/{what}_{i}.pb", values[i].type) for i in range(count)]


def value_in(path, type_proto):
    content = pathlib.Path(path).read_bytes()
    if type_proto.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    if type_proto.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
    return numpy_helper.to_array(onnx.TensorProto.FromString(content))
