"""What a trained model is for: samples, what is true of them, and how much of that it finds."""

import dataclasses
import functools
import importlib.util
import pathlib
import re
from collections.abc import Callable

import numpy
import onnxruntime

CALIBRATION = 32  # samples, the first ones


@dataclasses.dataclass(frozen=True)
class Task:
    """Samples for calibration first, then those to judge by, and what is true of the latter."""

    path: pathlib.Path
    samples: list  # of {input: array}
    truths: list
    what: str  # that is counted
    answer: Callable  # outputs of a sample, as a list -> what the model says
    share: Callable  # answers, truths or answers of another model -> how much of the latter is found

    @property
    def data(self):
        return self.samples[:CALIBRATION]

    @property
    def tests(self):
        return self.samples[CALIBRATION:]

    def answers(self, outputs):
        return [self.answer(each) for each in outputs]


def wheel(package):
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise FileNotFoundError(f"the wheel {package} is not installed")
    return pathlib.Path(spec.submodule_search_locations[0])


def runner(model):
    """A function from a sample to the list of outputs, in ONNX Runtime."""
    session = onnxruntime.InferenceSession(model)
    return lambda sample: session.run(None, sample)


def scaled(mean, deviation):
    def prepare(pixels):
        values = (numpy.asarray(pixels, numpy.float32) / 255 - mean) / deviation
        return numpy.ascontiguousarray(values.astype(numpy.float32).transpose(2, 0, 1)[None])

    return prepare


@functools.cache
def words():
    """Of the licence, which does not change."""
    return re.findall(r"\b[a-z]{2,9}\b", (pathlib.Path(__file__).parents[1] / "LICENSE").read_text(encoding="utf-8"))


def share_of_labels(answers, truths):
    return float(numpy.mean(numpy.concatenate([numpy.atleast_1d(numpy.equal(a, t)) for a, t in zip(answers, truths)])))
