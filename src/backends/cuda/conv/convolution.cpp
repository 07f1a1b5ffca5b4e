#include "backends/cuda/conv/convolution.h"

#include <algorithm>

#include "backends/cuda/gemm_int8/operands.h"
#include "ops/conv.h"
#include "ops/ops.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

bool channelsLastOf(const Node& node) {
  return node.op == &ops::ConvTranspose ? node.as<ConvTransposeAttrs>().channelsLast
                                        : node.as<ConvAttrs>().channelsLast;
}

}  // namespace

Convolution::Convolution(const Node& node)
    : isTransposed(node.op == &ops::ConvTranspose),
      layout{channelsLastOf(node), node.inputs[0]->rank()},
      from(node.inputs[0]->shape()),
      to(node.output()->shape()),
      hasBias(!isOfIntegers(node) && node.hasInput(kBias)) {
  const Shape& weights = node.inputs[1]->shape();
  if (refusal = whyNotPrinted(node); !refusal.empty()) return;
  if (refusal = whyNotCentred(node); !refusal.empty()) return;
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

void printPixelStore(KernelText& kernel, const Node& node, int width) {
  const Shape& y = node.output()->shape();
  Walk walk(kernel, y, {{"p", axesFrom(0, y.size() - 1)}, {"c", {y.size() - 1}}});
  printStore(kernel, node, walk, "Index p, Index c", width);
}

}  // namespace camshaft::cuda
