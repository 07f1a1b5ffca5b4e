"""A SavedModel as an engine: from_tensorflow.py [FOLDER] [-o ENGINE] [--signature serving_default]

Without a folder a small one is made first. Sizes that the signature leaves open may be 1 to 64, and the engine must
agree with TensorFlow.
"""

import argparse
import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow_models import convert

import camshaft


class Regression(tf.Module):
    """Rows of eight features, any number of them."""

    def __init__(self):
        super().__init__()
        self.weights = tf.Variable(tf.random.stateless_normal((8, 3), seed=(1, 2)))

    @tf.function(input_signature=[tf.TensorSpec([None, 8], name="features")])
    def __call__(self, features):
        return {"scores": tf.nn.softmax(tf.nn.relu(features) @ self.weights)}


def sized(spec, size):
    return [size if dim is None else dim for dim in spec.shape]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("model.engine"))
    parser.add_argument("--signature", default="serving_default")
    arguments = parser.parse_args()
    if arguments.folder is None:
        arguments.folder = tempfile.mkdtemp()
        module = Regression()
        tf.saved_model.save(module, arguments.folder, signatures=module.__call__)

    model = tf.saved_model.load(arguments.folder)
    function = model.signatures[arguments.signature]
    specs = list(function.structured_input_signature[1].values())
    outputs = list(function.structured_outputs)
    onnx_model = convert(lambda *values: list(function(**{spec.name: value for spec, value in zip(specs, values)})
                                              .values()), specs)
    shapes = {spec.name: {"min": sized(spec, 1), "opt": sized(spec, 8), "max": sized(spec, 64)} for spec in specs}
    session = camshaft.load(camshaft.build(onnx_model, arguments.output, shapes=shapes))

    random = np.random.default_rng(2)
    for size in (1, 8, 13):
        feeds = {spec.name: random.standard_normal(sized(spec, size)).astype(spec.dtype.as_numpy_dtype)
                 for spec in specs}
        wanted = function(**{name: tf.constant(value) for name, value in feeds.items()})
        for name, found in zip(outputs, session(feeds).values()):
            error = np.abs(found - wanted[name]).max() / np.abs(wanted[name]).max()
            print(f"size {size}, {name}: differs from TensorFlow by {error:.1e} of the largest value")
            if error > 1e-4:
                raise SystemExit("the engine is not what the model is")
    print(f"{arguments.output}: {arguments.output.stat().st_size / 2**10:.0f} KiB")


if __name__ == "__main__":
    main()
