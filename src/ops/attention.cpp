#include "ops/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

HeadsView headsFirst(const Shape& shape, bool transposed) {
  HeadsView view{.batch = shape[0],
                 .heads = shape[1],
                 .length = shape[transposed ? 3 : 2],
                 .size = shape[transposed ? 2 : 3]};
  view.featureStride = transposed ? view.length : Dim(1);
  view.tokenStride = transposed ? Dim(1) : view.size;
  view.headStride = view.length * view.size;
  view.batchStride = view.heads * view.headStride;
  return view;
}

HeadsView tokens(const Shape& shape, int64_t heads, int64_t size, int64_t offset) {
  return {.batch = shape[0],
          .heads = heads,
          .length = shape[1],
          .size = size,
          .batchStride = shape[1] * shape[2],
          .headStride = size,
          .tokenStride = shape[2],
          .featureStride = 1,
          .offset = offset};
}

// Images of tokens as their windows.
HeadsView inWindows(HeadsView view, const TokenWindows& windows) {
  view.batch = view.batch * windows.perImage();
  view.length = windows.tokens();
  return view;
}

void requireMask(const Node& node, Shape scores) {
  const int64_t batches = node.as<AttentionAttrs>().maskBatches;
  if (node.inputs[3]->dataType() != DataType::kBool) requireFloat(node, 3);
  if (batches < 0 || (batches > 0 && !mayBeEqual(mod(scores[0], batches), 0)))
    fail(ErrorKind::kInvalidModel, describe(node), " has ", scores[0],
         " batches, which do not divide into ", batches, " masks");
  if (batches > 0) scores[0] = batches;
  requireBroadcastsTo(node, 3, "a mask", scores);
}

void requireColumns(const Node& node, int input, const HeadsView& view) {
  const Dim end = view.offset + view.heads * view.size;
  const Dim& width = node.inputs[input]->shape()[2];
  requireAtLeast(node, width, str("columns in '", node.inputs[input]->name, "'"), end);
}

void requireTokens(const Node& node) {
  const auto& attrs = node.as<AttentionAttrs>();
  if (attrs.kvHeads < 1 || attrs.size < 1 || attrs.valueSize < 1)
    fail(ErrorKind::kInvalidModel, describe(node),
         " reads tokens and needs positive kv_heads, size and value_size");
  if (!attrs.offsets.empty() && (attrs.offsets.size() != 3 || std::ranges::min(attrs.offsets) < 0))
    fail(ErrorKind::kInvalidModel, describe(node),
         " needs three offsets that are not negative, of queries, keys and values");
}

void requireWindows(const Node& node) {
  const auto& attrs = node.as<AttentionAttrs>();
  const auto& numbers = attrs.windows;
  if (numbers.empty()) return;
  if (numbers.size() != 6 || !attrs.tokenWindows().divideImage())
    fail(ErrorKind::kInvalidModel, describe(node),
         " needs sizes of an image, sizes of windows that divide it, and shifts within it");
  if (!attrs.readsTokens() || !attrs.keys.empty())
    fail(ErrorKind::kInvalidModel, describe(node), " reads windows of tokens, all of them");
  for (int i = 0; i < 3; ++i) {
    requireRank(node, i, "tokens of images", 3);
    requireEqual(node, node.inputs[i]->shape()[1], str("tokens in '", node.inputs[i]->name, "'"),
                 numbers[0] * numbers[1], "an image has");
  }
}

void requireOperands(const Node& node) {
  const auto& attrs = node.as<AttentionAttrs>();
  if (attrs.readsTokens()) requireTokens(node);
  for (int i = 0; i < 3; ++i) {
    const bool mayBeTokens = attrs.readsTokens() && !(i == 1 && attrs.transposedKeys);
    if (!mayBeTokens || node.inputs[i]->rank() != 3)
      requireRank(node, i, "queries, keys and values", 4);
    const bool mayBeBytes = i > 0 && node.inputs[i]->rank() == 4 && !attrs.transposedKeys;
    const DataType type = node.inputs[i]->dataType();
    if (mayBeBytes && (type == DataType::kI8 || type == DataType::kF8E4M3)) {
      requireSameType(node, i, 3 - i);  // the values as the keys
    } else {
      requireFloat(node, i);
      requireSameType(node, i, 0);
    }
  }
}

// The cache holds what is read of it.
void requireKeys(const Node& node) {
  AttentionAttrs attrs = node.as<AttentionAttrs>();
  if (attrs.keys.empty()) return;
  if (attrs.keys.size() != 1)
    fail(ErrorKind::kInvalidModel, describe(node), " needs one number of keys, not ",
         attrs.keys.size());
  const Dim count = std::exchange(attrs.keys, {})[0];
  const AttentionGeometry whole = attentionGeometry(
      attrs, node.inputs[0]->shape(), node.inputs[1]->shape(), node.inputs[2]->shape());
  requireAtLeast(node, whole.k.length, "keys", count);
  requireAtLeast(node, whole.v.length, "values", count);
}

