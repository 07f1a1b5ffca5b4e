#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/norm/params.h"
#include "backends/cpu/prepare_common.h"
#include "ops/norm.h"

namespace camshaft::cpu::norm {

namespace {

// Whether an operand is shaped like the normalised dimensions, so that every row uses all of it.
bool coversRow(const Node& node, int input) {
  Shape operand = node.inputs[input]->shape();
  const Shape& x = node.inputs[0]->shape();
  const Shape row(x.begin() + node.as<LayerNormAttrs>().axis, x.end());
  while (operand.size() > row.size() && operand.front().isConstant(1))
    operand.erase(operand.begin());
  return operand == row;
}

Verdict supportsLayerNorm(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlainF32OrBf16(node, &ops::LayerNorm); !verdict) return verdict;
  const Shape& x = node.inputs[0]->shape();
  const Shape row(x.begin() + node.as<LayerNormAttrs>().axis, x.end());
  if (node.inputs[0]->dataType() == DataType::kBF16 && !isShortRow(row))
    return Verdict::no(kLongRow);
  for (int input : {1, 2})
    if (node.hasInput(input) && !coversRow(node, input))
      return Verdict::no("needs a scale and bias shaped like the normalised dimensions");
  return Verdict::yes();
}

Prepared prepareLayerNorm(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<LayerNormAttrs>();
  return preparedWith(node,
                      LayerNormParams{static_cast<int32_t>(attrs.axis), attrs.rms, attrs.epsilon});
}

Verdict supportsGroupNorm(const Node& node, const BuildContext&) {
  return acceptsPlainF32(node, &ops::GroupNorm);
}

Prepared prepareGroupNorm(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<GroupNormAttrs>();
  return preparedWith(node, GroupNormParams{attrs.groups, attrs.channelsLast, attrs.epsilon});
}

Verdict supportsLrn(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlainF32(node, &ops::Lrn); !verdict) return verdict;
  const auto& attrs = node.as<LrnAttrs>();
  const bool isPlain = attrs.bias >= 0 && attrs.alpha >= 0 && attrs.beta > 0;
  return isPlain ? Verdict::yes() : Verdict::no("no negative bias, alpha or beta");
}

Prepared prepareLrn(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<LrnAttrs>();
  const int64_t before = (attrs.size - 1) / 2;
  return preparedWith(
      node, LrnParams{.before = before,
                      .after = attrs.size - 1 - before,
                      .bias = static_cast<float>(attrs.bias),
                      .alpha = static_cast<float>(attrs.alpha / static_cast<double>(attrs.size)),
                      .beta = static_cast<float>(attrs.beta)});
}

bool inPlace(const Node&, int input) { return input == 0; }

constexpr Kernel kKernels[] = {
    {"cpu/layer_norm_f32", supportsLayerNorm, prepareLayerNorm, nullptr, inPlace},
    {"cpu/group_norm_f32", supportsGroupNorm, prepareGroupNorm, nullptr, inPlace},
    {"cpu/lrn_f32", supportsLrn, prepareLrn}};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::norm
