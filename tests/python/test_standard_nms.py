"""TensorRT's plugins for non-maximum suppression beside a plain loop over the boxes."""

import math

import numpy
import pytest
from plugin_models import floats, random, run


def corners(box, centred):
    if not centred:
        return numpy.asarray(box, numpy.float32)
    x, y, w, h = box
    return numpy.array([x - w / 2, y - h / 2, x + w / 2, y + h / 2], numpy.float32)


def overlap(a, b, more=0):
    low, high = numpy.minimum(a[:2], a[2:]), numpy.maximum(a[:2], a[2:]) + more
    low2, high2 = numpy.minimum(b[:2], b[2:]), numpy.maximum(b[:2], b[2:]) + more
    extent = numpy.minimum(high, high2) - numpy.maximum(low, low2)
    if (extent <= 0).any():
        return 0.0
    common = extent.prod()
    return common / ((high - low).prod() + (high2 - low2).prod() - common)


def suppressed(boxes, scores, limit, drops, counts, agnostic=False, more=0, background=-1):
    """Per image (score, class, box) of what is left, best first; `boxes` are corners by (box, class)."""
    results = []
    for image in range(len(scores)):
        candidates = sorted(
            ((scores[image, b, c], c, b) for b in range(scores.shape[1]) for c in range(scores.shape[2])
             if counts(scores[image, b, c]) and c != background), key=lambda one: -one[0])
        kept = []
        for score, c, b in candidates:
            box = boxes(image, b, c)
            if not any((agnostic or c == other) and drops(overlap(box, boxes(image, at, other), more))
                       for _, other, at in kept):
                kept.append((score, c, b))
        results.append(kept[:limit])
    return results


def expect_detections(results, wanted, boxes, limit, no_class=0, counts_shape=None, score=lambda s: s):
    counts, found, scores, classes = results
    images = len(wanted)
    assert counts.shape == (counts_shape or (images, 1)) and counts.dtype == numpy.int32
    assert found.shape == (images, limit, 4) and scores.shape == classes.shape == (images, limit)
    for i, kept in enumerate(wanted):
        assert counts.reshape(-1)[i] == len(kept)
        n = len(kept)
        numpy.testing.assert_allclose(scores[i, :n], [score(s) for s, _, _ in kept], atol=1e-5)
        numpy.testing.assert_array_equal(classes[i, :n], [c for _, c, _ in kept])
        numpy.testing.assert_allclose(found[i, :n].reshape(-1, 4),
                                      numpy.reshape([boxes(i, b, c) for _, c, b in kept], (-1, 4)), atol=1e-5)
        assert (found[i, n:] == 0).all() and (scores[i, n:] == 0).all() and (classes[i, n:] == no_class).all()


def scene(images, count, classes, per_class=False, centred=False):
    shape = (images, count, classes) if per_class else (images, count)
    place, size = random.random((*shape, 2)), 0.05 + 0.4 * random.random((*shape, 2))
    second = size if centred else place + size
    boxes = numpy.concatenate([place, second], -1).astype(numpy.float32)
    return boxes, random.random((images, count, classes)).astype(numpy.float32)


@pytest.mark.parametrize("per_class, centred, agnostic, background, limit", [
    (False, False, False, -1, 7), (False, True, False, 1, 40), (True, False, False, -1, 11),
    (False, False, True, -1, 9), (True, True, True, 0, 13), (False, False, False, 0, 300)])
def test_efficient_nms(per_class, centred, agnostic, background, limit):
    boxes, scores = scene(3, 37, 3, per_class, centred)

    def at(image, b, c):
        return corners(boxes[image, b, c] if per_class else boxes[image, b], centred)

    results = run("EfficientNMS_TRT", boxes, scores, outputs=4, score_threshold=0.3, iou_threshold=0.4,
                  max_output_boxes=limit, background_class=background, score_activation=0, box_coding=int(centred),
                  class_agnostic=int(agnostic), plugin_version="1")
    wanted = suppressed(at, scores, limit, lambda iou: iou >= 0.4, lambda s: s >= numpy.float32(0.3), agnostic,
                        background=background)
    assert any(wanted)
    expect_detections(results, wanted, at, limit)


def test_efficient_nms_thresholds_are_inclusive():
    """A score at its threshold stays, a box whose overlap is at the threshold goes."""
    boxes = numpy.array([[[0, 0, 1, 1], [0.5, 0, 1.5, 1], [0, 0.5, 1, 1], [3, 3, 4, 4]]], numpy.float32)
    scores = numpy.array([[[0.5], [0.75], [0.7], [0.4999]]], numpy.float32)
    fields = {"score_threshold": [0.5], "max_output_boxes": [5], "box_coding": 0}  # lists of one are numbers too
    counts, _, found, _ = run("EfficientNMS_TRT", boxes, scores, outputs=4, iou_threshold=0.5, **fields)
    assert counts.tolist() == [[2]] and found.tolist() == [[0.75, numpy.float32(0.7), 0, 0, 0]]
    counts, _, found, _ = run("EfficientNMS_TRT", boxes, scores, outputs=4, iou_threshold=0.51, **fields)
    assert counts.tolist() == [[3]] and found[0, 2] == 0.5


