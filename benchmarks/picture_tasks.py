"""A model that finds people's faces, on photographs with faces at places that are known."""

import functools

import numpy
from PIL import Image
from task import CALIBRATION, Task, scaled, wheel

# Where faces are in pictures: left, top, right, bottom, and a square around that shows one of them. The places are
# those that nudenet in f32 finds in the squares enlarged, looked over by eye, so its edges of boxes count as the truth.
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
