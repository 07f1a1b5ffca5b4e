#include "ops/attention.h"

#include <cmath>

#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferLinearAttention(const Node& node) {
  const auto& attrs = node.as<LinearAttentionAttrs>();
  if (attrs.kvHeads < 1 || attrs.qHeads < 1 || attrs.qHeads % attrs.kvHeads != 0)
    fail(ErrorKind::kInvalidModel, describe(node), " has ", attrs.qHeads, " heads for ",
         attrs.kvHeads, " of its keys, which must divide them");
  for (int i : {0, 1, 2}) requireRank(node, i, "its operands", 3);
  requireFloat(node, 0);
  const TensorType& q = node.inputs[0]->type;
  const Dim &batch = q.shape[0], &length = q.shape[1];
  const Dim keySize = floorDiv(q.shape[2], attrs.qHeads);
  const Dim valueSize = floorDiv(node.inputs[2]->shape()[2], attrs.kvHeads);
  requireMultiple(node, q.shape[2], "columns of queries", attrs.qHeads);
  requireMultiple(node, node.inputs[2]->shape()[2], "columns of values", attrs.kvHeads);
  requireShape(node, 1, "its keys", {batch, length, keySize * attrs.kvHeads});
  requireShape(node, 2, "its values", {batch, length, valueSize * attrs.kvHeads});
  TensorType state{q.type, {batch, attrs.kvHeads, keySize, valueSize}};
  if (node.hasInput(3)) {
    requireShape(node, 3, "its state", state.shape);
    state.type = node.inputs[3]->dataType();
  }
  if (node.hasInput(4)) {
    requireRank(node, 4, "its decay", 3);
    const Dim& width = node.inputs[4]->shape()[2];
    const bool perHead = width.isConstant(attrs.kvHeads);
    requireShape(node, 4, "its decay", {batch, length, perHead ? width : keySize * attrs.kvHeads});
  }
  if (node.hasInput(5)) {
    requireRank(node, 5, "its beta", 3);
    const bool isShared = node.inputs[5]->shape()[2].isConstant(1);
    requireShape(node, 5, "its beta", {batch, length, isShared ? Dim(1) : Dim(attrs.kvHeads)});
  }
  return {{q.type, {batch, length, valueSize * attrs.qHeads}}, state};
}

// One token of one head: `decay` is one number or keySize, `beta` null without correction.
struct Step {
  const double *k, *v, *decay, *beta;
  int64_t keySize, valueSize;
  bool decayPerRow;

  void update(double* state, std::vector<double>& u) const {
    if (decay)
      for (int64_t i = 0; i < keySize; ++i) {
        const double factor = std::exp(decay[decayPerRow ? i : 0]);
        for (int64_t j = 0; j < valueSize; ++j) state[i * valueSize + j] *= factor;
      }
    u.assign(v, v + valueSize);
    if (beta) {
      for (int64_t i = 0; i < keySize; ++i)
        for (int64_t j = 0; j < valueSize; ++j) u[j] -= state[i * valueSize + j] * k[i];
      for (double& value : u) value *= *beta;
    }
    for (int64_t i = 0; i < keySize; ++i)
      for (int64_t j = 0; j < valueSize; ++j) state[i * valueSize + j] += k[i] * u[j];
  }
};

void evaluateLinearAttention(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<LinearAttentionAttrs>();
  const auto input = [&](size_t i) {
    return i < evaluation.inputs.size() ? readReals(evaluation.inputs[i]) : std::vector<double>{};
  };
  const std::vector<double> q = input(0), k = input(1), v = input(2), decay = input(4),
                            beta = input(5);
  const Dims &dims = evaluation.outputs[0].dims, &stateDims = evaluation.outputs[1].dims;
  const int64_t batch = dims[0], length = dims[1], keySize = stateDims[2], valueSize = stateDims[3];
  const int64_t heads = attrs.kvHeads, shared = attrs.qHeads / heads;
  std::vector<double> y(evaluation.outputs[0].count()), state = input(3), u;
  state.resize(evaluation.outputs[1].count());
  const int64_t decays = decay.empty() ? 0 : evaluation.inputs[4].dims[2];
  const int64_t betas = beta.empty() ? 0 : evaluation.inputs[5].dims[2];
  for (int64_t row = 0; row < batch * heads; ++row) {
    const int64_t n = row / heads, head = row % heads;
    double* s = state.data() + row * keySize * valueSize;
    for (int64_t token = n * length; token < (n + 1) * length; ++token) {
      const bool perRow = decays != heads;
      Step{k.data() + (token * heads + head) * keySize,
           v.data() + (token * heads + head) * valueSize,
           decays ? &decay[token * decays + head * (perRow ? keySize : 1)] : nullptr,
           betas ? &beta[token * betas + (betas > 1 ? head : 0)] : nullptr,
           keySize,
           valueSize,
           perRow}
          .update(s, u);
      for (int64_t query = head * shared; query < (head + 1) * shared; ++query) {
        const double* from = q.data() + (token * attrs.qHeads + query) * keySize;
        double* to = y.data() + (token * attrs.qHeads + query) * valueSize;
        for (int64_t i = 0; i < keySize; ++i)
          for (int64_t j = 0; j < valueSize; ++j)
            to[j] += attrs.scale * from[i] * s[i * valueSize + j];
      }
    }
  }
  writeReals(evaluation.outputs[0], y);
  writeReals(evaluation.outputs[1], state);
}

}  // namespace

const OpInfo ops::LinearAttention = {
    "LinearAttention",      3, 6, 2, makeAttrsOf<LinearAttentionAttrs>, inferLinearAttention,
    evaluateLinearAttention};

}  // namespace camshaft
