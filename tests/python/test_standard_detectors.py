"""TensorRT's plugins of detectors (SSD, Faster and Mask R-CNN, PointPillars) beside plain loops."""

import math

import numpy
import pytest
from plugin_models import floats, random, run
from test_standard_nms import expect_detections, overlap, suppressed
from test_standard_plugins import bilinear

# SSD


@pytest.mark.parametrize("name, shapes", [("GridAnchor_TRT", [4, 3, 1]), ("GridAnchorRect_TRT", [4, 2, 3, 3, 1, 2])])
def test_grid_anchor(name, shapes):
    ratios, variance = [1.0, 2.0, 0.5, 3.0], [0.1, 0.1, 0.2, 0.3]
    found = run(name, outputs=3, minSize=0.2, maxSize=0.8, aspectRatios=ratios, featureMapShapes=shapes,
                variance=variance, numLayers=3)
    scales = [0.2, 0.5, 0.8, 1.0]
    for i, output in enumerate(found):
        rows, columns = shapes[2 * i:2 * i + 2] if "Rect" in name else (shapes[i], shapes[i])
        boxes = [(0.1, 1.0), (0.2, 2.0), (0.2, 0.5)] if i == 0 else [
            *((scales[i], ratio) for ratio in ratios), (math.sqrt(scales[i] * scales[i + 1]), 1.0)]
        wanted = []
        for y, x, (scale, ratio) in ((y, x, box) for y in range(rows) for x in range(columns) for box in boxes):
            centre = numpy.array([(x + 0.5) / columns, (y + 0.5) / rows])
            half = numpy.array([scale * math.sqrt(ratio), scale / math.sqrt(ratio)]) / 2
            wanted.append([*(centre - half), *(centre + half)])
        assert output.shape == (1, 2, rows * columns * len(boxes) * 4, 1)
        numpy.testing.assert_allclose(output[0, 0].reshape(-1, 4), wanted, atol=1e-6)
        numpy.testing.assert_allclose(output[0, 1].reshape(-1, 4), [variance] * len(wanted), atol=1e-6)


@pytest.mark.parametrize("given", [{}, {"imgH": 40, "imgW": 30, "stepH": 7.0, "stepW": 9.0, "clip": 1},
                                   {"maxSize": [20.0, 30.0], "flip": 1}])
def test_prior_box(given):
    x, image = floats(2, 3, 3, 4), floats(2, 3, 24, 32)
    least, ratios, variance = [10.0, 18.0], [2.0, 1.0, 3.0], [0.1, 0.2, 0.3, 0.4]
    found = run("PriorBox_TRT", x, image, minSize=least, aspectRatios=ratios, variance=variance, offset=0.5, **given)
    extent = numpy.array([given.get("imgW", 32), given.get("imgH", 24)])
    step = numpy.array([given.get("stepW", extent[0] / 4), given.get("stepH", extent[1] / 3)])
    wanted = []
    for j, i in numpy.ndindex(3, 4):
        for k, size in enumerate(least):
            sizes = [(size, size)]
            if "maxSize" in given:
                sizes.append((math.sqrt(size * given["maxSize"][k]),) * 2)
            for ratio in (2.0, 3.0):
                for one in (ratio, 1 / ratio) if given.get("flip") else (ratio,):
                    sizes.append((size * math.sqrt(one), size / math.sqrt(one)))
            for one in sizes:
                centre, half = (numpy.array([i, j]) + 0.5) * step, numpy.array(one) / 2
                wanted.append([*((centre - half) / extent), *((centre + half) / extent)])
    wanted = numpy.clip(wanted, 0, 1) if given.get("clip") else numpy.array(wanted)
    assert found.shape == (2, 2, wanted.size, 1)
    for n in range(2):
        numpy.testing.assert_allclose(found[n, 0].reshape(-1, 4), wanted, atol=1e-5)
        numpy.testing.assert_allclose(found[n, 1].reshape(-1, 4), [variance] * len(wanted), atol=1e-6)


