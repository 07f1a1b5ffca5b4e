// Normalisations of com.microsoft with the sum in front of them: a skip connection, embeddings.
#include "onnx/node_import.h"
#include "onnx/ops/reduce.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/norm.h"

namespace camshaft::onnx::importer {

namespace {

// Inputs x, skip, scale, then beta (not for rms) and a bias of x.
void importSkipNorm(NodeImport& node, bool rms) {
  Value *x = node.input(0, Ranks::from(2)), *skip = node.input(1, Ranks::from(2));
  const Shape &shape = x->shape(), columns{shape.back()};
  // One skip may serve all batches.
  requireBroadcastsTo(node, skip, "skip", shape);
  requireSize(node, skip->shape()[skip->rank() - 2], "rows in its skip", shape[x->rank() - 2]);
  requireSize(node, skip->shape().back(), "columns in its skip", shape.back());
  requireShape(node, node.input(2), "scale", columns);
  requireShape(node, rms ? nullptr : node.optionalInput(3), "shift", columns);
  Value* sum = node.binary(ScalarOp::kAdd, x, skip);
  if (Value* bias = node.optionalInput(rms ? 3 : 4)) {
    requireShape(node, bias, "bias", columns);
    sum = node.binary(ScalarOp::kAdd, sum, bias);
  }
  if (node.wants(1) || node.wants(2))
    node.unsupported("its mean and deviation outputs are not supported");
  LayerNormAttrs attrs;
  attrs.axis = sum->rank() - 1;
  attrs.epsilon = node.number("epsilon", 1e-12);
  attrs.rms = rms;
  std::vector<Value*> inputs{sum, node.input(2)};
  if (!rms && node.hasInput(3)) inputs.push_back(node.input(3));
  node.setOutput(0, node.add(&ops::LayerNorm, std::move(inputs), attrs));
  node.setOutput(3, sum);
}

}  // namespace

void importSkipLayerNormalization(NodeImport& node) { importSkipNorm(node, false); }
void importSkipSimplifiedLayerNormalization(NodeImport& node) { importSkipNorm(node, true); }

// LayerNorm of the sum of word, position and segment embeddings; the second output counts the
// words that the mask leaves.
void importEmbedLayerNormalization(NodeImport& node) {
  Value* ids = node.input(0, 2);
  const Dim &batch = ids->shape()[0], &length = ids->shape()[1];
  const auto lookUp = [&](int table, Value* indices) {
    return node.add(&ops::Gather, {node.input(table, 2), indices}, GatherAttrs{});
  };
  Value* positions = node.optionalInput(8);
  const Dim& width = node.input(2, 2)->shape()[1];
  requireSize(node, node.input(3, 2)->shape()[1], "columns of positions", width);
  requireShape(node, node.optionalInput(7), "mask", ids->shape());
  if (positions) requireBroadcastsTo(node, positions, "position ids", ids->shape());
  requireShape(node, node.input(5), "scale", {width});
  requireShape(node, node.input(6), "shift", {width});
  Value* sum =
      node.binary(ScalarOp::kAdd, lookUp(2, ids),
                  positions ? lookUp(3, positions) : node.slice(node.input(3, 2), 0, 0, length));
  if (Value* segments = node.optionalInput(1)) {
    requireShape(node, segments, "segment ids", ids->shape());
    requireSize(node, node.input(4, 2)->shape()[1], "columns of segments", width);
    sum = node.binary(ScalarOp::kAdd, sum, lookUp(4, segments));
  }
  LayerNormAttrs attrs;
  attrs.axis = 2;
  attrs.epsilon = node.number("epsilon", 1e-12);
  node.setOutput(0, node.add(&ops::LayerNorm, {sum, node.input(5), node.input(6)}, attrs));
  node.setOutput(2, sum);
  if (!node.wants(1)) return;
  Value* mask = node.optionalInput(7, 2);
  if (!mask) return node.setOutput(1, node.expand(node.scalar(DataType::kI32, 0), {batch}));
  Value* words = node.cast(node.binary(ScalarOp::kEqual, mask, 1.0), DataType::kI32);
  node.setOutput(1, reduce(node, ReduceKind::kSum, words, {1}, false));
}

}  // namespace camshaft::onnx::importer
