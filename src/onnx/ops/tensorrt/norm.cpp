// Normalisations.
#include "ops/norm.h"

#include "onnx/formula.h"
#include "onnx/ops/reduce.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size_rules.h"

namespace camshaft::onnx::importer {

namespace {

int64_t channelsOf(const NodeImport& node, const Value* x) {
  const Dim& channels = x->shape()[1];
  if (!channels.isConstant())
    node.unsupported("the channels of its input must be known and are ", toString(channels));
  return channels.value();
}

}  // namespace

// Scale and bias are fields, or inputs as ONNX has them; a leaky ReLU may follow.
void importInstanceNormPlugin(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(2));
  GroupNormAttrs attrs;
  attrs.groups = 0;
  attrs.epsilon = numberIn(node, "epsilon", 1e-5);
  std::vector<Value*> inputs{x};
  if (node.inputCount() >= 3) {
    inputs.insert(inputs.end(), {node.input(1), node.input(2)});
  } else {
    const Dims shape{channelsOf(node, x)};
    for (const std::string_view field : {"scales", "bias"})
      inputs.push_back(constantIn(node, field, x->dataType(), shape));
  }
  Value* y = node.add(&ops::GroupNorm, std::move(inputs), attrs);
  if (flagIn(node, "relu")) {
    Formula formula;
    const Term term = formula.input(0, y->dataType());
    const Term result = where(term < 0, term * numberIn(node, "alpha", 0), term);
    y = node.pointwise({y}, formula.take(result));
  }
  node.setOutput(y);
}

// Inputs x, scale and bias, of one element per channel. "GroupNorm", of which diffusion models were
// made, may apply SiLU too.
void importGroupNormPlugin(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(3));
  GroupNormAttrs attrs;
  attrs.groups = positiveIn(node, "num_groups", 32);
  attrs.epsilon = numberIn(node, node.has("eps") ? "eps" : "epsilon", 1e-5);
  const auto perChannel = [&](int i) {
    Value* flat = node.reshape(node.input(i), {numElements(node.input(i)->shape())});
    return node.cast(flat, x->dataType());
  };
  Value* y = node.add(&ops::GroupNorm, {x, perChannel(1), perChannel(2)}, attrs);
  node.setOutput(flagIn(node, "bSwish") ? node.unary(ScalarOp::kSilu, y) : y);
}

// Over the dimensions from `axis` on.
void importLayerNormPlugin(NodeImport& node) {
  Value* x = node.input(0, Ranks::from(1));
  LayerNormAttrs attrs;
  attrs.axis = node.axis(integerIn(node, "axis", -1), x->rank());
  attrs.epsilon = numberIn(node, "epsilon", 1e-5);
  node.setOutput(node.add(
      &ops::LayerNorm,
      {x, node.cast(node.input(1), x->dataType()), node.cast(node.input(2), x->dataType())},
      attrs));
}

// x / sqrt(sum(x * x) + eps) * weights, over channels, and over the picture too.
void importNormalizePlugin(NodeImport& node) {
  Value* x = node.input(0, 4);
  const std::vector<int64_t> axes =
      flagIn(node, "acrossSpatial") ? std::vector<int64_t>{1, 2, 3} : std::vector<int64_t>{1};
  Value* square = reduce(node, ReduceKind::kSumSquare, x, axes);
  const int64_t weights = flagIn(node, "channelShared") ? 1 : channelsOf(node, x);
  Value* scale = constantIn(node, "weights", x->dataType(), {1, weights, 1, 1});
  Formula formula;
  const DataType type = x->dataType();
  const Term sum = formula.input(1, type) + numberIn(node, "eps", 1e-10);
  const Term unit = formula.input(0, type) * apply(ScalarOp::kRsqrt, sum);
  const Term result = unit * formula.input(2, type);
  node.setOutput(node.pointwise({x, square, scale}, formula.take(result)));
}

}  // namespace camshaft::onnx::importer
