"""An ONNX model while it is written, as the bytes of a ModelProto: no onnx package is needed.

Weights are declared without their bytes; the parser is given them by address.
"""

from __future__ import annotations

import struct

OPSET = 23
_IR_VERSION = 11
_FLOAT, _INT, _STRING, _INTS = 1, 2, 3, 7  # AttributeProto's types that are used here

# TensorProto's numbers of element types, by PyTorch's names of them.
ELEMENT_TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
    "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16, "float8_e4m3fn": 17,
    "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20,
}


def _varint(value):
    value &= (1 << 64) - 1  # negative numbers have ten bytes
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, data):
    data = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _attribute(name, value):
    body = _bytes(1, name)
    if isinstance(value, float):
        return body + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, _FLOAT)
    if isinstance(value, int):
        return body + _number(3, int(value)) + _number(20, _INT)
    if isinstance(value, str):
        return body + _bytes(4, value) + _number(20, _STRING)
    return body + b"".join(_number(8, int(part)) for part in value) + _number(20, _INTS)


def _value_info(name, element_type, shape):
    dims = b"".join(_bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size))
                    for size in shape)
    tensor = _number(1, element_type) + _bytes(2, dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


class Model:
    """Nodes, inputs, outputs and weights in the order in which they were added."""

    def __init__(self):
        self._nodes, self._inputs, self._outputs, self._initializers = [], [], [], []
        self._count = 0

    def new_name(self):
        self._count += 1
        return f"t{self._count}"

    def add_input(self, name, element_type, shape):
        """Sizes are numbers, or names of those that only a run knows."""
        self._inputs.append(_value_info(name, element_type, shape))

    def add_output(self, name, element_type, shape):
        self._outputs.append(_value_info(name, element_type, shape))

    def add_weight(self, name, element_type, shape, data=b""):
        dims = b"".join(_number(1, size) for size in shape)
        self._initializers.append(dims + _number(2, element_type) + _bytes(8, name)
                                  + (_bytes(9, data) if data else b""))

    def add_node(self, label, op, inputs, outputs, attributes):
        """`label` is what messages about the node call it; an input left out is None."""
        self._nodes.append(
            b"".join(_bytes(1, name or "") for name in inputs)
            + b"".join(_bytes(2, name) for name in outputs) + _bytes(3, label) + _bytes(4, op)
            + b"".join(_bytes(5, _attribute(*item)) for item in attributes.items()
                       if item[1] is not None))

    def serialize(self):
        graph = (b"".join(_bytes(1, node) for node in self._nodes) + _bytes(2, "camshaft.torch")
                 + b"".join(_bytes(5, tensor) for tensor in self._initializers)
                 + b"".join(_bytes(11, value) for value in self._inputs)
                 + b"".join(_bytes(12, value) for value in self._outputs))
        return _number(1, _IR_VERSION) + _bytes(7, graph) + _bytes(8, _number(2, OPSET))
