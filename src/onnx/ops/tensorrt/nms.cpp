// Non-maximum suppression: EfficientNMS, in its variants, and BatchedNMS.
#include <cmath>
#include <limits>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/tensorrt/boxes.h"
#include "onnx/ops/tensorrt/detections.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/select.h"
#include "support/half.h"

namespace camshaft::onnx::importer {

namespace {

// Corrections of anchors as boxes, both coded alike.
Value* decoded(const NodeImport& node, Value* boxes, Value* anchors, bool centred) {
  if (boxes->rank() == 4) {
    const Shape& shape = anchors->shape();
    anchors = node.reshape(anchors, {shape[0], shape[1], 1, 4});
  }
  return centred ? corrected(node, anchors, boxes)
                 : node.binary(ScalarOp::kAdd, orderedCorners(node, boxes),
                               orderedCorners(node, anchors));
}

// Boxes [N, B, 4], [N, B, 1, 4] or [N, B, C, 4], of rank 3 where all classes share them, and
// scores [N, B, C], both as f32.
Candidates candidatesOf(const NodeImport& node) {
  Value *boxes = node.input(0, Ranks(3, 4)), *scores = node.input(1, Ranks(3, 4));
  const Shape shape = scores->shape();
  if (scores->rank() == 4) {
    requireSize(node, shape[3], "numbers per score", 1);
    scores = node.reshape(scores, {shape[0], shape[1], shape[2]});
  }
  const Shape shared{shape[0], shape[1], 4}, own{shape[0], shape[1], shape[2], 4};
  if (boxes->rank() == 4 && boxes->shape()[2].isConstant(1)) boxes = node.reshape(boxes, shared);
  requireShape(node, boxes, "list of boxes", boxes->rank() == 3 ? shared : own);
  return {node.cast(boxes, DataType::kF32), nullptr, node.cast(scores, DataType::kF32)};
}

// As it is compared with scores of this type.
double rounded(double threshold, DataType type) {
  return type == DataType::kF16 ? static_cast<float>(Half(static_cast<float>(threshold)))
                                : threshold;
}

double iouThresholdOf(const NodeImport& node, std::string_view field) {
  const double threshold = numberIn(node, field, 0.5);
  if (!(threshold > 0)) node.invalid("its ", field, " must be positive and is ", threshold);
  return threshold;
}

Value* withoutLast(const NodeImport& node, Value* x) {
  return node.reshape(x, {x->shape().begin(), x->shape().end() - 1});
}

}  // namespace

// Unlike TensorRT's, which drops all but the best 5,000 candidates of an image beforehand, this
// looks at all of them.
void importEfficientNms(NodeImport& node) {
  const DataType type = node.input(0)->dataType();
  const bool isLogit = flagIn(node, "score_activation");
  const int64_t coding = integerIn(node, "box_coding", 0);
  if (coding != 0 && coding != 1)
    node.invalid("its box_coding must be 0, corners, or 1, centre and size, and is ", coding);
  double threshold = numberIn(node, "score_threshold", 0.5);
  if (isLogit) threshold = threshold <= 0 ? -0x1p15 : std::log(threshold / (1 - threshold));

  Candidates candidates = candidatesOf(node);
  if (Value* anchors = node.optionalInput(2, 3))
    candidates.boxes =
        decoded(node, candidates.boxes, node.cast(anchors, DataType::kF32), coding == 1);
  if (coding == 1) candidates.boxes = cornersOfCentred(node, candidates.boxes);
  Suppression suppression;
  suppression.iouThreshold = atLeastThreshold(iouThresholdOf(node, "iou_threshold"));
  suppression.scoreThreshold = atLeastThreshold(rounded(threshold, type));
  suppression.results = positiveIn(node, "max_output_boxes", 100);
  suppression.perClass = suppression.results;
  suppression.background = integerIn(node, "background_class", -1);
  suppression.agnostic = flagIn(node, "class_agnostic");
  const Detections found = detect(node, candidates, suppression);

  Value* scores = found.scores;
  if (isLogit) {
    Formula formula;
    const Term chance = apply(ScalarOp::kSigmoid, formula.input(0, DataType::kF32));
    const Term result = where(formula.input(1, DataType::kBool), chance, 0);
    scores = node.pointwise({scores, found.isFound}, formula.take(result));
  }
  node.setOutput(0, found.counts);
  node.setOutput(1, node.cast(found.boxes, type));
  node.setOutput(2, node.cast(scores, type));
  node.setOutput(3, node.cast(found.classes, DataType::kI32));
}

// As TensorFlow's combined_non_max_suppression has it. The plugin for networks without a batch
// dimension counts in [N], the other in [N, 1].
void importEfficientNmsOfTensorFlow(NodeImport& node) {
  const DataType type = node.input(0)->dataType();
  const Candidates candidates = candidatesOf(node);
  Suppression suppression;
  suppression.iouThreshold = atLeastThreshold(iouThresholdOf(node, "iou_threshold"));
  suppression.scoreThreshold =
      atLeastThreshold(rounded(numberIn(node, "score_threshold", 0.5), type));
  suppression.results = positiveIn(node, "max_total_size", 100);
  const int64_t perClass = integerIn(node, "max_output_size_per_class", -1);
  suppression.perClass = perClass >= 0 ? Dim(perClass) : suppression.results;
  if (flagIn(node, "pad_per_class") && perClass > 0)
    suppression.results = min(suppression.results, candidates.scores->shape()[2] * perClass);
  const Detections found = detect(node, candidates, suppression);
  Value* boxes = flagIn(node, "clip_boxes") ? clamped(node, found.boxes, 0, 1) : found.boxes;
  const bool isImplicit = node.opType() == "EfficientNMS_Implicit_TF_TRT";
  node.setOutput(0, isImplicit ? withoutLast(node, found.counts) : found.counts);
  node.setOutput(1, node.cast(boxes, type));
  node.setOutput(2, node.cast(found.scores, type));
  node.setOutput(3, node.cast(found.classes, DataType::kI32));
}

// The (image, class, box) of what is left, i32; the last is repeated, or -1 without any.
void importEfficientNmsIndices(NodeImport& node) {
  Candidates candidates = candidatesOf(node);
  if (candidates.boxes->rank() != 3)
    node.invalid("its boxes have rank 4, and its classes share theirs");
  const Shape& shape = candidates.scores->shape();
  if (integerIn(node, "center_point_box", 0) != 0)
    candidates.boxes = cornersOfCentred(node, candidates.boxes);
  NonMaxSuppressionAttrs attrs;
  const int64_t perClass = positiveIn(node, "max_output_boxes_per_class", 100);
  attrs.limit = perClass;
  const auto threshold = [&](double value) {
    return node.scalar(DataType::kF32, atLeastThreshold(value));
  };
  const Node* search = node.addNode(
      &ops::NonMaxSuppression,
      {candidates.boxes, node.transpose(candidates.scores, {0, 2, 1}),
       threshold(iouThresholdOf(node, "iou_threshold")),
       threshold(rounded(numberIn(node, "score_threshold", 0.5), node.input(1)->dataType()))},
      std::move(attrs));
  // Row i, and behind the count the last; a row of -1 stands before all.
  Formula formula;
  const Term count = formula.input(1, DataType::kI64);
  const Term at = smaller(formula.input(0, DataType::kI64) + 1, count);
  const Dim rows = shape[0] * shape[2] * perClass;
  Value* index =
      node.pointwise({counting(node, DataType::kI64, rows), search->output(1)}, formula.take(at));
  Value* none = node.expand(node.scalar(DataType::kI64, -1), {1, 3});
  Value* all = node.concat({none, search->output(0)}, 0);
  node.setOutput(node.cast(node.add(&ops::Gather, {all, index}, GatherAttrs{}), DataType::kI32));
}

// Classes are numbers of the boxes' type, -1 where there is none. The plugin for static shapes
// counts in [N], the other in [N, 1].
void importBatchedNms(NodeImport& node) {
  const DataType type = node.input(0)->dataType();
  Candidates candidates = candidatesOf(node);
  if (const int64_t classes = integerIn(node, "numClasses", -1); classes >= 0)
    requireSize(node, candidates.scores->shape()[2], "classes", classes);
  if (flagIn(node, "shareLocation", true) != (candidates.boxes->rank() == 3) &&
      !candidates.scores->shape()[2].isConstant(1))
    node.invalid("its shareLocation does not fit its boxes ", node.input(0)->type);
  const bool isNormalized = flagIn(node, "isNormalized", true);
  if (!isNormalized && flagIn(node, "caffeSemantics", true))
    candidates.overlap = withLastPixel(node, candidates.boxes);
  Suppression suppression;
  suppression.iouThreshold = static_cast<float>(numberIn(node, "iouThreshold", 0.5));
  suppression.scoreThreshold = static_cast<float>(numberIn(node, "scoreThreshold", 0));
  suppression.candidates = positiveIn(node, "topK", 4096);
  suppression.results = positiveIn(node, "keepTopK", 100);
  suppression.perClass = suppression.results;
  suppression.background = integerIn(node, "backgroundLabelId", -1);
  suppression.noClass = -1;
  const Detections found = detect(node, candidates, suppression);
  Value* boxes = flagIn(node, "clipBoxes", true) ? clamped(node, found.boxes, 0, 1) : found.boxes;
  const bool isStatic = node.opType() == "BatchedNMS_TRT";
  node.setOutput(0, isStatic ? withoutLast(node, found.counts) : found.counts);
  node.setOutput(1, node.cast(boxes, type));
  node.setOutput(2, node.cast(found.scores, type));
  node.setOutput(3, node.cast(found.classes, type));
}

}  // namespace camshaft::onnx::importer
