"""What quantised models compute, by definition: products of dequantised bytes as sums of integers, which are exact
and scaled once by the product of both scales, and every other operation as ONNX says, each result rounded to f32.

    outputs = integer_definition.run(model, feeds)      # {name: array}

onnx's reference evaluator does the work, on a copy of the model whose Conv, Gemm and MatMul nodes between
DequantizeLinear nodes are ConvInteger and MatMulInteger. Averages of bytes are sums of integers too, times f32
of the scale and one of how many there are.
"""

import numpy
from onnx import ModelProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

BYTES = (numpy.uint8, numpy.int8)


def along(array, axis, rank):
    """What has an element for each slice of dimension `axis`, to be broadcast."""
    return array.reshape([-1 if i == axis % rank else 1 for i in range(rank)]) if array.ndim else array


# Of opsets that the evaluator lacks.
class QuantizeLinear(OpRun):
    def _run(self, x, scale, zero, axis=1, **_):
        limits = numpy.iinfo(zero.dtype)
        whole = numpy.rint(x / along(scale, axis, x.ndim)) + along(zero, axis, x.ndim).astype(numpy.float32)
        return (numpy.clip(whole, limits.min, limits.max).astype(zero.dtype),)


class DequantizeLinear(OpRun):
    def _run(self, x, scale, zero=None, axis=1, **_):
        zero = numpy.zeros((), x.dtype) if zero is None else along(zero, axis, x.ndim)
        return ((x.astype(numpy.int32) - zero.astype(numpy.int32)).astype(numpy.float32) * along(scale, axis, x.ndim),)


class Rewriter:
    """Replaces one product after the other; constants are known as arrays."""

    def __init__(self, model):
        self.model = ModelProto()
        self.model.CopyFrom(model)
        graph = self.model.graph
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        self.makers = {name: node for node in graph.node for name in node.output}
        self.nodes = []

    def add(self, op, inputs, output=None, **attributes):
        name = output or f"definition_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def constant(self, array):
        name = f"definition_constant_{len(self.model.graph.initializer)}"
        self.model.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def dequantised(self, name):
        """(bytes, scale, zero point) where `name` is a dequantised tensor; names but for the scale."""
        node = self.makers.get(name)
        if node is None or node.op_type != "DequantizeLinear":
            return None
        zero = node.input[2] if len(node.input) > 2 and node.input[2] else ""
        if not zero or self.constants[zero].dtype not in BYTES:
            return None
        return node.input[0], self.constants[node.input[1]], zero

    def scaled(self, sums, scale, bias, output):
        real = self.add("Cast", [sums], to=1)
        if not bias:
            return self.add("Mul", [real, self.constant(scale)], output)
        return self.add("Add", [self.add("Mul", [real, self.constant(scale)]), bias], output)

    def centred(self, operand):
        """Bytes less their zero points, which are along the first dimension if there are several, as i32."""
        values, _, zero = operand
        rank = self.constants[values].ndim if values in self.constants else 0
        wide = self.constants[zero].astype(numpy.int32)
        if wide.ndim and rank:
            wide = wide.reshape(-1, *[1] * (rank - 1))
        return self.add("Sub", [self.add("Cast", [values], to=6), self.constant(wide)])

    def conv(self, node):
        x, w = (self.dequantised(name) for name in node.input[:2])
        if not x or not w:
            return False
        # f64 holds these sums exactly, whatever their order.
        operands = [self.add("Cast", [self.centred(operand)], to=11) for operand in (x, w)]
        exact = self.add("Conv", operands)
        self.nodes[-1].attribute.extend(node.attribute)
        sums = self.add("Cast", [exact], to=6)
        scale = (x[1] * w[1]).astype(numpy.float32).reshape(-1, 1, 1) if w[1].ndim else x[1] * w[1]
        bias = ""
        if len(node.input) > 2 and node.input[2]:
            bias = self.add("Unsqueeze", [node.input[2], self.constant(numpy.array([1, 2]))])
        self.scaled(sums, numpy.asarray(scale, numpy.float32), bias, node.output[0])
        return True

    def matmul(self, node):
        x, w = (self.dequantised(name) for name in node.input[:2])
        if not x or not w or (w[0] not in self.constants and w[1].ndim):
            return False
        attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
        if attributes.get("alpha", 1) != 1 or attributes.get("beta", 1) != 1 or attributes.get("transA"):
            return False
        if self.constants[w[2]].ndim and self.constants[w[2]].any():
            return False
        second = self.add("Sub", [self.add("Cast", [w[0]], to=6),
                                  self.constant(self.constants[w[2]].astype(numpy.int32).reshape(-1)[:1])])
        if attributes.get("transB"):
            second = self.add("Transpose", [second], perm=[1, 0])
        sums = self.add("MatMul", [self.centred(x), second])
        bias = node.input[2] if len(node.input) > 2 else ""
        self.scaled(sums, numpy.asarray(x[1] * w[1], numpy.float32), bias, node.output[0])
        return True

    def mean(self, node):
        x = self.dequantised(node.input[0])
        if not x:
            return False
        values, axes = self.centred(x), self.constant(numpy.array([2, 3]))
        real = self.add("Cast", [self.add("ReduceSum", [values, axes])], to=1)
        pixels = self.add("ReduceSum", [self.add("Cast", [self.add("Equal", [values, values])], to=11), axes])
        share = self.add("Cast", [self.add("Div", [self.constant(numpy.array(1.0)), pixels])], to=1)
        self.add("Mul", [real, self.add("Mul", [share, self.constant(x[1])])], node.output[0])
        return True

    def average(self, node):
        x = self.dequantised(node.input[0])
        attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
        if not x or any(attributes.get("pads", ())) or attributes.get("ceil_mode"):
            return False
        taps = int(numpy.prod(attributes["kernel_shape"]))
        means = self.add("AveragePool", [self.add("Cast", [self.centred(x)], to=11)], **attributes)
        sums = self.add("Round", [self.add("Mul", [means, self.constant(numpy.array(float(taps)))])])
        self.scaled(sums, x[1] * numpy.float32(1 / taps), "", node.output[0])
        return True

    def rewritten(self):
        ways = {"Conv": self.conv, "Gemm": self.matmul, "MatMul": self.matmul, "GlobalAveragePool": self.mean,
                "AveragePool": self.average}
        for node in self.model.graph.node:
            if node.op_type not in ways or not ways[node.op_type](node):
                self.nodes.append(node)
        del self.model.graph.node[:]
        self.model.graph.node.extend(self.nodes)
        return self.model


def run(model, feeds):
    evaluator = ReferenceEvaluator(Rewriter(model).rewritten(), new_ops=[QuantizeLinear, DequantizeLinear])
    return dict(zip(evaluator.output_names, evaluator.run(None, feeds)))
