// A convolution that cuts a picture into patches, the patch embedding at the start of vision
// transformers, is a matrix product of the patches.
//
//   %t = Transpose(%x) [0, 2, 3, 1]                 // x [N, C, h·p, w·q]
//   %y = Conv(%t, %w, %b) {channels_last}           // w [M, C, p, q], strides [p, q]
//   →
//   %s = Reshape(%x) [N, C, h, p, w, q]
//   %u = Transpose(%s) [0, 2, 4, 1, 3, 5]
//   %v = Reshape(%u) [N, h, w, C·p·q]
//   %m = MatMul(%v, %w') {transpose_b}              // w' [M, C·p·q]
//   %y = Pointwise(%m, %b) {add}
//
// A cast of the picture moves behind the transpose, which stores what it makes of it. Pictures with
// many channels stay: convolutions read theirs in place, several side by side.
#include "ir/rewrite.h"
#include "ops/conv.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "passes/conv_to_gemm.h"
#include "passes/edit.h"
#include "passes/passes.h"

namespace camshaft {

static bool putsChannelsLast(const Node& transpose) {
  const std::vector<int64_t>& order = transpose.as<TransposeAttrs>().order;
  const auto rank = static_cast<int64_t>(order.size());
  for (int64_t i = 0; i < rank; ++i)
    if (order[i] != (i == 0 ? 0 : i + 1 < rank ? i + 1 : 1)) return false;
  return rank > 2;
}

// The transpose that the convolution reads its picture from, or null when it cuts no patches.
static Node* transposeOfPatches(const Node& conv) {
  constexpr int64_t kChannelsSideBySide = 8;
  if (!isPlainConvolution(conv)) return nullptr;
  const auto& attrs = conv.as<ConvAttrs>();
  const Shape &image = conv.input(0)->shape(), &kernel = conv.input(1)->shape();
  if (kernel[1].value() % kChannelsSideBySide == 0) return nullptr;
  int64_t taps = 1;
  for (size_t i = 0; i < attrs.strides.size(); ++i) {
    const int64_t size = attrs.strides[i];
    if (!kernel[2 + i].isConstant(size) || !image[1 + i].isConstant() ||
        image[1 + i].value() % size != 0)
      return nullptr;
    taps *= size;
  }
  Node* transpose = producerOf(conv.input(0), &ops::Transpose);
  return taps > 1 && transpose && putsChannelsLast(*transpose) ? transpose : nullptr;
}

// [N, C, h·p, w·q] to [N, h, w, C, p, q].
static Value* addPatches(Graph& graph, Node* conv, Value* picture) {
  const Shape& shape = picture->shape();
  Shape split = {shape[0], shape[1]};
  TransposeAttrs attrs;
  attrs.order = {0};
  std::vector<int64_t> within = {1};
  for (size_t i = 2; i < shape.size(); ++i) {
    const int64_t size = conv->as<ConvAttrs>().strides[i - 2];
    attrs.order.push_back(static_cast<int64_t>(split.size()));
    within.push_back(static_cast<int64_t>(split.size()) + 1);
    split.push_back(shape[i].value() / size);
    split.push_back(size);
  }
  attrs.order.insert(attrs.order.end(), within.begin(), within.end());
  Value* parts = addReshape(graph, conv->name, picture, std::move(split), conv);
  return graph.add(&ops::Transpose, conv->name, {parts}, std::move(attrs), conv)->output();
}

static void multiply(Graph& graph, Node* conv, const Node& transpose) {
  Value* picture = transpose.input(0);
  const Node* map = producerOf(picture, &ops::Pointwise);
  if (map && (map->inputs.size() != 1 || !onlyUser(graph, picture))) map = nullptr;
  Value* patches = addPatches(graph, conv, map ? map->input(0) : picture);
  if (map)
    patches = addPointwise(graph, map->name, {patches}, map->as<PointwiseAttrs>().expr, conv);
  Shape rows = conv->output()->shape();
  rows.back() = numElements(conv->input(1)->shape()).value() / conv->input(1)->shape()[0].value();
  replaceByProduct(graph, conv, addReshape(graph, conv->name, patches, std::move(rows), conv));
}

bool lowerPatchEmbedding(Graph& graph, const PassOptions& options) {
  if (!options.fusion.pixelProducts) return false;
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    const Node* transpose = transposeOfPatches(*node);
    if (!transpose) continue;
    multiply(graph, node, *transpose);
    changed = true;
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
