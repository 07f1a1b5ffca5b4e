#include "backends/cuda/conv/mma_convolution.h"

#include "backends/cuda/gemm/mma_config.h"
#include "backends/cuda/gemm_int8/operands.h"

namespace camshaft::cuda {

MmaConvolution::MmaConvolution(const Node& node, const BuildTarget& target) : conv(node) {
  refusal = whyNot(node, target);
  if (!refusal.empty()) return;
  const size_t last = conv.spatialRank() - 1;
  x = conv.windows[last];
  breadth = conv.fromSize(last);
  outBreadth = conv.toSize(last);
  elementBytes = bitsOf(node.inputs[0]->dataType()) / 8;
  if (last == 0) return;
  y = conv.windows[0];
  height = conv.fromSize(0);
  outHeight = conv.toSize(0);
}

std::string MmaConvolution::whyNot(const Node& node, const BuildTarget& target) const {
  if (!conv.refusal.empty()) return conv.refusal;
  if (conv.isTransposed || !conv.layout.channelsLast) return "needs channels last";
  const DataType a = node.inputs[0]->dataType(), b = node.inputs[1]->dataType();
  if (std::string reason = whyNoMma(target, a, b); !reason.empty()) return reason;
  if (conv.spatialRank() > 2) return "takes one or two spatial dimensions";
  if (!node.inputs[1]->isConstant()) return "needs constant weights";
  return whyWiderCentred(node);
}

}  // namespace camshaft::cuda
