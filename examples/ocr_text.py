"""From pixels to the inputs of PP-OCR's two models, and from their outputs to lines and text."""

import dataclasses

import numpy
import onnx
from PIL import Image

LINE_HEIGHT = 48  # pixels, what recognition was trained on
THRESHOLD = 0.3  # a pixel is text above this probability
UNCLIP = 1.6  # detection marks shrunken lines; they grow back by area · UNCLIP / perimeter
SURE = 0.5  # what is less probable on average is dropped


def pixels(image):
    """The picture as f32[1, 3, height, width] in -1…1, blue first as the models were trained."""
    values = numpy.asarray(image, numpy.float32)[:, :, ::-1] / 127.5 - 1
    return numpy.ascontiguousarray(values.transpose(2, 0, 1)[None])


def enlarge(image, shorter_side=480):
    """The picture with both sides multiples of 32, larger if its print is small."""
    scale = max(1, shorter_side / min(image.size))
    return image.resize([max(32, round(side * scale / 32) * 32) for side in image.size])


@dataclasses.dataclass
class Line:
    """A line of text on the picture: a parallelogram with upright sides, since pages lie askew."""

    left: float
    top: float  # at its left side
    width: float
    height: float
    slope: float

    def cut(self, image):
        """The line as a picture of its own, straight, with the height that recognition takes."""
        scale = self.height / LINE_HEIGHT
        return image.transform((max(LINE_HEIGHT, round(self.width / scale)), LINE_HEIGHT),
                               Image.Transform.AFFINE,
                               (scale, 0, self.left, self.slope * scale, scale, self.top),
                               Image.Resampling.BICUBIC)


def lines(probability, size):
    """The lines of text on a picture of this size, from top to bottom."""
    scale = size[0] / probability.shape[1]
    found = []
    for y, x in regions(probability > THRESHOLD):
        if numpy.ptp(x) < 8 or numpy.ptp(y) < 2 or probability[y, x].mean() < SURE:
            continue
        slope, offset = numpy.polyfit(x, y, 1)
        above, below = numpy.quantile(y - slope * x - offset, (0.01, 0.99))
        wide, tall = numpy.ptp(x) + 1, below - above + 1
        grow = wide * tall * UNCLIP / (2 * (wide + tall))
        left = x.min() - grow
        top = slope * left + offset + above - grow
        found.append(Line(left * scale, top * scale, (wide + 2 * grow) * scale,
                          (tall + 2 * grow) * scale, slope))
    return sorted(found, key=lambda line: (line.top + line.slope * line.width / 2, line.left))


def regions(mask):
    """The pixels (rows, columns) of each connected region of a mask: runs of set pixels, row by
    row, each joined with the runs it touches in the row above."""
    runs, parent, above = [], [], []

    def root(run):
        while parent[run] != run:
            run = parent[run]
        return run

    for row, values in enumerate(mask):
        edges = numpy.flatnonzero(numpy.diff(values, prepend=False, append=False)).tolist()
        current = range(len(runs), len(runs) + len(edges) // 2)
        for start, end in zip(edges[::2], edges[1::2]):
            run = len(runs)
            runs.append((row, start, end))
            parent.append(run)
            for other in above:
                if runs[other][1] < end and start < runs[other][2]:
                    parent[root(run)] = root(other)
        above = current
    joined = {}
    for run, (row, start, end) in enumerate(runs):
        joined.setdefault(root(run), []).append((row, start, end))
    for parts in joined.values():
        yield (numpy.concatenate([numpy.full(end - start, row) for row, start, end in parts]),
               numpy.concatenate([numpy.arange(start, end) for _, start, end in parts]))


def alphabet(model):
    """The characters of a recognition model, from its metadata; class 0 is "nothing"."""
    metadata = {entry.key: entry.value for entry in onnx.load(model).metadata_props}
    return ["", *metadata["character"].splitlines(), " "]


def decode(probability, characters):
    """The text in f32[steps, classes] and its confidence: best class per step, repeats merged."""
    best = probability.argmax(1)
    new = (best != 0) & (numpy.diff(best, prepend=-1) != 0)
    text = "".join(characters[index] for index in best[new])
    return text, float(probability.max(1)[new].mean()) if text else 0.0
