#include <algorithm>
#include <cmath>

#include "ops/roi.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferRoiAlign(const Node& node) {
  const auto& attrs = node.as<RoiAlignAttrs>();
  const TensorType& x = node.inputs[0]->type;
  const Value *rois = node.inputs[1], *batches = node.inputs[2];
  requireRank(node, 0, "an image", 4);
  requireFloat(node, 0);
  requireRank(node, 1, "a list of boxes", 2);
  requireFloat(node, 1);
  requireRank(node, 2, "a list of images' indices", 1);
  requireEqual(node, rois->shape()[1], "numbers per box", 4, "there must be");
  requireEqual(node, batches->shape()[0], "indices of images", rois->shape()[0], "its boxes are");
  if (!isInteger(batches->dataType()))
    fail(ErrorKind::kInvalidModel, describe(node), " needs integers as images' indices and has ",
         batches->dataType());
  if (attrs.height < 1 || attrs.width < 1 || attrs.samplingRatio < 0)
    fail(ErrorKind::kInvalidModel, describe(node), " has an output of ", attrs.height, " x ",
         attrs.width, " and ", attrs.samplingRatio, " samples per bin");
  const Dim& count = moreKnown(rois->shape()[0], batches->shape()[0]);
  return {{x.type, {count, x.shape[1], attrs.height, attrs.width}}};
}

// Two neighbouring elements and what each counts; outside there are none.
struct LinearTap {
  int64_t low = -1, high = -1;
  double lowWeight = 0, highWeight = 0;
};

// Samples of all bins along one dimension of a box, bin after bin.
struct BoxAxis {
  int64_t perBin;
  std::vector<LinearTap> taps;

  BoxAxis(const RoiAlignAttrs& attrs, double start, double end, int64_t bins, int64_t size) {
    double extent = end - start;
    if (!attrs.halfPixel) extent = std::max(extent, 1.0);
    const double bin = extent / static_cast<double>(bins);
    const double adaptive = std::ceil(bin);
    perBin = attrs.samplingRatio > 0
                 ? attrs.samplingRatio
                 : static_cast<int64_t>(std::min(adaptive > 0 ? adaptive : 0.0,
                                                 static_cast<double>(kMostRoiSamples)));
    for (int64_t i = 0; i < bins * perBin; ++i) {
      const double inBin = (static_cast<double>(i % perBin) + 0.5) / static_cast<double>(perBin);
      taps.push_back(tapAt(start + (static_cast<double>(i / perBin) + inBin) * bin, size));
    }
  }

  static LinearTap tapAt(double position, int64_t size) {
    if (!(position >= -1 && position <= static_cast<double>(size))) return {};
    position = std::max(position, 0.0);
    const auto low = static_cast<int64_t>(position);
    if (low >= size - 1) return {size - 1, size - 1, 1, 0};
    const double ratio = position - static_cast<double>(low);
    return {low, low + 1, 1 - ratio, ratio};
  }
};

// One bin of one channel's image.
double poolBin(const double* image, int64_t width, const BoxAxis& rows, const BoxAxis& columns,
               int64_t row, int64_t column, RoiAlignMode mode) {
  double sum = 0, largest = 0;
  for (int64_t i = 0; i < rows.perBin; ++i) {
    const LinearTap& y = rows.taps[row * rows.perBin + i];
    for (int64_t j = 0; j < columns.perBin; ++j) {
      const LinearTap& x = columns.taps[column * columns.perBin + j];
      double corners[4] = {};
      if (y.low >= 0 && x.low >= 0) {
        const double *top = image + y.low * width, *bottom = image + y.high * width;
        corners[0] = y.lowWeight * x.lowWeight * top[x.low];
        corners[1] = y.lowWeight * x.highWeight * top[x.high];
        corners[2] = y.highWeight * x.lowWeight * bottom[x.low];
        corners[3] = y.highWeight * x.highWeight * bottom[x.high];
      }
      sum += corners[0] + corners[1] + corners[2] + corners[3];
      const double best = *std::max_element(corners, corners + 4);
      largest = i == 0 && j == 0 ? best : std::max(largest, best);
    }
  }
  if (mode == RoiAlignMode::kMax) return largest;
  return sum / static_cast<double>(std::max<int64_t>(rows.perBin * columns.perBin, 1));
}

void evaluateRoiAlign(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<RoiAlignAttrs>();
  const Dims& dims = evaluation.inputs[0].dims;
  const int64_t channels = dims[1], height = dims[2], width = dims[3];
  const std::vector<double> x = readReals(evaluation.inputs[0]);
  const std::vector<double> rois = readReals(evaluation.inputs[1]);
  std::vector<double> y(evaluation.outputs[0].count());
  const double shift = attrs.halfPixel ? 0.5 : 0;
  auto out = y.begin();
  for (size_t r = 0; r < rois.size() / 4 && !y.empty(); ++r) {
    const int64_t batch =
        readInteger(evaluation.inputs[2].type, evaluation.inputs[2].data, static_cast<int64_t>(r));
    if (batch < 0 || batch >= dims[0] || height * width == 0)
      fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " reads image ", batch, " of ",
           dims[0]);
    const auto edge = [&](int i) { return rois[r * 4 + i] * attrs.scale - shift; };
    const BoxAxis rows(attrs, edge(1), edge(3), attrs.height, height);
    const BoxAxis columns(attrs, edge(0), edge(2), attrs.width, width);
    for (int64_t c = 0; c < channels; ++c) {
      const double* image = &x[(batch * channels + c) * height * width];
      for (int64_t i = 0; i < attrs.height; ++i)
        for (int64_t j = 0; j < attrs.width; ++j)
          *out++ = poolBin(image, width, rows, columns, i, j, attrs.mode);
    }
  }
  writeReals(evaluation.outputs[0], y);
}

}  // namespace

const OpInfo ops::RoiAlign = {"RoiAlign",      3, 3, 1, makeAttrsOf<RoiAlignAttrs>, inferRoiAlign,
                              evaluateRoiAlign};

}  // namespace camshaft
