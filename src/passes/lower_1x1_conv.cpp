// A 1x1 convolution of images that are one pixel, as after a global mean, is a matrix product.
//
//   %y = Conv(%x, %w, %b) {channels_last}           // x [N, 1, 1, C], w [M, C, 1, 1]
//   →
//   %m = MatMul(%x, %w') {transpose_b}              // w' [M, C]
//   %y = Pointwise(%m, %b) {add}
#include <algorithm>

#include "passes/conv_to_gemm.h"
#include "passes/passes.h"

namespace camshaft {

static bool isOne(const Dim& dim) { return dim.isConstant(1); }

static bool convolvesPixels(const Node& conv) {
  if (!isPlainConvolution(conv)) return false;
  const Shape &image = conv.input(0)->shape(), &kernel = conv.input(1)->shape();
  return image.size() > 2 && std::all_of(image.begin() + 1, image.end() - 1, isOne) &&
         std::all_of(kernel.begin() + 2, kernel.end(), isOne);
}

bool lower1x1Conv(Graph& graph, const PassOptions& options) {
  if (!options.fusion.pixelProducts) return false;
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (!convolvesPixels(*node)) continue;
    replaceByProduct(graph, node, node->input(0));
    changed = true;
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
