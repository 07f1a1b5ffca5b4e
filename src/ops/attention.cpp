#include "ops/attention.h"

#include <array>
#include <cmath>
#include <limits>

#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

// Of k, wherever transposedKeys puts them.
struct KeyAxes {
  int length, size;
  explicit KeyAxes(const AttentionAttrs& attrs)
      : length(attrs.transposedKeys ? 3 : 2), size(attrs.transposedKeys ? 2 : 3) {}
};

void requireMask(const Node& node, const Shape& scores) {
  if (node.inputs[3]->dataType() != DataType::kBool) requireFloat(node, 3);
  requireBroadcastsTo(node, 3, "a mask", scores);
}

std::vector<TensorType> inferAttention(const Node& node) {
  const KeyAxes axes(node.as<AttentionAttrs>());
  for (int i = 0; i < 3; ++i) {
    requireRank(node, i, "queries, keys and values", 4);
    requireFloat(node, i);
    requireSameType(node, i, 0);
  }
  const Shape &q = node.inputs[0]->shape(), &k = node.inputs[1]->shape(),
              &v = node.inputs[2]->shape();
  requireEqual(node, k[0], "batches of keys", q[0], "its queries have");
  requireEqual(node, v[0], "batches of values", q[0], "its queries have");
  requireEqual(node, v[1], "heads of values", k[1], "its keys have");
  requireEqual(node, k[axes.size], "features per key", q[3], "its queries have");
  requireEqual(node, v[2], "values", k[axes.length], "its keys number");
  if (q[1].isConstant() && k[1].isConstant() &&
      (k[1].value() < 1 || q[1].value() % k[1].value() != 0))
    fail(ErrorKind::kInvalidModel, describe(node), " has ", q[1], " query heads, which ", k[1],
         " key heads do not divide");
  if (node.hasInput(3)) requireMask(node, {q[0], q[1], q[2], k[axes.length]});
  return {{node.inputs[0]->dataType(), {q[0], q[1], q[2], v[3]}}};
}

// Everything about the scores of one node but the query they belong to.
class Scores {
 public:
  explicit Scores(const Evaluation& evaluation)
      : attrs_(evaluation.node.as<AttentionAttrs>()),
        q_(readReals(evaluation.inputs[0])),
        k_(readReals(evaluation.inputs[1])) {
    const Dims &qDims = evaluation.inputs[0].dims, &kDims = evaluation.inputs[1].dims;
    const KeyAxes axes(attrs_);
    qStrides_ = stridesOf(qDims);
    kStrides_ = stridesOf(kDims);
    std::swap(kStrides_[2], kStrides_[axes.length]);
    size_ = qDims[3];
    kLength_ = kDims[axes.length];
    group_ = std::max<int64_t>(1, qDims[1] / std::max<int64_t>(1, kDims[1]));
    causalOffset_ = attrs_.alignEnd ? kLength_ - qDims[2] : 0;
    if (evaluation.node.hasInput(3)) {
      const ConstTensorView& mask = evaluation.inputs[3];
      mask_ = readReals(mask);
      maskStrides_ = broadcastStrides(mask.dims, Dims{qDims[0], qDims[1], qDims[2], kLength_});
      if (mask.type == DataType::kBool)
        for (double& value : mask_)
          value = value != 0 ? 0 : -std::numeric_limits<double>::infinity();
    }
  }

  int64_t kLength() const { return kLength_; }
  int64_t keyHead(int64_t head) const { return head / group_; }

  // softmax over the keys; all zero when the mask leaves none.
  std::vector<double> weights(int64_t batch, int64_t head, int64_t query) const {
    std::vector<double> weights(kLength_);
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    bool anyKey = false;
    for (int64_t key = 0; key < kLength_; ++key) {
      const double bias = biasOf({batch, head, query, key});
      const bool masked = bias == -std::numeric_limits<double>::infinity();
      anyKey |= !masked;
      weights[key] = masked ? bias : score(batch, head, query, key) + bias;
      largest = std::max(largest, weights[key]);
    }
    if (!anyKey) return std::vector<double>(kLength_);
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (double& weight : weights) weight /= sum;
    return weights;
  }

 private:
  double score(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    const double* q = &q_[batch * qStrides_[0] + head * qStrides_[1] + query * qStrides_[2]];
    const double* k = &k_[batch * kStrides_[0] + keyHead(head) * kStrides_[1] + key * kStrides_[2]];
    double sum = 0;
    for (int64_t i = 0; i < size_; ++i) sum += q[i] * k[i * kStrides_[3]];
    sum *= attrs_.scale;
    return attrs_.softcap == 0 ? sum : attrs_.softcap * std::tanh(sum / attrs_.softcap);
  }

  double biasOf(const std::array<int64_t, 4>& index) const {
    if (attrs_.causal && index[3] > index[2] + causalOffset_)
      return -std::numeric_limits<double>::infinity();
    return mask_.empty() ? 0 : mask_[offsetOf(index, maskStrides_)];
  }

  const AttentionAttrs& attrs_;
  std::vector<double> q_, k_, mask_;
  Dims qStrides_, kStrides_, maskStrides_;
  int64_t size_, kLength_, group_, causalOffset_;
};

void evaluateAttention(const Evaluation& evaluation) {
  const Scores scores(evaluation);
  const std::vector<double> v = readReals(evaluation.inputs[2]);
  const TensorView& y = evaluation.outputs[0];
  const Dims vStrides = stridesOf(evaluation.inputs[2].dims);
  const int64_t size = y.dims[3];
  std::vector<double> output(y.count());
  double* row = output.data();
  forEachIndex({y.dims[0], y.dims[1], y.dims[2]}, [&](const Dims& index) {
    const std::vector<double> weights = scores.weights(index[0], index[1], index[2]);
    const double* values =
        v.data() + index[0] * vStrides[0] + scores.keyHead(index[1]) * vStrides[1];
    for (int64_t key = 0; key < scores.kLength(); ++key)
      for (int64_t i = 0; i < size; ++i) row[i] += weights[key] * values[key * size + i];
    row += size;
  });
  writeReals(y, output);
}

}  // namespace

const OpInfo ops::Attention = {
    "Attention", 3, 4, 1, makeAttrsOf<AttentionAttrs>, inferAttention, evaluateAttention};

}  // namespace camshaft
