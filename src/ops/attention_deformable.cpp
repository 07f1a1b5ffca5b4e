#include <algorithm>
#include <cmath>

#include "ops/attention.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

enum Operand { kValue, kSizes, kStarts, kLocations, kWeights };

std::vector<TensorType> inferDeformableAttention(const Node& node) {
  requireRank(node, kValue, "its values", 4);
  requireRank(node, kLocations, "its locations", 6);
  for (int i : {kValue, kLocations, kWeights}) requireFloat(node, i);
  for (int i : {kSizes, kStarts})
    if (const DataType type = node.inputs[i]->dataType();
        type != DataType::kI32 && type != DataType::kI64)
      fail(ErrorKind::kInvalidModel, describe(node), " needs sizes and starts of levels of type ",
           "i32 or i64 and got ", type);
  const Shape &value = node.inputs[kValue]->shape(), &at = node.inputs[kLocations]->shape();
  requireEqual(node, at[0], "batches of locations", value[0], "its values have");
  requireEqual(node, at[2], "heads of locations", value[2], "its values have");
  requireEqual(node, at[5], "coordinates per location", 2, "an image has");
  requireShape(node, kSizes, "the sizes of its levels", {at[3], 2});
  requireShape(node, kStarts, "the starts of its levels", {at[3]});
  requireShape(node, kWeights, "its weights", {at.begin(), at.end() - 1});
  return {{node.inputs[kValue]->dataType(),
           {moreKnown(value[0], at[0]), at[1], moreKnown(value[2], at[2]), value[3]}}};
}

// A level: an image of height x width pixels, which are rows `start` and later of the values.
struct Level {
  int64_t start, height, width;

  // Sizes that no image has stay small enough for positions to be computed.
  Level(const ConstTensorView& sizes, const ConstTensorView& starts, int64_t level)
      : start(boundedAt(starts, level)),
        height(boundedAt(sizes, level * 2)),
        width(boundedAt(sizes, level * 2 + 1)) {}
  static int64_t boundedAt(const ConstTensorView& integers, int64_t i) {
    constexpr int64_t kFar = int64_t{1} << 30;
    return std::clamp(readInteger(integers.type, integers.data, i), -kFar, kFar);
  }

  // Calls visit(row of the values, weight) for the pixels around a position.
  template <class Visit>
  void around(double y, double x, int64_t rows, const Visit& visit) const {
    if (!(y > -1 && x > -1 && y < static_cast<double>(height) && x < static_cast<double>(width)))
      return;
    const double top = std::floor(y), left = std::floor(x);
    for (int corner = 0; corner < 4; ++corner) {
      const int64_t i = static_cast<int64_t>(top) + corner / 2,
                    j = static_cast<int64_t>(left) + corner % 2;
      const double weight =
          (corner / 2 ? y - top : 1 - (y - top)) * (corner % 2 ? x - left : 1 - (x - left));
      const int64_t row = start + i * width + j;
      const bool isInside = i >= 0 && i < height && j >= 0 && j < width && row >= 0 && row < rows;
      if (isInside && weight != 0) visit(row, weight);
    }
  }
};

void evaluateDeformableAttention(const Evaluation& evaluation) {
  const Dims &dims = evaluation.inputs[kLocations].dims, &out = evaluation.outputs[0].dims;
  const int64_t rows = evaluation.inputs[kValue].dims[1], heads = out[2], size = out[3];
  const int64_t levels = dims[3], points = dims[4];
  const std::vector<double> value = readReals(evaluation.inputs[kValue]);
  const std::vector<double> locations = readReals(evaluation.inputs[kLocations]);
  const std::vector<double> weights = readReals(evaluation.inputs[kWeights]);
  std::vector<double> y(evaluation.outputs[0].count());
  forEachIndex({out[0], out[1], heads, levels, points}, [&](const Dims& at) {
    const int64_t n = at[0], head = at[2];
    const int64_t query = (n * out[1] + at[1]) * heads + head;
    const int64_t point = (query * levels + at[3]) * points + at[4];
    const Level level(evaluation.inputs[kSizes], evaluation.inputs[kStarts], at[3]);
    level.around(locations[point * 2 + 1] * static_cast<double>(level.height) - 0.5,
                 locations[point * 2] * static_cast<double>(level.width) - 0.5, rows,
                 [&](int64_t row, double weight) {
                   const double* from = &value[((n * rows + row) * heads + head) * size];
                   for (int64_t i = 0; i < size; ++i)
                     y[query * size + i] += weights[point] * weight * from[i];
                 });
  });
  writeReals(evaluation.outputs[0], y);
}

}  // namespace

const OpInfo ops::DeformableAttention = {
    "DeformableAttention",      5, 5, 1, makeAttrsOf<NoAttrs>, inferDeformableAttention,
    evaluateDeformableAttention};

}  // namespace camshaft
