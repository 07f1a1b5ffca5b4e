#include <cmath>

#include "ops/im2col.h"
#include "ops/rules.h"
#include "ops/window.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferDeformColumns(const Node& node) {
  const auto& attrs = node.as<DeformColumnsAttrs>();
  const TensorType& x = node.inputs[0]->type;
  requireRank(node, 0, "an image", 4);
  requireFloat(node, 0);
  requireWindows(node, 2, {&attrs.kernel, &attrs.strides, &attrs.dilations},
                 {&attrs.padsBegin, &attrs.padsEnd});
  if (attrs.groups < 1 || (x.shape[1].isConstant() && x.shape[1].value() % attrs.groups != 0))
    fail(ErrorKind::kInvalidModel, describe(node), " has ", attrs.groups, " groups of offsets for ",
         x.shape[1], " channels");
  requireMultiple(node, x.shape[1], "channels", attrs.groups);
  const std::vector<Window> windows = windowsOf(attrs, attrs.kernel);
  const int64_t taps = countOf(attrs.kernel);
  Shape offsets{x.shape[0], attrs.groups * taps * 2};
  for (int i = 0; i < 2; ++i) offsets.push_back(windowCount(node, windows[i], x.shape[2 + i]));
  requireShape(node, 1, "its offsets", offsets);
  requireFloat(node, 1);
  if (node.hasInput(2)) {
    Shape mask = offsets;
    mask[1] = attrs.groups * taps;
    requireShape(node, 2, "its mask", mask);
    requireFloat(node, 2);
  }
  return {{x.type, {x.shape[0], x.shape[1], taps, offsets[2] * offsets[3]}}};
}

// The image at a position between pixels.
double sampleAt(const double* image, int64_t height, int64_t width, double y, double x) {
  if (!(y > -1 && x > -1 && y < static_cast<double>(height) && x < static_cast<double>(width)))
    return 0;
  const auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
  const double down = y - static_cast<double>(top), right = x - static_cast<double>(left);
  const auto weighted = [&](int64_t i, int64_t j, double weight) {
    const bool inside = i >= 0 && j >= 0 && i < height && j < width;
    return inside && weight != 0 ? weight * image[i * width + j] : 0;
  };
  return weighted(top, left, (1 - down) * (1 - right)) +
         weighted(top, left + 1, (1 - down) * right) + weighted(top + 1, left, down * (1 - right)) +
         weighted(top + 1, left + 1, down * right);
}

void evaluateDeformColumns(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<DeformColumnsAttrs>();
  const Dims& dims = evaluation.inputs[0].dims;
  const int64_t channels = dims[1], height = dims[2], width = dims[3];
  const int64_t taps = countOf(attrs.kernel), perGroup = channels / attrs.groups;
  const int64_t windowColumns = evaluation.inputs[1].dims[3];
  const int64_t windows = evaluation.outputs[0].dims[3];
  const std::vector<double> x = readReals(evaluation.inputs[0]);
  const std::vector<double> offsets = readReals(evaluation.inputs[1]);
  const bool masked = evaluation.inputs.size() > 2 && evaluation.inputs[2].present();
  const std::vector<double> mask = masked ? readReals(evaluation.inputs[2]) : std::vector<double>{};
  std::vector<double> y(evaluation.outputs[0].count());
  forEachIndex({dims[0], attrs.groups, taps, windows}, [&](const Dims& at) {
    const int64_t n = at[0], group = at[1], tap = at[2], window = at[3];
    const int64_t set = (n * attrs.groups + group) * taps + tap;
    const int64_t start[] = {window / windowColumns * attrs.strides[0] - attrs.padsBegin[0] +
                                 tap / attrs.kernel[1] * attrs.dilations[0],
                             window % windowColumns * attrs.strides[1] - attrs.padsBegin[1] +
                                 tap % attrs.kernel[1] * attrs.dilations[1]};
    const double row = static_cast<double>(start[0]) + offsets[set * 2 * windows + window];
    const double column = static_cast<double>(start[1]) + offsets[(set * 2 + 1) * windows + window];
    for (int64_t c = group * perGroup; c < (group + 1) * perGroup; ++c)
      y[((n * channels + c) * taps + tap) * windows + window] =
          sampleAt(x.data() + (n * channels + c) * height * width, height, width, row, column) *
          (masked ? mask[set * windows + window] : 1);
  });
  writeReals(evaluation.outputs[0], y);
}

}  // namespace

const OpInfo ops::DeformColumns = {
    "DeformColumns",      2, 3, 1, makeAttrsOf<DeformColumnsAttrs>, inferDeformColumns,
    evaluateDeformColumns};

}  // namespace camshaft
