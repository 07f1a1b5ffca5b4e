#include "backends/cpu/precision.h"

#include <algorithm>
#include <cstdlib>

#include "backends/cpu/attention/head_products.h"
#include "backends/cpu/gemm/gemm16.h"
#include "backends/cpu/prepare_common.h"
#include "ops/attention.h"
#include "ops/conv.h"
#include "ops/gemm.h"
#include "ops/norm.h"
#include "ops/ops.h"
#include "ops/pool.h"
#include "ops/reduce.h"
#include "ops/sample.h"
#include "ops/softmax.h"

namespace camshaft::cpu {
namespace {

// Layouts are not chosen yet: images will have their channels last.
bool isTakenConv(const Node& node) {
  const auto& attrs = node.as<ConvAttrs>();
  const Shape& weights = node.inputs[1]->shape();
  const auto isNegative = [](int64_t pad) { return pad < 0; };
  const bool isDepthwise = weights[1].isConstant(1) && weights[0].isConstant(attrs.groups);
  return node.inputs[1]->isConstant() && (weights.size() == 3 || weights.size() == 4) &&
         (attrs.groups == 1 || isDepthwise) && std::ranges::none_of(attrs.padsBegin, isNegative) &&
         std::ranges::none_of(attrs.padsEnd, isNegative);
}

// Those whose kernel is as large as their stride.
bool isTakenTranspose(const Node& node) {
  const auto& attrs = node.as<ConvTransposeAttrs>();
  const Shape& weights = node.inputs[1]->shape();
  const auto areAll = [](const std::vector<int64_t>& sizes, int64_t wanted) {
    return std::ranges::all_of(sizes, [&](int64_t size) { return size == wanted; });
  };
  if (!node.inputs[1]->isConstant() || (weights.size() != 3 && weights.size() != 4)) return false;
  for (size_t i = 2; i < weights.size(); ++i)
    if (!weights[i].isConstant(attrs.strides[i - 2])) return false;
  return attrs.groups == 1 && areAll(attrs.dilations, 1) && areAll(attrs.padsBegin, 0) &&
         areAll(attrs.padsEnd, 0) && areAll(attrs.outputPadding, 0);
}

bool isTakenProduct(const Node& node) {
  const Value& b = *node.inputs[1];
  return b.isConstant() && std::all_of(b.shape().begin(), b.shape().end() - 2,
                                       [](const Dim& dim) { return dim.isConstant(1); });
}

bool isTakenPool(const Node& node) {
  const auto& attrs = node.as<PoolAttrs>();
  return attrs.kind != PoolKind::kLp && node.outputs.size() == 1 && attrs.kernel.size() <= 2;
}

bool isShort(const Shape& x, int64_t axis) { return isShortRow(Shape(x.begin() + axis, x.end())); }

bool isTakenSoftmax(const Node& node) {
  const auto& attrs = node.as<SoftmaxAttrs>();
  const Shape& x = node.inputs[0]->shape();
  return attrs.kind != SoftmaxKind::kHardmax && attrs.axis + 1 == static_cast<int64_t>(x.size()) &&
         isShort(x, attrs.axis);
}

// To tokens of its own: a cache stays what it is, of which a step reads all.
bool isTakenAttention(const Node& node) {
  const AttentionGeometry geometry = attentionGeometry(node);
  return attention::takesBf16(Type16::kBf16) && node.as<AttentionAttrs>().keys.empty() &&
         node.inputs[1]->dataType() == DataType::kF32 && geometry.q.length == geometry.k.length;
}

// Kernels that move elements whatever they are.
constexpr Op kMoves[] = {&ops::Identity, &ops::Transpose,      &ops::Reshape,
                         &ops::Expand,   &ops::Slice,          &ops::Concat,
                         &ops::Pad,      &ops::Tile,           &ops::Gather,
                         &ops::GatherND, &ops::GatherElements, &ops::Shape};

}  // namespace

Gain16 gain16(bool allowF16, bool allowBf16) {
  if ((allowF16 || allowBf16) && hasGemm16(Type16::kBf16)) {
    const char* asked = std::getenv("CAMSHAFT_TEST_BF16_TENSORS");
    return {.type = DataType::kBF16, .tensors = bf16UsesTiles() || (asked && *asked == '1')};
  }
  return {.type = allowF16 && hasGemm16(Type16::kF16) ? DataType::kF16 : DataType::kF32};
}

bool worksInBf16(const Node& node) {
  if (node.op == &ops::Pointwise || std::ranges::count(kMoves, node.op) > 0) return true;
  if (node.op == &ops::Conv) return isTakenConv(node);
  if (node.op == &ops::ConvTranspose) return isTakenTranspose(node);
  if (node.op == &ops::MatMul) return isTakenProduct(node);
  if (node.op == &ops::Pool) return isTakenPool(node);
  if (node.op == &ops::Softmax) return isTakenSoftmax(node);
  if (node.op == &ops::Attention) return isTakenAttention(node);
  if (node.op == &ops::LayerNorm)
    return isShort(node.inputs[0]->shape(), node.as<LayerNormAttrs>().axis);
  if (node.op == &ops::Reduce) return node.as<ReduceAttrs>().kind != ReduceKind::kLogSumExp;
  if (node.op == &ops::Resize) return node.as<ResizeAttrs>().mode == ResizeMode::kNearest;
  return false;
}

}  // namespace camshaft::cpu