def decoded_prior(code, correction, prior, variance, encoded):
    correction = numpy.array(correction, numpy.float64)
    size, centre = prior[2:] - prior[:2], (prior[:2] + prior[2:]) / 2
    if code == 3:
        correction = correction[[1, 0, 3, 2]]
    if code == 3 or not encoded:
        correction = correction * variance
    if code == 0:
        return prior + correction
    if code == 2:
        return prior + correction * numpy.tile(size, 2)
    centre, size = correction[:2] * size + centre, numpy.exp(correction[2:]) * size
    return numpy.concatenate([centre - size / 2, centre + size / 2])


@pytest.mark.parametrize("name, code, shared, encoded, sigmoid, top", [
    ("NMS_TRT", 0, 1, 1, 0, 100), ("NMS_TRT", 1, 1, 0, 0, 5), ("NMSDynamic_TRT", 2, 0, 0, 1, 100),
    ("NMSDynamic_TRT", 3, 1, 1, 1, 100)])
def test_ssd_nms(name, code, shared, encoded, sigmoid, top):
    images, boxes, classes, keep = 2, 14, 3, 9
    sets = 1 if shared else classes
    low = random.random((images, boxes, 2)) * 0.6
    priors = numpy.concatenate([low, low + 0.1 + 0.3 * random.random((images, boxes, 2))], -1)
    variance = 0.1 + random.random((images, boxes, 4))
    given = numpy.stack([priors, variance], 1).reshape(images, 2, boxes * 4, 1).astype(numpy.float32)
    corrections, scores = floats(images, boxes * sets * 4, 1, 1, scale=0.3), floats(images, boxes * classes, 1, 1)
    found, counts = run(name, corrections, given, scores, outputs=2, shareLocation=shared, numClasses=classes,
                        varianceEncodedInTarget=encoded, backgroundLabelId=0, topK=top, keepTopK=keep,
                        confidenceThreshold=0.2, nmsThreshold=0.3, codeType=code, confSigmoid=sigmoid, isNormalized=1,
                        dynamic=False)
    split = corrections.reshape(images, boxes, sets, 4)

    def at(image, b, c):
        own = image if name == "NMSDynamic_TRT" else 0  # otherwise priors are those of the first image
        return decoded_prior(code, split[image, b, 0 if shared else c], priors[own, b], variance[own, b], encoded)

    table = scores.reshape(images, boxes, classes)
    table = 1 / (1 + numpy.exp(-table)) if sigmoid else table.copy()
    for image, c in numpy.ndindex(images, classes):
        table[image, numpy.argsort(-table[image, :, c])[top:], c] = -1
    wanted = suppressed(at, table, keep, lambda iou: iou > 0.3, lambda s: s > 0.2, background=0)
    assert found.shape == (images, 1, keep, 7) and counts.shape == (images, 1, 1, 1)
    assert counts.view(numpy.int32).reshape(-1).tolist() == [len(kept) for kept in wanted]
    assert (found[:, 0, :, 0] == numpy.arange(images)[:, None]).all()
    expect_detections((counts.view(numpy.int32).reshape(images, 1), found[:, 0, :, 3:], found[:, 0, :, 2],
                       found[:, 0, :, 1]), wanted, lambda i, b, c: numpy.clip(at(i, b, c), 0, 1), keep, no_class=-1)


# Faster R-CNN


def best_proposals(boxes, scores, before, after, threshold, more):
    """Boxes of one image, best first, zeros behind."""
    order = sorted(range(len(boxes)), key=lambda i: -scores[i])[:before]
    kept = []
    for i in order:
        if all(overlap(boxes[i], boxes[k], more) <= threshold for k in kept):
            kept.append(i)
    result = numpy.zeros((after, 4))
    for at, i in enumerate(kept[:after]):
        result[at] = boxes[i]
    return result