std::vector<TensorType> inferAttention(const Node& node) {
  requireOperands(node);
  requireWindows(node);
  requireKeys(node);
  const auto [q, k, v, out] = attentionGeometry(node);
  const HeadsView* views[] = {&q, &k, &v};
  for (int i = 0; i < 3; ++i)
    if (node.inputs[i]->rank() == 3) requireColumns(node, i, *views[i]);
  requireEqual(node, k.batch, "batches of keys", q.batch, "its queries have");
  requireEqual(node, v.batch, "batches of values", q.batch, "its queries have");
  requireEqual(node, v.heads, "heads of values", k.heads, "its keys have");
  requireEqual(node, k.size, "features per key", q.size, "its queries have");
  requireEqual(node, v.length, "values", k.length, "its keys number");
  if (q.heads.isConstant() && k.heads.isConstant() && q.heads.value() > 0 &&
      (k.heads.value() < 1 || q.heads.value() % k.heads.value() != 0))
    fail(ErrorKind::kInvalidModel, describe(node), " has ", q.heads, " query heads, which ",
         k.heads, " key heads do not divide");
  requireAtLeast(node, k.heads, "key heads", min(q.heads, 1));
  requireMultiple(node, q.heads, "query heads", k.heads);
  if (node.hasInput(3)) requireMask(node, {q.batch, q.heads, q.length, k.length});
  const Shape& queries = node.inputs[0]->shape();
  const Shape result = node.as<AttentionAttrs>().readsTokens()
                           ? Shape{queries[0], queries[1], q.heads * v.size}
                           : Shape{q.batch, q.heads, q.length, v.size};
  return {{node.inputs[0]->dataType(), result}};
}

// A HeadsView in numbers.
struct Places {
  int64_t batch, heads, length, size;
  int64_t batchStride, headStride, tokenStride, featureStride, offset;
  TokenWindows windows;
  Places(const HeadsView& view, const TokenWindows& windows)
      : batch(view.batch.value()),
        heads(view.heads.value()),
        length(view.length.value()),
        size(view.size.value()),
        batchStride(view.batchStride.value()),
        headStride(view.headStride.value()),
        tokenStride(view.tokenStride.value()),
        featureStride(view.featureStride.value()),
        offset(view.offset.value()),
        windows(windows) {}
  int64_t at(int64_t batch, int64_t head, int64_t token) const {
    const int64_t first = offset + head * headStride;
    if (windows.areThere()) return first + windows.place(batch, token) * tokenStride;
    return first + batch * batchStride + token * tokenStride;
  }
};

// Everything about the scores of one node but the query they belong to.
class Scores {
 public:
  Scores(const Evaluation& evaluation, const AttentionGeometry& geometry)
      : attrs_(evaluation.node.as<AttentionAttrs>()),
        q_(readReals(evaluation.inputs[0])),
        k_(readReals(evaluation.inputs[1])),
        qView_(geometry.q, attrs_.tokenWindows()),
        kView_(geometry.k, attrs_.tokenWindows()) {
    group_ = std::max<int64_t>(1, qView_.heads / std::max<int64_t>(1, kView_.heads));
    causalOffset_ = attrs_.alignEnd ? kView_.length - qView_.length : 0;
    if (evaluation.node.hasInput(3)) {
      const ConstTensorView& mask = evaluation.inputs[3];
      mask_ = readReals(mask);
      maskBatches_ = attrs_.maskBatches > 0 ? attrs_.maskBatches : qView_.batch;
      maskStrides_ = broadcastStrides(
          mask.dims, Dims{maskBatches_, qView_.heads, qView_.length, kView_.length});
      if (mask.type == DataType::kBool)
        for (double& value : mask_)
          value = value != 0 ? 0 : -std::numeric_limits<double>::infinity();
    }
  }

  int64_t kLength() const { return kView_.length; }
  int64_t keyHead(int64_t head) const { return head / group_; }

  // softmax over the keys; all zero when the mask leaves none.
  std::vector<double> weights(int64_t batch, int64_t head, int64_t query) const {
    std::vector<double> weights(kLength());
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    bool anyKey = false;
    for (int64_t key = 0; key < kLength(); ++key) {
      const double bias = biasOf({batch, head, query, key});
      const bool masked = bias == -std::numeric_limits<double>::infinity();
      anyKey |= !masked;
      weights[key] = masked ? bias : score(batch, head, query, key) + bias;
      largest = std::max(largest, weights[key]);
    }
    if (!anyKey) return std::vector<double>(kLength());
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (double& weight : weights) weight /= sum;
    return weights;
  }

