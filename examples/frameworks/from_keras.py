"""A Keras model as an engine: from_keras.py [MODEL.keras] [-o ENGINE]

Keras 3 on TensorFlow. Without a model one is made, trained for a moment and saved first. The engine takes batches of
1 to 16 and must agree with Keras.
"""

import argparse
import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
import numpy as np
import tensorflow as tf
from tensorflow_models import convert

import camshaft


def made_model():
    """Tells pictures with a bright left half from those with a bright right half."""
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((32, 32, 3)), layers.Conv2D(16, 3, strides=2, padding="same", activation="gelu"),
        layers.DepthwiseConv2D(3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
        layers.Flatten(), layers.Dense(2, activation="softmax")])
    random = np.random.default_rng(1)
    pictures = random.random((256, 32, 32, 3), np.float32)
    sides = random.integers(0, 2, 256)
    for picture, side in zip(pictures, sides):
        picture[:, 16 * side:16 * side + 16] += 0.5
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(pictures, sides, epochs=3, verbose=0)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("model.engine"))
    arguments = parser.parse_args()
    if arguments.model is None:
        arguments.model = pathlib.Path(tempfile.mkdtemp()) / "made.keras"
        made_model().save(arguments.model)
    model = keras.models.load_model(arguments.model)

    specs = [tf.TensorSpec([None, *value.shape[1:]], value.dtype, name=f"input_{i}")
             for i, value in enumerate(model.inputs)]
    onnx_model = convert(lambda *values: model(list(values) if len(values) > 1 else values[0], training=False), specs)
    shapes = {spec.name: {name: (batch, *spec.shape[1:]) for name, batch in (("min", 1), ("opt", 4), ("max", 16))}
              for spec in specs}
    session = camshaft.load(camshaft.build(onnx_model, arguments.output, shapes=shapes))

    random = np.random.default_rng(2)
    for batch in (1, 4, 7):
        feeds = [random.random((batch, *spec.shape[1:])).astype(spec.dtype.as_numpy_dtype) for spec in specs]
        wanted = np.asarray(model(feeds if len(feeds) > 1 else feeds[0], training=False))
        found = next(iter(session(*feeds).values()))
        error = np.abs(found - wanted).max() / np.abs(wanted).max()
        print(f"batch {batch}: differs from Keras by {error:.1e} of the largest value")
        if error > 1e-4:
            raise SystemExit("the engine is not what the model is")
    print(f"{arguments.output}: {arguments.output.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
