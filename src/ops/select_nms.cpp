// NonMaxSuppression (NMS).
#include <algorithm>
#include <cmath>

#include "ops/rules.h"
#include "ops/select.h"

namespace camshaft {

namespace {

void requireScalarF32(const Node& node, int input) {
  if (!node.hasInput(input)) return;
  const TensorType& type = node.input(input)->type;
  if (type.type != DataType::kF32 || type.rank() != 0)
    fail(ErrorKind::kInvalidModel, describe(node), " needs an f32 scalar as input ", input,
         " and got ", type);
}

std::vector<TensorType> inferNonMaxSuppression(const Node& node) {
  requireRank(node, 0, "boxes", 3);
  requireRank(node, 1, "scores", 3);
  const Shape& scores = node.input(1)->shape();
  requireShape(node, 0, "boxes", {scores[0], scores[2], 4});
  if (node.input(0)->dataType() != DataType::kF32)
    fail(ErrorKind::kInvalidModel, describe(node), " needs f32 boxes and got ",
         node.input(0)->type);
  requireSameType(node, 1, 0);
  requireScalarF32(node, 2);
  requireScalarF32(node, 3);
  const Dim most = scores[0] * scores[1] * min(node.as<NonMaxSuppressionAttrs>().limit, scores[2]);
  return {{DataType::kI64, {most, 3}}, {DataType::kI64, {1}}};
}

struct Box {
  float left, top, right, bottom;

  static Box of(const float* box, bool centred) {
    if (centred)
      return {box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2, box[1] + box[3] / 2};
    return {std::min(box[1], box[3]), std::min(box[0], box[2]), std::max(box[1], box[3]),
            std::max(box[0], box[2])};
  }
  float area() const { return (right - left) * (bottom - top); }
};

// Intersection over union is above the threshold; boxes without area overlap nothing.
bool overlaps(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0 && height > 0)) return false;
  const float common = width * height, all = a.area() + b.area() - common;
  if (common <= 0 || a.area() <= 0 || b.area() <= 0 || all <= 0) return false;
  return common / all > threshold;
}

// The boxes of one batch and class that stay, best first.
std::vector<int64_t> suppress(const float* boxes, std::span<const float> scores, int64_t limit,
                              bool centred, float iouThreshold, const float* scoreThreshold) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (!scoreThreshold || scores[i] > *scoreThreshold) order.push_back(static_cast<int64_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::isnan(scores[b]) ? !std::isnan(scores[a]) : scores[a] > scores[b];
  });
  std::vector<int64_t> kept;
  for (const int64_t candidate : order) {
    if (static_cast<int64_t>(kept.size()) >= limit) break;
    const Box box = Box::of(boxes + candidate * 4, centred);
    const bool isFree = std::none_of(kept.begin(), kept.end(), [&](int64_t better) {
      return overlaps(Box::of(boxes + better * 4, centred), box, iouThreshold);
    });
    if (isFree) kept.push_back(candidate);
  }
  return kept;
}

void evaluateNonMaxSuppression(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<NonMaxSuppressionAttrs>();
  const Dims& dims = evaluation.inputs[1].dims;
  const auto threshold = [&](size_t i) {
    return i < evaluation.inputs.size() ? evaluation.inputs[i].as<float>() : nullptr;
  };
  const float* iou = threshold(2);
  int64_t* to = evaluation.outputs[0].as<int64_t>();
  int64_t count = 0;
  for (int64_t row = 0; row < dims[0] * dims[1]; ++row) {
    const int64_t batch = row / dims[1];
    const auto kept =
        suppress(evaluation.inputs[0].as<float>() + batch * dims[2] * 4,
                 {evaluation.inputs[1].as<float>() + row * dims[2], static_cast<size_t>(dims[2])},
                 evaluation.resolve(attrs.limit), attrs.centred, iou ? *iou : 0, threshold(3));
    for (const int64_t box : kept) {
      for (const int64_t number : {batch, row % dims[1], box}) *to++ = number;
      ++count;
    }
  }
  *evaluation.outputs[1].as<int64_t>() = count;
}

}  // namespace

const OpInfo ops::NonMaxSuppression = {
    "NonMaxSuppression",      2, 4, 2, makeAttrsOf<NonMaxSuppressionAttrs>, inferNonMaxSuppression,
    evaluateNonMaxSuppression};

}  // namespace camshaft