@pytest.mark.parametrize("name", ["Proposal", "ProposalDynamic"])
def test_proposal(name):
    images, rows, columns, stride, height, width = 2, 3, 4, 16, 50, 70
    sizes, ratios = [20.0, 40.0], [1.0, 0.5, 2.0]
    scores, corrections = floats(images, 6, rows, columns), floats(images, 24, rows, columns, scale=0.4)
    found = run(name, scores, corrections, input_height=height, input_width=width, rpn_stride=stride,
                roi_min_size=12.0, nms_iou_threshold=0.4, pre_nms_top_n=50, post_nms_top_n=12, anchor_sizes=sizes,
                anchor_ratios=ratios)
    assert found.shape == (images, 12, 4, 1)
    for n in range(images):
        boxes, own = [], []
        for a, y, x in numpy.ndindex(6, rows, columns):
            size = numpy.array([sizes[a // 3] * ratios[a % 3], sizes[a // 3] / ratios[a % 3]])
            delta = corrections[n].reshape(6, 4, rows, columns)[a, :, y, x]
            centre = (numpy.array([x, y]) + 0.5) * stride + size * delta[:2]
            half = numpy.exp(delta[2:]) * size / 2
            box = numpy.clip([*(centre - half), *(centre + half)], 0, [width - 1, height - 1] * 2)
            boxes.append(box)
            own.append(-math.inf if (box[2:] - box[:2] <= 12).any() else scores[n, a, y, x])
        assert -math.inf in own
        wanted = best_proposals(boxes, own, 50, 12, 0.4, 1)[:, [1, 0, 3, 2]]
        wanted /= numpy.array([height - 1, width - 1] * 2)
        numpy.testing.assert_allclose(found[n, :, :, 0], wanted, atol=1e-4)


def test_region_pooling():
    images, channels, rows, columns, stride = 2, 3, 4, 5, 8
    ratios, scales = [0.5, 1.0], [1.0, 2.5]
    scores, corrections = floats(images, 8, rows, columns), floats(images, 16, rows, columns, scale=0.3)
    features = floats(images, channels, rows, columns)
    info = numpy.array([[30, 38, 1], [28, 33, 1.5]], numpy.float32)
    rois, pooled = run("RPROI_TRT", scores, corrections, features, info.reshape(2, 1, 1, 3), outputs=2, poolingH=2,
                       poolingW=3, featureStride=stride, preNmsTop=40, nmsMaxOut=7, anchorsRatioCount=2,
                       anchorsScaleCount=2, iouThreshold=0.5, minBoxSize=6.0, spatialScale=1 / stride,
                       anchorsRatios=ratios, anchorsScales=scales, dynamic=False)
    assert rois.shape == (images, 1, 7, 4) and pooled.shape == (images, 7, channels, 2, 3)
    for n in range(images):
        height, width, scale = info[n]
        boxes, own = [], []
        for a, y, x in numpy.ndindex(4, rows, columns):
            size = numpy.array([round(math.sqrt(stride * stride / ratios[a // 2])), 0.0])
            size[1] = round(size[0] * ratios[a // 2])
            size *= scales[a % 2]
            delta = corrections[n].reshape(4, 4, rows, columns)[a, :, y, x]
            centre = (stride - 1) / 2 + numpy.array([x, y]) * stride + size * delta[:2]
            half = numpy.exp(delta[2:]) * size / 2
            box = numpy.clip([*(centre - half), *(centre + half)], 0, [width - 1, height - 1] * 2)
            boxes.append(box)
            own.append(-math.inf if (box[2:] - box[:2] + 1 < 6 * scale).any() else scores[n, 4 + a, y, x])
        wanted = best_proposals(boxes, own, 40, 7, 0.5, 1)
        numpy.testing.assert_allclose(rois[n, 0], wanted, atol=1e-3)
        for r, (x1, y1, x2, y2) in enumerate(rois[n, 0]):
            left, top, right, bottom = (math.floor(v / stride + 0.5) for v in (x1, y1, x2, y2))
            tall, wide = max(bottom - top + 1, 1) / 2, max(right - left + 1, 1) / 3
            for i, j in numpy.ndindex(2, 3):
                part = features[n, :, max(top + math.floor(i * tall), 0):max(top + math.ceil((i + 1) * tall), 0),
                                max(left + math.floor(j * wide), 0):max(left + math.ceil((j + 1) * wide), 0)]
                value = part.max((1, 2)) if part.size else numpy.zeros(channels)
                numpy.testing.assert_allclose(pooled[n, r, :, i, j], value, atol=1e-6)


# Mask R-CNN


def refined(box, delta, weights):
    centre, size = (box[:2] + box[2:]) / 2, box[2:] - box[:2]
    delta = delta * weights
    centre, size = centre + delta[:2] * size, size * numpy.exp(delta[2:])
    return numpy.concatenate([centre - size / 2, centre + size / 2])


def refined_pixels(box, delta, weights, height, width):
    size = box[2:] - box[:2] + 1
    centre = box[:2] + size / 2
    delta = delta / weights
    centre, size = centre + delta[:2] * size, size * numpy.exp(numpy.minimum(delta[2:], math.log(1000 / 16)))
    corners = numpy.concatenate([centre - size / 2, centre + size / 2 - 1])
    return numpy.clip(corners, 0, [height - 1, width - 1] * 2)


def test_proposal_layer():
    height, width = 64, 128
    anchors = []
    for stride in (4, 8, 16, 32, 64):
        for y, x, ratio in ((y, x, r) for y in range(0, height, stride) for x in range(0, width, stride)
                            for r in (0.5, 1.0, 2.0)):
            h, w = 8 * stride / math.sqrt(ratio), 8 * stride * math.sqrt(ratio)
            anchors.append([(y - h / 2) / (height - 1), (x - w / 2) / (width - 1), (y + h / 2 - 1) / (height - 1),
                            (x + w / 2 - 1) / (width - 1)])
    anchors = numpy.array(anchors)
    scores = random.random((2, len(anchors), 2, 1)).astype(numpy.float32)
    scores[1, 10:] = 0.005  # too low
    corrections = floats(2, len(anchors), 4, 1)
    found = run("ProposalLayer_TRT", scores, corrections, prenms_topk=40, keep_topk=15, iou_threshold=0.6,
                image_size=[3, height, width])
    for n in range(2):
        boxes = [numpy.clip(refined(box, delta, [0.1, 0.1, 0.2, 0.2]), 0, 1)
                 for box, delta in zip(anchors, corrections[n, :, :, 0], strict=True)]
        good = [i for i in range(len(boxes)) if scores[n, i, 1, 0] > 0.01]
        wanted = best_proposals([boxes[i] for i in good], [scores[n, i, 1, 0] for i in good], 40, 15, 0.6, 0)
        numpy.testing.assert_allclose(found[n], wanted, atol=1e-5)
    assert not found[1, 10:].any()


def test_multilevel_propose():
    height, width, keep = 64, 96, 12
    inputs, levels = [], []
    for level in range(2, 7):
        stride = 2 ** level
        anchors = [[y - 8 * stride * h / 2, x - 8 * stride * w / 2, y + 8 * stride * h / 2, x + 8 * stride * w / 2]
                   for y in range(stride // 2, height, stride) for x in range(stride // 2, width, stride)
                   for w, h in ((1.0, 1.0), (1.4, 0.7), (0.7, 1.4))]
        corrections, scores = floats(2, len(anchors), 4, 1, scale=0.2), random.random((2, len(anchors), 1, 1))
        inputs += [corrections, scores.astype(numpy.float32)]
        levels.append(numpy.array(anchors))
    found = run("MultilevelProposeROI_TRT", *inputs, prenms_topk=20, keep_topk=keep, fg_threshold=0.3,
                iou_threshold=0.5, image_size=[3, height, width], dynamic=False)
    for n in range(2):
        candidates = []
        for i, anchors in enumerate(levels):
            scores = inputs[2 * i + 1][n].reshape(-1)
            boxes = [refined_pixels(box, delta, numpy.ones(4), height, width)
                     for box, delta in zip(anchors, inputs[2 * i][n, :, :, 0], strict=True)]
            order = [k for k in numpy.argsort(-scores, kind="stable")[:20] if scores[k] >= 0.3]
            kept = []
            for k in order:
                if all(overlap(boxes[k], boxes[other]) <= 0.5 for other in kept):
                    kept.append(k)
            candidates += [(scores[k], boxes[k]) for k in kept[:keep]]
        candidates.sort(key=lambda one: -one[0])
        wanted = numpy.zeros((keep, 4))
        for at, (_, box) in enumerate(candidates[:keep]):
            wanted[at] = box
        numpy.testing.assert_allclose(found[n], wanted, atol=1e-3)


@pytest.mark.parametrize("name", ["DetectionLayer_TRT", "GenerateDetection_TRT"])
def test_detections(name):
    images, boxes, classes, keep = 2, 30, 4, 10
    pixels = name == "GenerateDetection_TRT"
    height, width = 60, 80
    low = random.random((images, boxes, 2)) * 0.6
    rois = numpy.concatenate([low, low + 0.1 + 0.3 * random.random((images, boxes, 2))], -1)
    rois = (rois * ([height, width] * 2 if pixels else 1)).astype(numpy.float32)
    scores = random.random((images, boxes, classes, 1, 1)).astype(numpy.float32)
    scores[1, :, 0] = 2 if not pixels else 0  # all background in one, which the other does not look at
    corrections = floats(images, boxes, classes * 4, 1, 1)
    fields = {"image_size": [3, height, width]} if pixels else {}
    found = run(name, corrections, scores, rois, num_classes=classes, keep_topk=keep, score_threshold=0.4,
                iou_threshold=0.3, dynamic=False, **fields)
    split = corrections.reshape(images, boxes, classes, 4)
    table = numpy.full((images, boxes, classes), -1.0)
    for n, b in numpy.ndindex(images, boxes):
        first = 1 if pixels else 0
        best = first + int(scores[n, b, first:, 0, 0].argmax())
        table[n, b, best] = scores[n, b, best, 0, 0]

    def at(image, b, c):
        box = rois[image, b].astype(numpy.float64)
        if pixels:
            return refined_pixels(box, split[image, b, c], [10, 10, 5, 5], height, width)
        return numpy.clip(refined(box, split[image, b, c], [0.1, 0.1, 0.2, 0.2]), 0, 1)

    wanted = suppressed(at, table, keep, lambda iou: iou > 0.3, lambda s: s >= numpy.float32(0.4), background=0)
    assert found.shape == (images, keep, 6) and wanted[0] and bool(wanted[1]) == pixels
    for n, kept in enumerate(wanted):
        for row, (score, c, b) in zip(found[n], kept, strict=False):
            numpy.testing.assert_allclose(row, [*at(n, b, c), c, score], atol=1e-3)
        assert (found[n, len(kept):] == [0, 0, 0, 0, -1, 0]).all()


def test_special_slice():
    x = floats(2, 5, 6)
    numpy.testing.assert_array_equal(run("SpecialSlice_TRT", x), x[..., :4])


def test_multilevel_crop_and_resize():
    height, width, pooled = 1024, 1024, 3
    maps = [floats(2, 2, height // s, width // s) for s in (4, 8, 16, 32, 64)]
    rois = numpy.array([[[10, 20, 60, 70], [0, 0, 200, 180], [30, 10, 300, 400], [0, 0, 512, 600], [0, 0, 0, 0]],
                        [[0, 0, 1024, 1024], [5, 5, 4, 9], [-1, 0, 8, 8], [100.5, 200.25, 130, 260], [0, 0, 1025, 8]]],
                       numpy.float32)
    found = run("MultilevelCropAndResize_TRT", rois, *maps, pooled_size=pooled, image_size=[3, height, width])
    levels = set()
    for n, r in numpy.ndindex(2, 5):
        y1, x1, y2, x2 = rois[n, r].astype(float)
        wanted = numpy.zeros((2, pooled, pooled))
        if 0 <= y1 < y2 <= height and 0 <= x1 < x2 <= width:
            level = sum((y2 - y1) * (x2 - x1) > 224 * 224 / 4 * 4 ** k for k in range(4))
            levels.add(int(level))
            scale = 2 ** (level + 2)
            for i, j in numpy.ndindex(pooled, pooled):
                wanted[:, i, j] = bilinear(maps[level][n], (y1 + (y2 - y1) * (i + 0.5) / pooled) / scale,
                                           (x1 + (x2 - x1) * (j + 0.5) / pooled) / scale)
        numpy.testing.assert_allclose(found[n, r], wanted, atol=1e-4)
    assert len(levels) == 5


# PointPillars


@pytest.mark.parametrize("columns, features, voxels", [(4, 10, 9), (5, 10, 40), (5, 11, 40)])
def test_voxel_generator(columns, features, voxels):
    images, most, per_voxel = 2, 150, 2
    low, high, size = numpy.array([-2.0, -1, -3]), numpy.array([2.0, 2, 1]), numpy.array([0.5, 1, 4])
    points = floats(images, most, columns, scale=1.5)
    counts = numpy.array([150, 25], numpy.int32)
    found, cells, numbers = run("VoxelGeneratorPlugin", points, counts, outputs=3, max_num_points_per_voxel=per_voxel,
                                max_voxels=voxels, point_cloud_range=[*low, *high], voxel_feature_num=features,
                                voxel_size=list(size), dynamic=False)
    wanted, where = numpy.zeros((images, voxels, per_voxel, features)), numpy.zeros((images, voxels, 4), int)
    for n in range(images):
        members = {}
        for point in points[n, :counts[n]]:
            if ((point[:3] >= low) & (point[:3] < high)).all():
                x, y = (int(v) for v in numpy.floor((point[:2] - low[:2]) / size[:2]))
                members.setdefault((y, x), []).append(point)
        assert numbers[n] == min(len(members), voxels)
        assert max(len(own) for own in members.values()) > per_voxel or n
        for v, (y, x) in enumerate(sorted(members)[:voxels]):
            own = numpy.array(members[y, x][:per_voxel])
            middle = low + size * (numpy.array([x, y, 0]) + 0.5)
            rows = numpy.concatenate([own, own[:, :3] - own[:, :3].mean(0), own[:, :3] - middle], 1)
            wanted[n, v, :len(own)] = rows[:, :features]
            where[n, v] = [0, 0, y, x]
    numpy.testing.assert_allclose(found, wanted, atol=1e-5)
    numpy.testing.assert_array_equal(cells, where)
    assert cells.dtype == numbers.dtype == numpy.int32


def test_pillar_scatter():
    images, pillars, channels, rows, columns = 2, 6, 5, 3, 4
    x = floats(images, pillars, channels)
    cells = numpy.zeros((images, pillars, 4), numpy.int32)
    for n in range(images):
        places = random.permutation(rows * columns)[:pillars]
        cells[n, :, 2], cells[n, :, 3] = places // columns, places % columns
    counts = numpy.array([6, 2], numpy.int32)
    wanted = numpy.zeros((images, channels, rows, columns), numpy.float32)
    for n in range(images):
        for p in range(counts[n]):
            wanted[n, :, cells[n, p, 2], cells[n, p, 3]] = x[n, p]
    found = run("PillarScatterPlugin", x, cells, counts, dense_shape=[rows, columns], dynamic=False)
    numpy.testing.assert_array_equal(found, wanted)


def test_decode_boxes_of_clouds():
    images, rows, columns, classes, threshold = 2, 3, 4, 2, 0.6
    anchors = numpy.abs(floats(2 * classes, 4)) + 0.5
    bottoms, span = [-1.5, -0.5], [-4.0, -3.0, -2.0, 5.0, 6.0, 2.0]
    scores, corrections = floats(images, rows, columns, 4 * classes), floats(images, rows, columns, 28)
    turns = floats(images, rows, columns, 8)
    found, counts = run("DecodeBbox3DPlugin", scores, corrections, turns, outputs=2, point_cloud_range=span,
                        anchors=anchors.reshape(-1), anchor_bottom_height=bottoms, dir_offset=0.78539,
                        dir_limit_offset=0.25, num_dir_bins=2, score_thresh=threshold, dynamic=False)
    assert found.shape == (images, rows * columns * 4, 9) and counts.dtype == numpy.int32
    for n in range(images):
        wanted = []
        for i, j, a in numpy.ndindex(rows, columns, 4):
            chances = 1 / (1 + numpy.exp(-scores[n, i, j].reshape(4, classes)[a]))
            if chances.max() < threshold:
                continue
            width, depth, height, angle = anchors[a]
            delta = corrections[n, i, j].reshape(4, 7)[a]
            diagonal = math.hypot(width, depth)
            turn = delta[6] + angle - 0.78539
            turn = turn - math.floor(turn / math.pi + 0.25) * math.pi + 0.78539
            first, second = turns[n, i, j].reshape(4, 2)[a]
            wanted.append([delta[0] * diagonal + span[0] + j * (span[3] - span[0]) / (columns - 1),
                           delta[1] * diagonal + span[1] + i * (span[4] - span[1]) / (rows - 1),
                           delta[2] * height + height / 2 + bottoms[a // 2], math.exp(delta[3]) * width,
                           math.exp(delta[4]) * depth, math.exp(delta[5]) * height,
                           turn + (0 if first > second else math.pi), chances.argmax(), chances.max()])
        assert counts[n] == len(wanted) > 0
        numpy.testing.assert_allclose(found[n, :len(wanted)], wanted, atol=1e-4)
        assert not found[n, len(wanted):].any()
