// Mask R-CNN, of Matterport's kind (ProposalLayer, DetectionLayer; fractions of the image) and of
// TAO's (MultilevelProposeROI, GenerateDetection; pixels). Boxes are (y1, x1, y2, x2).
#include <algorithm>
#include <cmath>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/tensorrt/boxes.h"
#include "onnx/ops/tensorrt/detections.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/reduce.h"

namespace camshaft::onnx::importer {

namespace {

constexpr float kLeastScore = 0.01F;  // of a box of Matterport's, and of any detection

struct ImageSize {
  int64_t height, width;
};

ImageSize imageSizeIn(const NodeImport& node, std::vector<int64_t> missing) {
  const std::vector<int64_t> size = integersIn(node, "image_size", std::move(missing));
  if (size.size() != 3 || size[1] < 2 || size[2] < 2)
    node.invalid("its field 'image_size' must hold channels, height and width");
  return {size[1], size[2]};
}

// What belongs to each box, [N, boxes, ...] with `numbers` elements each, as [N, boxes, numbers].
Value* perBox(const NodeImport& node, int input, const Dim& numbers) {
  Value* x = node.input(input, Ranks::from(3));
  const Shape& shape = x->shape();
  const Dim elements = numElements({shape.begin() + 2, shape.end()});
  requireSize(node, elements, "numbers per box", numbers);
  return node.cast(node.reshape(x, {shape[0], shape[1], numbers}), DataType::kF32);
}

// One box of every shape around each point, row by row.
struct Anchors {
  std::vector<double> boxes;
  void add(double y, double x, double height, double width) {
    boxes.insert(boxes.end(), {y - height / 2, x - width / 2, y + height / 2, x + width / 2});
  }
  Value* tensor(const NodeImport& node) const {
    return constantOf(node, boxes, {1, static_cast<int64_t>(boxes.size()) / 4, 4});
  }
};

// Matterport's corrections are of these deviations, and its boxes stay in the image.
Value* refined(const NodeImport& node, Value* boxes, Value* corrections) {
  Value* deviations = constantOf(node, {0.1, 0.1, 0.2, 0.2}, {4});
  corrections = node.binary(ScalarOp::kMul, corrections, deviations);
  Value* moved = corrected(node, centredOfCorners(node, boxes), corrections);
  return clamped(node, cornersOfCentred(node, moved), 0, 1);
}

// TAO's boxes are of pixels, end at the last one, and grow to no more than 1000 / 16 times.
Value* refinedPixels(const NodeImport& node, Value* boxes, Value* corrections,
                     const std::vector<double>& weights, const ImageSize& image) {
  const double most = std::log(1000.0 / 16);
  corrections = node.binary(ScalarOp::kDiv, corrections, constantOf(node, weights, {4}));
  corrections = boxOf(node, boxPart(node, corrections, 0),
                      node.binary(ScalarOp::kMin, boxPart(node, corrections, 2), most));
  Value* last = node.binary(ScalarOp::kAdd, boxPart(node, boxes, 2), 1.0);
  boxes = centredOfCorners(node, boxOf(node, boxPart(node, boxes, 0), last));
  Value* moved = cornersOfCentred(node, corrected(node, boxes, corrections));
  moved = node.binary(ScalarOp::kSub, moved, constantOf(node, {0, 0, 1, 1}, {4}));
  const auto height = static_cast<double>(image.height - 1);
  const auto width = static_cast<double>(image.width - 1);
  Value* limits = constantOf(node, {height, width, height, width}, {4});
  return node.binary(ScalarOp::kMax, node.binary(ScalarOp::kMin, moved, limits), 0.0);
}

// Of the best `candidates` boxes those that suppression leaves, of one class.
Detections proposed(const NodeImport& node, Value* boxes, Value* scores, float scoreThreshold) {
  Suppression suppression;
  suppression.iouThreshold = static_cast<float>(numberIn(node, "iou_threshold", 0.7));
  suppression.scoreThreshold = scoreThreshold;
  suppression.candidates = positiveIn(node, "prenms_topk", 1000);
  suppression.results = suppression.perClass = positiveIn(node, "keep_topk", 1000);
  return detect(node, {boxes, nullptr, scores}, suppression);
}

}  // namespace

// Scores [N, anchors, 2, 1], those of objects second, and corrections [N, anchors, 4, 1] to
// [N, keep_topk, 4].
void importProposalLayer(NodeImport& node) {
  const ImageSize image = imageSizeIn(node, {3, 1024, 1024});
  Anchors anchors;
  for (const int64_t stride : {4, 8, 16, 32, 64}) {
    const auto scale = static_cast<double>(8 * stride);
    for (int64_t y = 0; y < image.height; y += stride)
      for (int64_t x = 0; x < image.width; x += stride)
        for (const double ratio : {0.5, 1.0, 2.0}) {
          const double height = scale / std::sqrt(ratio), width = scale * std::sqrt(ratio);
          // To the last pixel: half a pixel before the middle, and one pixel smaller.
          anchors.add(static_cast<double>(y) - 0.5, static_cast<double>(x) - 0.5, height - 1,
                      width - 1);
        }
  }
  const auto height = static_cast<double>(image.height - 1);
  const auto width = static_cast<double>(image.width - 1);
  for (size_t i = 0; i < anchors.boxes.size(); ++i) anchors.boxes[i] /= i % 2 ? width : height;
  Value *scores = perBox(node, 0, 2), *corrections = perBox(node, 1, 4);
  requireSize(node, corrections->shape()[1], "boxes",
              static_cast<int64_t>(anchors.boxes.size()) / 4);
  Value* boxes = refined(node, anchors.tensor(node), corrections);
  node.setOutput(proposed(node, boxes, node.slice(scores, 2, 1, 1), kLeastScore).boxes);
}

// Corrections [N, anchors, 4, 1] and scores [N, anchors, 1, 1] of five feature maps, alternating,
// to [N, keep_topk, 4].
void importMultilevelPropose(NodeImport& node) {
  const ImageSize image = imageSizeIn(node, {3, 832, 1344});
  if (node.inputCount() != 10)
    node.invalid("it has ", node.inputCount(), " inputs where it needs 10");
  const float threshold = std::max(atLeastThreshold(numberIn(node, "fg_threshold", 0)), 0.0F);
  std::vector<Value*> boxes, scores;
  Dim results;
  for (int level = 0; level < 5; ++level) {
    const int64_t stride = int64_t{4} << level;
    Anchors anchors;
    for (int64_t y = stride / 2; y < image.height; y += stride)
      for (int64_t x = stride / 2; x < image.width; x += stride)
        for (const auto& [width, height] : {std::pair(1.0, 1.0), {1.4, 0.7}, {0.7, 1.4}}) {
          const auto scale = static_cast<double>(8 * stride);
          anchors.add(static_cast<double>(y), static_cast<double>(x), scale * height,
                      scale * width);
        }
    Value* corrections = perBox(node, 2 * level, 4);
    requireSize(node, corrections->shape()[1], "boxes",
                static_cast<int64_t>(anchors.boxes.size()) / 4);
    Value* moved = refinedPixels(node, anchors.tensor(node), corrections, {1, 1, 1, 1}, image);
    const Detections found = proposed(node, moved, perBox(node, 2 * level + 1, 1), threshold);
    boxes.push_back(found.boxes);
    scores.push_back(found.scores);
    results = found.boxes->shape()[1];
  }
  TopKAttrs attrs;
  attrs.axis = 1;
  attrs.k = results;
  Value* order = node.addNode(&ops::TopK, {node.concat(std::move(scores), 1)}, attrs)->output(1);
  Value* all = node.concat(std::move(boxes), 1);
  const Dim images = all->shape()[0];
  order = node.expand(node.reshape(order, {images, results, 1}), {images, results, 4});
  GatherElementsAttrs along;
  along.axis = 1;
  node.setOutput(
      node.cast(node.add(&ops::GatherElements, {all, order}, along), node.input(0)->dataType()));
}

namespace {

// Corrections [N, boxes, classes * 4], scores [N, boxes, classes] and boxes [N, boxes, 4]. Of every
// box its best class counts.
struct Head {
  Value *corrections, *scores, *boxes;
};

Head headOf(const NodeImport& node, bool background) {
  const int64_t classes = positiveIn(node, "num_classes", 1);
  Value *corrections = perBox(node, 0, classes * 4), *scores = perBox(node, 1, classes);
  const Shape shape = scores->shape();
  const Dim &images = shape[0], &boxes = shape[1];
  requireShape(node, node.input(2), "list of boxes", {images, boxes, 4});
  const int64_t first = background || classes == 1 ? 0 : 1;
  ArgReduceAttrs attrs;
  attrs.axis = 2;
  Value* best = node.add(&ops::ArgReduce, {node.slice(scores, 2, first, classes - first)}, attrs);
  best = node.binary(ScalarOp::kAdd, best, static_cast<double>(first));
  Formula formula;
  const Term isBest = formula.input(1, DataType::kI64) == formula.input(2, DataType::kI64);
  const Term own = where(isBest, formula.input(0, DataType::kF32), -1.0);
  scores =
      node.pointwise({scores, best, counting(node, DataType::kI64, classes)}, formula.take(own));
  GatherElementsAttrs along;
  along.axis = 2;
  Value* which = node.expand(node.reshape(best, {images, boxes, 1, 1}), {images, boxes, 1, 4});
  corrections = node.reshape(corrections, {images, boxes, classes, 4});
  corrections = node.add(&ops::GatherElements, {corrections, which}, along);
  return {node.reshape(corrections, {images, boxes, 4}), scores,
          node.cast(node.input(2), DataType::kF32)};
}

// [N, keep_topk, 6]: a box, its class, -1 where there is none, and its score.
void setDetections(NodeImport& node, Value* boxes, Value* scores) {
  Suppression suppression;
  suppression.iouThreshold = static_cast<float>(numberIn(node, "iou_threshold", 0.5));
  suppression.scoreThreshold =
      std::max(atLeastThreshold(numberIn(node, "score_threshold", 0)), kLeastScore);
  suppression.results = suppression.perClass = positiveIn(node, "keep_topk", 100);
  suppression.background = 0;
  suppression.noClass = -1;
  const Detections found = detect(node, {boxes, nullptr, scores}, suppression);
  const Shape shape{scores->shape()[0], suppression.results, 1};
  node.setOutput(
      node.concat({found.boxes, node.reshape(node.cast(found.classes, DataType::kF32), shape),
                   node.reshape(found.scores, shape)},
                  2));
}

}  // namespace

void importDetectionLayer(NodeImport& node) {
  const Head head = headOf(node, true);
  setDetections(node, refined(node, head.boxes, head.corrections), head.scores);
}

void importGenerateDetection(NodeImport& node) {
  const ImageSize image = imageSizeIn(node, {3, 832, 1344});
  const Head head = headOf(node, false);
  Value* boxes = refinedPixels(node, head.boxes, head.corrections, {10, 10, 5, 5}, image);
  setDetections(node, boxes, head.scores);
}

// The boxes of detections [N, boxes, 6].
void importSpecialSlice(NodeImport& node) {
  Value* x = node.input(0, 3);
  requireSize(node, x->shape()[2], "numbers per detection", 6);
  node.setOutput(node.slice(x, 2, 0, 4));
}

}  // namespace camshaft::onnx::importer
