#include "backends/cuda/conv/convolution.h"

#include <algorithm>
#include <cstring>

#include "ops/conv.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

bool channelsLastOf(const Node& node) {
  return node.op == &ops::Conv ? node.as<ConvAttrs>().channelsLast
                               : node.as<ConvTransposeAttrs>().channelsLast;
}

}  // namespace

Convolution::Convolution(const Node& node)
    : isTransposed(node.op == &ops::ConvTranspose),
      layout{channelsLastOf(node), node.inputs[0]->rank()},
      from(node.inputs[0]->shape()),
      to(node.output()->shape()) {
  const Shape& weights = node.inputs[1]->shape();
  if (refusal = whyNotPrinted(node); !refusal.empty()) return;
  if (!std::all_of(weights.begin(), weights.end(),
                   [](const Dim& dim) { return dim.isConstant(); })) {
    refusal = "needs the shape of its weights while building";
    return;
  }
  Dims kernel;
  for (size_t i = 2; i < weights.size(); ++i) kernel.push_back(weights[i].value());
  if (isTransposed) {
    const auto& attrs = node.as<ConvTransposeAttrs>();
    groups = attrs.groups;
    windows = windowsOf(attrs, kernel);
    groupInputs = weights[0].value() / groups;
    groupOutputs = weights[1].value();
  } else {
    const auto& attrs = node.as<ConvAttrs>();
    groups = attrs.groups;
    windows = windowsOf(attrs, kernel);
    groupInputs = weights[1].value();
    groupOutputs = weights[0].value() / groups;
  }
}

int64_t Convolution::taps() const {
  int64_t taps = 1;
  for (const Window& window : windows) taps *= window.kernel;
  return taps;
}

std::vector<std::byte> packedWeights(const Value& weights, int64_t count,
                                     const std::function<int64_t(int64_t)>& source) {
  const size_t bytes = bitsOf(weights.dataType()) / 8;
  const auto* from = static_cast<const std::byte*>(weights.view().data);
  std::vector<std::byte> packed(count * bytes);
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t at = source(i); at >= 0)
      std::memcpy(&packed[i * bytes], from + at * bytes, bytes);
  return packed;
}

void printPixelStore(KernelText& kernel, const Node& node, int width) {
  const Shape& y = node.output()->shape();
  Walk walk(kernel, y, {{"p", axesFrom(0, y.size() - 1)}, {"c", {y.size() - 1}}});
  printStore(kernel, node, walk, "Index p, Index c", width);
}

}  // namespace camshaft::cuda
