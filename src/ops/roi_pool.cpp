#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/roi.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferRoiMaxPool(const Node& node) {
  const auto& attrs = node.as<RoiMaxPoolAttrs>();
  const TensorType& x = node.inputs[0]->type;
  requireRank(node, 0, "an image", 4);
  requireFloat(node, 0);
  requireRank(node, 1, "a list of boxes", 2);
  requireFloat(node, 1);
  const Shape& rois = node.inputs[1]->shape();
  requireEqual(node, rois[1], "numbers per box", 5, "there must be");
  if (attrs.height < 1 || attrs.width < 1)
    fail(ErrorKind::kInvalidModel, describe(node), " has an output of ", attrs.height, " x ",
         attrs.width);
  return {{x.type, {rois[0], x.shape[1], attrs.height, attrs.width}}};
}

// The pixels of each bin along one dimension; none where it lies outside.
struct BinRange {
  int64_t begin, end;
};
std::vector<BinRange> binsOf(double start, double end, int64_t bins, int64_t size) {
  const auto pixel = [](double x) {
    return std::isnan(x) ? 0.0 : std::round(std::clamp(x, -1e9, 1e9));
  };
  const double first = pixel(start), extent = std::max(pixel(end) - first + 1, 1.0);
  const auto inside = [&](double x) {
    return static_cast<int64_t>(std::clamp(x + first, 0.0, static_cast<double>(size)));
  };
  std::vector<BinRange> ranges;
  for (int64_t i = 0; i < bins; ++i) {
    const double width = extent / static_cast<double>(bins);
    ranges.push_back({inside(std::floor(static_cast<double>(i) * width)),
                      inside(std::ceil(static_cast<double>(i + 1) * width))});
  }
  return ranges;
}

double largestIn(const double* image, int64_t width, BinRange rows, BinRange columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = rows.begin; i < rows.end; ++i)
    for (int64_t j = columns.begin; j < columns.end; ++j)
      largest = std::max(largest, image[i * width + j]);
  return largest;
}

void evaluateRoiMaxPool(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<RoiMaxPoolAttrs>();
  const Dims& dims = evaluation.inputs[0].dims;
  const int64_t channels = dims[1], height = dims[2], width = dims[3];
  const std::vector<double> x = readReals(evaluation.inputs[0]);
  const std::vector<double> rois = readReals(evaluation.inputs[1]);
  std::vector<double> y(evaluation.outputs[0].count());
  auto out = y.begin();
  for (size_t r = 0; r < rois.size() / 5 && !y.empty(); ++r) {
    const double* roi = &rois[r * 5];
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(dims[0])))
      fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " reads image ", roi[0], " of ",
           dims[0]);
    const auto rows = binsOf(roi[2] * attrs.scale, roi[4] * attrs.scale, attrs.height, height);
    const auto columns = binsOf(roi[1] * attrs.scale, roi[3] * attrs.scale, attrs.width, width);
    for (int64_t c = 0; c < channels; ++c) {
      const double* image =
          x.data() + (static_cast<int64_t>(roi[0]) * channels + c) * height * width;
      for (const BinRange& row : rows)
        for (const BinRange& column : columns) *out++ = largestIn(image, width, row, column);
    }
  }
  writeReals(evaluation.outputs[0], y);
}

}  // namespace

const OpInfo ops::RoiMaxPool = {
    "RoiMaxPool", 2, 2, 1, makeAttrsOf<RoiMaxPoolAttrs>, inferRoiMaxPool, evaluateRoiMaxPool};

}  // namespace camshaft
