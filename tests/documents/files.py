"""What the documents' snippets find in their folder. A page names what it wants in a comment:

    <!-- with: model.onnx, pictures/ -->
"""

import importlib.util
import pathlib
import shutil

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

random = numpy.random.default_rng(7)


def weights(name, *shape):
    return numpy_helper.from_array(random.standard_normal(shape, dtype=numpy.float32) / 8, name)


def save(path, graph):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def classifier(path):
    """Pictures of 32 x 32, in batches of any size: x -> y, ten classes."""
    node, value = helper.make_node, helper.make_tensor_value_info
    save(path, helper.make_graph(
        [node("Conv", ["x", "w1", "b1"], ["c1"], name="conv1", pads=[1, 1, 1, 1]),
         node("Relu", ["c1"], ["r1"], name="relu1"),
         node("MaxPool", ["r1"], ["p1"], name="pool1", kernel_shape=[2, 2], strides=[2, 2]),
         node("Conv", ["p1", "w2"], ["c2"], name="conv2", pads=[1, 1, 1, 1]),
         node("Relu", ["c2"], ["r2"], name="relu2"),
         node("GlobalAveragePool", ["r2"], ["g"], name="pool2"),
         node("Flatten", ["g"], ["f"], name="flatten"),
         node("Gemm", ["f", "w3"], ["y"], name="head")],
        "classifier", [value("x", TensorProto.FLOAT, ["batch", 3, 32, 32])],
        [value("y", TensorProto.FLOAT, ["batch", 10])],
        [weights("w1", 16, 3, 3, 3), weights("b1", 16), weights("w2", 32, 16, 3, 3), weights("w3", 32, 10)]))


def language_model(path):
    """A product over features: x -> y, with a matrix large enough for blocks of 128."""
    value = helper.make_tensor_value_info
    save(path, helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="project")], "language model",
        [value("x", TensorProto.FLOAT, ["tokens", 256])], [value("y", TensorProto.FLOAT, ["tokens", 512])],
        [weights("w", 256, 512)]))


def pictures(folder):
    from PIL import Image  # not on every machine with a GPU

    folder.mkdir()
    for i in range(8):
        Image.fromarray(random.integers(0, 255, (32, 32, 3), numpy.uint8)).save(folder / f"{i}.png")


def arrays(folder):
    folder.mkdir()
    for i in range(8):
        numpy.save(folder / f"{i}.npy", random.standard_normal((1, 3, 32, 32), dtype=numpy.float32))


def recognition(path):
    package = pathlib.Path(importlib.util.find_spec("rapidocr_onnxruntime").origin).parent
    shutil.copy(package / "models/ch_PP-OCRv4_rec_infer.onnx", path)


MAKERS = {
    "model.onnx": classifier,
    "llm.onnx": language_model,
    "pictures/": pictures,
    "data/": arrays,
    ".cache/ocr/recognition.onnx": recognition,
}


def make(name, folder):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    MAKERS[name](path)