def test_efficient_nms_of_logits_and_anchors():
    boxes, scores = floats(2, 21, 4, scale=0.3), floats(2, 21, 2)
    anchors = numpy.concatenate([random.random((1, 21, 2)), 0.1 + random.random((1, 21, 2))], -1).astype(numpy.float32)
    centres = boxes[..., :2] * anchors[..., 2:] + anchors[..., :2]
    decoded = numpy.concatenate([centres, numpy.exp(boxes[..., 2:]) * anchors[..., 2:]], -1)

    def at(image, b, _):
        return corners(decoded[image, b], True)

    def sigmoid(x):
        return 1 / (1 + math.exp(-x))

    results = run("EfficientNMS_TRT", boxes, scores, anchors, outputs=4, score_threshold=0.6, iou_threshold=0.5,
                  max_output_boxes=10, background_class=-1, score_activation=1, box_coding=1)
    wanted = suppressed(at, scores, 10, lambda iou: iou >= 0.5, lambda s: sigmoid(s) >= 0.6)
    expect_detections(results, wanted, at, 10, score=sigmoid)


def test_efficient_nms_without_results():
    boxes, scores = scene(2, 5, 2)
    counts, found, kept, classes = run("EfficientNMS_TRT", boxes, scores, outputs=4, score_threshold=2.0,
                                       iou_threshold=0.5, max_output_boxes=6)
    assert counts.tolist() == [[0], [0]]
    assert not found.any() and not kept.any() and not classes.any()


def test_efficient_nms_in_half_precision():
    boxes, scores = (value.astype(numpy.float16) for value in scene(1, 12, 2))
    results = run("EfficientNMS_TRT", boxes, scores, outputs=4, score_threshold=0.25, iou_threshold=0.5,
                  max_output_boxes=4)
    assert [value.dtype for value in results] == [numpy.int32, numpy.float16, numpy.float16, numpy.int32]


@pytest.mark.parametrize("name", ["EfficientNMS_Explicit_TF_TRT", "EfficientNMS_Implicit_TF_TRT"])
@pytest.mark.parametrize("pads", [0, 1])
def test_efficient_nms_of_tensorflow(name, pads):
    boxes, scores = scene(2, 30, 3, per_class=True)
    boxes -= numpy.float32(0.2)
    limit = 6 if pads else 50

    def at(image, b, c):
        return boxes[image, b, c]

    results = run(name, boxes, scores, outputs=4, max_output_size_per_class=2, max_total_size=50, iou_threshold=0.4,
                  score_threshold=0.2, pad_per_class=pads, clip_boxes=1)
    full = suppressed(at, scores, 1000, lambda iou: iou >= 0.4, lambda s: s >= numpy.float32(0.2))
    wanted = []
    for kept in full:
        counts = [0, 0, 0]
        best = []
        for one in kept:
            counts[one[1]] += 1
            if counts[one[1]] <= 2:
                best.append(one)
        wanted.append(best[:limit])
    expect_detections(results, wanted, lambda i, b, c: numpy.clip(at(i, b, c), 0, 1), limit,
                      counts_shape=(2,) if "Implicit" in name else None)


def test_efficient_nms_of_onnx():
    boxes, scores = scene(2, 15, 2)
    indices = run("EfficientNMS_ONNX_TRT", boxes, scores, score_threshold=0.4, iou_threshold=0.3,
                  max_output_boxes_per_class=4, center_point_box=0)
    assert indices.shape == (16, 3) and indices.dtype == numpy.int32
    kept = suppressed(lambda i, b, _: boxes[i, b], scores, 1000, lambda iou: iou >= 0.3,
                      lambda s: s >= numpy.float32(0.4))
    wanted = [(i, c, b) for i in range(2) for c in range(2)
              for b in [b for _, own, b in kept[i] if own == c][:4]]
    assert [tuple(row) for row in indices[:len(wanted)]] == wanted
    assert (indices[len(wanted):] == wanted[-1]).all()
    nothing = run("EfficientNMS_ONNX_TRT", boxes, scores, score_threshold=2.0, iou_threshold=0.3,
                  max_output_boxes_per_class=4)
    assert (nothing == -1).all()


@pytest.mark.parametrize("name", ["BatchedNMS_TRT", "BatchedNMSDynamic_TRT"])
@pytest.mark.parametrize("shared, normalized, top", [(1, 1, 100), (0, 1, 20), (1, 0, 6)])
def test_batched_nms(name, shared, normalized, top):
    boxes, scores = scene(2, 23, 3, per_class=not shared)
    scale = 1 if normalized else 40
    boxes = boxes * numpy.float32(scale)
    if shared:
        boxes = boxes[:, :, None]

    def at(image, b, c):
        return boxes[image, b, 0 if shared else c]

    results = run(name, boxes, scores, outputs=4, shareLocation=shared, backgroundLabelId=0, numClasses=3, topK=top,
                  keepTopK=17, scoreThreshold=0.25, iouThreshold=0.3, isNormalized=normalized, clipBoxes=normalized)
    best = scores.copy()  # those of each class that count
    for image in range(2):
        for c in range(3):
            order = numpy.argsort(-scores[image, :, c])
            best[image, order[top:], c] = -1
    wanted = suppressed(at, best, 17, lambda iou: iou > 0.3, lambda s: s > 0.25, more=0 if normalized else 1,
                        background=0)
    expect_detections(results, wanted, (lambda i, b, c: numpy.clip(at(i, b, c), 0, 1)) if normalized else at, 17, -1,
                      (2,) if name == "BatchedNMS_TRT" else None)
    assert results[3].dtype == numpy.float32
