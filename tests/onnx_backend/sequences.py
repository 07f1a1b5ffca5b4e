"""Models that take or give sequences and optionals, rewritten to take and give tensors.

An engine's inputs and outputs are tensors. Sequences of known length are made of tensor inputs
with SequenceConstruct, as elements need not be alike then; the parser itself names the elements of
an output sequence y_0, y_1 and so on, or gives them as one tensor where the run decides how many
they are.
"""

import numpy
import onnx
from onnx import helper


def has_sequences(data_set):
    return any(isinstance(value, list) or value is None for values in data_set for value in values)


def take_apart(model, data_set, input_names):
    """The rewritten model, its data and the names of its outputs."""
    inputs, expected = data_set
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    graph = copy.graph
    data, made = {}, []
    for name, value in zip(input_names, inputs):
        elements = elements_of(name, value)
        data |= elements
        if name in elements:
            continue
        declared = next(v for v in graph.input if v.name == name)
        made.append(construct(declared, elements, value is None))
        graph.input.remove(declared)
        graph.input.extend(tensor_info(*element) for element in elements.items())
    nodes = made + list(graph.node)
    del graph.node[:]
    graph.node.extend(nodes)
    results = {}
    for info, value in zip(graph.output, expected):
        results |= elements_of(info.name, value)
    tensors = [data[value.name] for value in graph.input if value.name in data]
    return copy, (tensors, list(results.values())), list(results)


def elements_of(name, value):
    """{name: tensor} of a tensor, or of the elements of a sequence."""
    if value is None:
        return {}
    if isinstance(value, list):
        return {f"{name}_{i}": numpy.asarray(element) for i, element in enumerate(value)}
    return {name: value}


def output_of(outputs, name):
    """An output, or an element of one that has them all."""
    if name in outputs:
        return outputs[name]
    sequence, _, position = name.rpartition("_")
    return outputs[sequence][int(position)]


def construct(declared, elements, is_nothing):
    """The node that makes what was an input."""
    if is_nothing:
        held = declared.type.optional_type.elem_type
        return helper.make_node("Optional", [], [declared.name], type=held)
    if elements:
        return helper.make_node("SequenceConstruct", list(elements), [declared.name])
    held = declared.type
    while not held.HasField("sequence_type"):
        held = held.optional_type.elem_type
    element = held.sequence_type.elem_type.tensor_type.elem_type
    return helper.make_node("SequenceEmpty", [], [declared.name], dtype=element)


def tensor_info(name, value):
    element = helper.np_dtype_to_tensor_dtype(value.dtype)
    return helper.make_tensor_value_info(name, element, value.shape)
