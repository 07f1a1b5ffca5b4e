// Transpose and the operators that are one between two reshapes.
#include <numeric>

#include "onnx/node_import.h"
#include "onnx/size_rules.h"

namespace camshaft::onnx::importer {

void importTranspose(NodeImport& node) {
  Value* x = node.input(0);
  std::vector<int64_t> order(static_cast<size_t>(x->rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  order = node.integers("perm", order);
  if (order.size() != static_cast<size_t>(x->rank()))
    node.invalid("its perm has ", order.size(), " entries for a tensor of rank ", x->rank());
  for (int64_t& axis : order) axis = node.axis(axis, x->rank());
  node.axes(order, x->rank());  // refuses repeats
  node.setOutput(node.transpose(x, std::move(order)));
}

namespace {

Value* imageInput(const NodeImport& node) {
  Value* x = node.input(0, 4);
  constexpr int64_t kMaxBlock = 1 << 15;
  const int64_t block = node.integer("blocksize");
  if (block <= 0 || block > kMaxBlock)
    node.invalid("its blocksize must be between 1 and ", kMaxBlock);
  return x;
}

}  // namespace

void importDepthToSpace(NodeImport& node) {
  Value* x = imageInput(node);
  const Shape& in = x->shape();
  const Dim block = node.integer("blocksize");
  const Dim channels = floorDiv(in[1], block * block);
  requireSize(node, in[1], "channels", channels * block * block);
  const bool depthFirst = node.choice("mode", "dcr", {"dcr", "crd"}) == 0;
  Value* split = depthFirst ? node.reshape(x, {in[0], block, block, channels, in[2], in[3]})
                            : node.reshape(x, {in[0], channels, block, block, in[2], in[3]});
  const std::vector<int64_t> order =
      depthFirst ? std::vector<int64_t>{0, 3, 4, 1, 5, 2} : std::vector<int64_t>{0, 1, 4, 2, 5, 3};
  node.setOutput(
      node.reshape(node.transpose(split, order), {in[0], channels, in[2] * block, in[3] * block}));
}

void importSpaceToDepth(NodeImport& node) {
  Value* x = imageInput(node);
  const Shape& in = x->shape();
  const Dim block = node.integer("blocksize");
  const Dim height = floorDiv(in[2], block), width = floorDiv(in[3], block);
  requireSize(node, in[2], "rows", height * block);
  requireSize(node, in[3], "columns", width * block);
  Value* split = node.reshape(x, {in[0], in[1], height, block, width, block});
  const bool depthFirst = node.choice("mode", "dcr", {"dcr", "crd"}) == 0;
  Value* moved = depthFirst ? node.transpose(split, {0, 3, 5, 1, 2, 4})
                            : node.transpose(split, {0, 1, 3, 5, 2, 4});
  node.setOutput(node.reshape(moved, {in[0], in[1] * block * block, height, width}));
}

}  // namespace camshaft::onnx::importer
