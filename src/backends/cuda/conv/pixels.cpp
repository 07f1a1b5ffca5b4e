#include "backends/cuda/conv/pixels.h"

#include <algorithm>

#include "backends/cuda/conv/product.h"
#include "backends/cuda/gemm/cublaslt.h"
#include "backends/cuda/gemm/hopper/hopper.h"
#include "backends/cuda/libraries/problems.h"
#include "ops/conv.h"
#include "ops/ops.h"

namespace camshaft::cuda {
namespace {

std::string whyNoProduct(const Node& conv) {
  const auto& attrs = conv.as<ConvAttrs>();
  const auto isAll = [](const std::vector<int64_t>& list, int64_t value) {
    return std::all_of(list.begin(), list.end(), [&](int64_t item) { return item == value; });
  };
  const Shape& weights = conv.inputs[1]->shape();
  if (!attrs.channelsLast || attrs.groups != 1) return "needs channels last in one group";
  if (!std::all_of(weights.begin() + 2, weights.end(),
                   [](const Dim& dim) { return dim.isConstant(1); }) ||
      !isAll(attrs.strides, 1) || !isAll(attrs.padsBegin, 0) || !isAll(attrs.padsEnd, 0))
    return "looks at one pixel at a time, and at each";
  if (!conv.inputs[1]->isConstant()) return "needs constant weights";
  if (!isFloat(conv.inputs[0]->dataType()) && conv.op != &ops::ConvInteger)
    return "multiplies floats, or bytes";
  return {};
}

// Of one pixel's weights [M, C, 1...] of bytes: [C, M].
ConstantPtr transposedBytes(const Value& weights) {
  const int64_t m = weights.shape()[0].value(), c = weights.shape()[1].value();
  const auto* from = static_cast<const std::byte*>(weights.view().data);
  std::vector<std::byte> to(static_cast<size_t>(m * c));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < c; ++j) to[static_cast<size_t>(j * m + i)] = from[i * c + j];
  return ConstantData::own(std::move(to));
}

// The weights as they are; of bytes transposed.
ConvProduct productOf(const Node& conv) {
  const Value& weights = *conv.inputs[1];
  const bool isOfBytes = conv.op == &ops::ConvInteger;
  return ConvProduct(conv,
                     {weights.dataType(), weights.shape()[1].value(),
                      isOfBytes ? transposedBytes(weights) : weights.constant},
                     {2, 3});
}

template <const Kernel& (*kProducts)()>
struct Pixels {
  static Verdict supports(const Node& conv, const BuildContext& context) {
    if (std::string reason = whyNoProduct(conv); !reason.empty())
      return Verdict::no(std::move(reason));
    return kProducts().supports(*productOf(conv).node, context);
  }
  static std::vector<int64_t> configurations(const Node& conv, const BuildContext& context) {
    return kProducts().configurations(*productOf(conv).node, context);
  }
  static Prepared prepare(const Node& conv, const BuildContext& context, int64_t config) {
    const ConvProduct product = productOf(conv);
    Prepared prepared = product.ofConv(kProducts().prepare(*product.node, context, config));
    if (prepared.runtimeKernel.empty()) prepared.runtimeKernel = kProducts().name;
    return prepared;
  }
  static bool inPlace(const Node& conv, int input) {
    const ConvProduct product = productOf(conv);
    const int place = product.placeOf(conv, input);
    return place >= 0 && kProducts().inPlace(*product.node, place);
  }
};

template <const Kernel& (*kProducts)()>
constexpr Kernel kernelOf(std::string_view name, size_t usualConfigurations) {
  using P = Pixels<kProducts>;
  return {name, P::supports, P::prepare, P::configurations, P::inPlace, usualConfigurations};
}

}  // namespace

const Kernel& hopperPixelKernel() {
  static constexpr Kernel kKernel =
      kernelOf<hopperGemmKernel>("cuda/conv_pixels_hopper", kUsualHopperConfigs);
  return kKernel;
}

const Kernel& cublasLtPixelKernel() {
  static constexpr Kernel kKernel =
      kernelOf<cublasLtKernel>("cuda/conv_pixels_cublaslt", kUsualPlans);
  return kKernel;
}

}  // namespace camshaft::cuda