 private:
  double score(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    const double* q = q_.data() + qView_.at(batch, head, query);
    const double* k = k_.data() + kView_.at(batch, keyHead(head), key);
    double sum = 0;
    for (int64_t i = 0; i < qView_.size; ++i)
      sum += q[i * qView_.featureStride] * k[i * kView_.featureStride];
    sum *= attrs_.scale;
    return attrs_.softcap == 0 ? sum : attrs_.softcap * std::tanh(sum / attrs_.softcap);
  }

  double biasOf(const std::array<int64_t, 4>& index) const {
    if (attrs_.causal && index[3] > index[2] + causalOffset_)
      return -std::numeric_limits<double>::infinity();
    if (mask_.empty()) return 0;
    const std::array<int64_t, 4> place{index[0] % maskBatches_, index[1], index[2], index[3]};
    return mask_[offsetOf(place, maskStrides_)];
  }

  const AttentionAttrs& attrs_;
  std::vector<double> q_, k_, mask_;
  const Places qView_, kView_;
  Dims maskStrides_;
  int64_t group_, causalOffset_, maskBatches_ = 1;
};

void evaluateAttention(const Evaluation& evaluation) {
  AttentionAttrs attrs = evaluation.node.as<AttentionAttrs>();
  for (Dim& keys : attrs.keys) keys = evaluation.resolve(keys);
  const AttentionGeometry geometry =
      attentionGeometry(attrs, makeShape(evaluation.inputs[0].dims),
                        makeShape(evaluation.inputs[1].dims), makeShape(evaluation.inputs[2].dims));
  const Scores scores(evaluation, geometry);
  const std::vector<double> v = readReals(evaluation.inputs[2]);
  const TokenWindows windows = attrs.tokenWindows();
  const Places vView(geometry.v, windows), out(geometry.out, windows);
  std::vector<double> output(evaluation.outputs[0].count());
  forEachIndex({out.batch, out.heads, out.length}, [&](const Dims& index) {
    const std::vector<double> weights = scores.weights(index[0], index[1], index[2]);
    double* row = output.data() + out.at(index[0], index[1], index[2]);
    for (int64_t key = 0; key < scores.kLength(); ++key) {
      const double* value = v.data() + vView.at(index[0], scores.keyHead(index[1]), key);
      for (int64_t i = 0; i < out.size; ++i) row[i] += weights[key] * value[i];
    }
  });
  writeReals(evaluation.outputs[0], output);
}

}  // namespace

TokenWindows AttentionAttrs::tokenWindows() const {
  if (windows.empty()) return {};
  return {windows[0], windows[1], windows[2], windows[3], windows[4], windows[5]};
}

AttentionGeometry attentionGeometry(const AttentionAttrs& attrs, const Shape& q, const Shape& k,
                                    const Shape& v) {
  const auto offset = [&](int i) { return attrs.offsets.empty() ? 0 : attrs.offsets[i]; };
  const auto view = [&](const Shape& shape, int i, int64_t heads, int64_t size) {
    return shape.size() == 3 ? tokens(shape, heads, size, offset(i))
                             : headsFirst(shape, i == 1 && attrs.transposedKeys);
  };
  AttentionGeometry geometry{.q = view(q, 0, attrs.heads, attrs.size),
                             .k = view(k, 1, attrs.kvHeads, attrs.size),
                             .v = view(v, 2, attrs.kvHeads, attrs.valueSize),
                             .out = {}};
  if (!attrs.keys.empty()) geometry.k.length = geometry.v.length = attrs.keys[0];
  const HeadsView& queries = geometry.q;
  const Dim &valueSize = geometry.v.size, width = queries.heads * valueSize;
  geometry.out = {.batch = queries.batch,
                  .heads = queries.heads,
                  .length = queries.length,
                  .size = valueSize,
                  .batchStride = queries.length * width,
                  .headStride = attrs.readsTokens() ? valueSize : queries.length * valueSize,
                  .tokenStride = attrs.readsTokens() ? width : valueSize,
                  .featureStride = 1};
  if (!attrs.windows.empty())
    for (HeadsView* each : {&geometry.q, &geometry.k, &geometry.v, &geometry.out})
      *each = inWindows(*each, attrs.tokenWindows());
  return geometry;
}

AttentionGeometry attentionGeometry(const Node& attention) {
  return attentionGeometry(attention.as<AttentionAttrs>(), attention.inputs[0]->shape(),
                           attention.inputs[1]->shape(), attention.inputs[2]->shape());
}

const OpInfo ops::Attention = {
    "Attention", 3, 4, 1, makeAttrsOf<AttentionAttrs>, inferAttention, evaluateAttention};

}  // namespace camshaft
