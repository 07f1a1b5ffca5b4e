"""TensorFlow as ONNX, by tf2onnx: what from_tensorflow.py and from_keras.py share."""

import numpy as np
import tensorflow as tf
import tf2onnx
from onnx import numpy_helper
from tf2onnx.handler import tf_op


@tf_op("Erfc")
class Erfc:
    """Keras spells GELU with erfc(x) = 1 - erf(x), which tf2onnx leaves out."""

    @classmethod
    def version_9(cls, graph, node, **_):
        dtype = tf2onnx.utils.map_onnx_to_numpy_type(graph.get_dtype(node.input[0]))
        erf = graph.make_node("Erf", node.input)
        one = graph.make_const(tf2onnx.utils.make_name(node.name), np.array(1, dtype))
        graph.remove_node(node.name)
        graph.make_node("Sub", [one.output[0], erf.output[0]], outputs=node.output, name=node.name)


def convert(function, inputs):
    """The ONNX model of a TensorFlow function whose inputs are TensorSpecs; sizes that are None stay open."""
    function = tf.function(function)
    model, _ = tf2onnx.convert.from_function(function, input_signature=inputs, opset=18)
    # Tensors that the function holds, such as the means of a normalisation, come out as inputs.
    captures = function.get_concrete_function(*inputs).graph.captures
    held = {inner.name: outer for outer, inner in captures if outer.dtype != tf.resource}
    for value in [value for value in model.graph.input if value.name in held]:
        model.graph.initializer.append(numpy_helper.from_array(held[value.name].numpy(), value.name))
        model.graph.input.remove(value)
    return model
