"""PP-OCR's models on text that Pillow draws and on a page that was photographed."""

import collections
import difflib
import functools
import pathlib

import numpy
import onnxruntime
from PIL import Image, ImageDraw, ImageFont
from task import CALIBRATION, Task, scaled, share_of_labels, wheel, words

FONTS = pathlib.Path("/usr/share/fonts")
for_detection = scaled([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
for_reading = scaled(0.5, 0.5)
PAGE = 480, 640
LINE = 48, 320
# What scikit-image's page.png shows in the rows that are sharp.
PHOTOGRAPHED = (
    "Region-based segmentation Let us first determine markers of the coins and the background. These markers are "
    "pixels that we can label unambiguously as either object or background. Here, the markers are found at the two "
    "extreme parts of the histogram of grey values:")
PHOTOGRAPHED_ROWS = 138


def rapidocr(name):
    return wheel("rapidocr_onnxruntime") / "models" / name


def some_font(random, size):
    paths = sorted(FONTS.rglob("*.ttf"))
    return ImageFont.truetype(str(random.choice(paths)), size) if paths else ImageFont.load_default(size)


def unevenly_lit(random, pixels, noise):
    height, width, _ = pixels.shape
    light = numpy.linspace(random.uniform(0.6, 1), 1, width)[None, :, None]
    return numpy.clip(pixels * light + random.normal(0, noise, (height, width, 3)), 0, 255)


def drawn_page(random):
    """Lines of words in several sizes, and the words."""
    height, width = PAGE
    picture = Image.new("RGB", (width, height), (int(random.integers(150, 256)),) * 3)
    draw, y, said = ImageDraw.Draw(picture), int(random.integers(2, 8)), []
    while y < height - 40:
        size, x, line = int(random.integers(20, 36)), int(random.integers(4, 40)), ""
        font = some_font(random, size)
        for word in random.choice(words(), 12):
            if x + font.getlength(f"{line} {word}") < width - 8:
                line = f"{line} {word}".strip()
        draw.text((x, y), line, (int(random.integers(0, 90)),) * 3, font=font)
        said.append(line)
        y += int(size * random.uniform(1.4, 2))
    return unevenly_lit(random, numpy.asarray(picture), 5), " ".join(said)


def photographed_page(random):
    picture = Image.open(wheel("skimage") / "data/page.png").convert("RGB")
    picture = picture.crop((0, 0, picture.width, PHOTOGRAPHED_ROWS))
    width = int(random.integers(520, PAGE[1] + 1))
    picture = picture.resize((width, int(picture.height * width / picture.width)), Image.Resampling.BICUBIC)
    page = Image.new("RGB", PAGE[::-1], (int(random.integers(120, 220)),) * 3)
    page.paste(picture, tuple(int(random.integers(0, PAGE[1 - i] - picture.size[i] + 1)) for i in (0, 1)))
    return unevenly_lit(random, numpy.asarray(page), 3), PHOTOGRAPHED


def regions(mask):
    """The bounding boxes of what hangs together in a picture of truth values: left, top, right, bottom."""
    parents, above = [], []
    boxes = []

    def root(i):
        while parents[i] != i:
            i = parents[i]
        return i

    for y, row in enumerate(mask):
        edges = numpy.flatnonzero(numpy.diff(numpy.concatenate([[0], row, [0]])))
        runs = []
        for left, right in zip(edges[::2], edges[1::2]):
            number = len(parents)
            parents.append(number)
            boxes.append((left, y, right, y + 1))
            for other_left, other_right, other in above:
                if other_left < right and left < other_right:
                    parents[root(other)] = root(number)
            runs.append((left, right, number))
        above = runs
    groups = collections.defaultdict(list)
    for i, box in enumerate(boxes):
        groups[root(i)].append(box)
    return [(*numpy.min(group, 0)[:2], *numpy.max(group, 0)[2:]) for group in groups.values()]


def text_boxes(outputs):
    """As PaddleOCR finds them: what hangs together above 0.3, above 0.5 on average, a little wider."""
    likely = outputs[0][0, 0]
    found = []
    for left, top, right, bottom in regions(likely > 0.3):
        width, height = right - left, bottom - top
        part = likely[top:bottom, left:right]
        if min(width, height) >= 3 and part[part > 0.3].mean() > 0.5:
            more = 1.6 * width * height / (2 * (width + height))
            found.append((max(left - more, 0), max(top - more, 0), right + more, bottom + more))
    return found


def in_reading_order(boxes):
    lines = []
    for box in sorted(boxes, key=lambda box: box[1] + box[3]):
        middle = (box[1] + box[3]) / 2
        if lines and middle < lines[-1][0][3] - 0.3 * (lines[-1][0][3] - lines[-1][0][1]):
            lines[-1].append(box)
        else:
            lines.append([box])
    return [box for line in lines for box in sorted(line)]


def characters(outputs):
    """Numbers of characters, one for each run of the same, without blanks."""
    best = outputs[0][0].argmax(-1)
    return [c for i, c in enumerate(best) if c and (i == 0 or c != best[i - 1])]


@functools.cache
def reading():
    """ppocr_rec in f32, and its alphabet."""
    session = onnxruntime.InferenceSession(rapidocr("ch_PP-OCRv4_rec_infer.onnx"))
    alphabet = ["", *session.get_modelmeta().custom_metadata_map["character"].splitlines(), " "]
    return session, alphabet


def text_of(outputs):
    return "".join(reading()[1][c] for c in characters(outputs)).replace(" ", "")


def page_reader(pages):
    """What the f32 model reads in the boxes that are found on a page."""
    @functools.cache
    def read(page, box):
        part = pages[page].crop(box)
        part = part.resize((max(round(part.width * LINE[0] / part.height), 48), LINE[0]))
        return text_of(reading()[0].run(None, {"x": for_reading(part)}))

    return lambda answers: ["".join(read(page, tuple(map(int, box))) for box in in_reading_order(boxes))
                            for page, boxes in enumerate(answers)]


def share_of_characters(read, truths):
    pairs = [(text.replace(" ", ""), truth.replace(" ", "")) for text, truth in zip(read, truths)]
    same = sum(sum(block.size for block in difflib.SequenceMatcher(None, *pair, False).get_matching_blocks())
               for pair in pairs)
    return same / sum(max(map(len, pair)) for pair in pairs)


def pages(tests=16):
    random = numpy.random.default_rng(1)
    made = [(photographed_page if i % 4 == 3 else drawn_page)(random) for i in range(CALIBRATION + tests)]
    read = page_reader([Image.fromarray(page.astype(numpy.uint8)) for page, _ in made[CALIBRATION:]])

    def share(answers, truths):
        return share_of_characters(read(answers), truths if isinstance(truths[0], str) else read(truths))

    return Task(rapidocr("ch_PP-OCRv4_det_infer.onnx"), [{"x": for_detection(page)} for page, _ in made],
                [text for _, text in made[CALIBRATION:]], "characters on pages", text_boxes, share)


def lines(name, flips, tests=192):
    """Pictures of one line each, every other one upside down if asked for, and what they show."""
    random, (height, width) = numpy.random.default_rng(4), LINE
    samples, truths = [], []
    for i in range(CALIBRATION + tests):
        font, line = some_font(random, 30), " ".join(random.choice(words(), 4))
        while font.getlength(line) > width - 12:
            line = line[:-1]
        picture = Image.new("RGB", (width, height), (int(random.integers(150, 256)),) * 3)
        ImageDraw.Draw(picture).text((6, 4), line, (int(random.integers(0, 90)),) * 3, font=font)
        upside_down = flips and i % 2 == 1
        pixels = unevenly_lit(random, numpy.asarray(picture), 8)
        pixels = (pixels[::-1, ::-1] if upside_down else pixels)[:, :192 if flips else width]
        samples.append({"x": for_reading(pixels)})
        truths.append(int(upside_down) if flips else line)
    answer = (lambda outputs: int(outputs[0].argmax())) if flips else text_of
    return Task(rapidocr(name), samples, truths[CALIBRATION:], "orientations" if flips else "characters", answer,
                share_of_labels if flips else share_of_characters)
