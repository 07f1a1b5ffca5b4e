"""Models of one node that names a plugin."""

import numpy
from building import build
from onnx import TensorProto, helper

import camshaft as trt

random = numpy.random.default_rng(13)
TYPES = {numpy.dtype(name): code for name, code in (
    ("float32", TensorProto.FLOAT), ("float16", TensorProto.FLOAT16), ("int64", TensorProto.INT64),
    ("int32", TensorProto.INT32))}


def floats(*shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(numpy.float32)


def run(operator, *inputs, outputs=1, dynamic=True, **fields):
    """The results of one node; without `dynamic` the engine is for these shapes alone."""
    feeds = {f"i{k}": value for k, value in enumerate(inputs)}
    results = [f"o{k}" for k in range(outputs)]

    def sizes(name, value):
        # Channels and what lies behind them are known in real models.
        return [f"{name}_0", *value.shape[1:]] if dynamic and value.ndim > 1 else value.shape

    graph = helper.make_graph(
        [helper.make_node(operator, list(feeds), results, domain="trt.plugins", name="node", **fields)], "g",
        [helper.make_tensor_value_info(name, TYPES[value.dtype], sizes(name, value)) for name, value in feeds.items()],
        [helper.make_empty_tensor_value_info(name) for name in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    engine = build(model.SerializeToString(), [{name: value.shape for name, value in feeds.items()}])
    found = trt.infer(engine, feeds)
    return [found[name] for name in results] if outputs > 1 else found["o0"]
