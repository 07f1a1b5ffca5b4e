// GroupQueryAttention of com.microsoft: attention with a cache of keys and values, which samples of
// one batch may have filled to different lengths, and rotary embedding.
#include "onnx/formula.h"
#include "onnx/ops/attention_mask.h"
#include "onnx/ops/microsoft/attention.h"
#include "onnx/ops/range.h"
#include "onnx/ops/rotary.h"
#include "onnx/ops/tensor_scatter.h"
#include "onnx/quantization.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/index.h"
#include "ops/move.h"

namespace camshaft::onnx::importer {

namespace {

class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(NodeImport& node) : node_(node) {}
  void run();

 private:
  void refuse() const;
  void splitOperands();
  void placeTokens();
  void readScales();
  Value* rotated(Value* x) const;
  Value* cached(Value* past, Value* fresh, Value* scale) const;
  Value* scaled(Value* tokens, Value* scale) const;
  bool startsAtZero() const;
  Value* mask() const;
  Value* withSink(Value* mask, const Dim& keys) const;

  NodeImport& node_;
  int64_t heads_ = 0, kvHeads_ = 0;
  Value *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;  // [batch, length, heads, size]
  Dim batch_, length_;
  Dim keys_, room_;          // what the cache holds after this step, and what it has room for
  Value* before_ = nullptr;  // i64 [batch, 1]: tokens cached before this step
  // Of caches of 8 bits, [1, kvHeads, 1, size] or [1]; null: the cache has the operands' type.
  Value *kScale_ = nullptr, *vScale_ = nullptr;
};

void GroupQueryAttention::refuse() const {
  if (node_.flag("sliding_window_cache"))
    node_.unsupported("a cache as long as its window is not supported");
  if (node_.hasInput(14) || node_.hasInput(15))
    node_.unsupported("norms of queries and keys inside it are not supported");
  if (node_.wants(3)) node_.unsupported("its output of scores is not supported");
}

// Keys and values may be packed behind the queries.
void GroupQueryAttention::splitOperands() {
  heads_ = node_.integer("num_heads");
  kvHeads_ = node_.integer("kv_num_heads");
  if (heads_ <= 0 || kvHeads_ <= 0) node_.invalid("its numbers of heads must be positive");
  Value* query = node_.input(0, 3);
  batch_ = query->shape()[0];
  length_ = query->shape()[1];
  const auto tokens = [&](Value* x, int64_t heads) {
    return node_.reshape(x, {x->shape()[0], x->shape()[1], heads, floorDiv(x->shape()[2], heads)});
  };
  if (node_.hasInput(1)) {
    q_ = tokens(query, heads_);
    k_ = tokens(node_.input(1, 3), kvHeads_);
    v_ = tokens(node_.input(2, 3), kvHeads_);
  } else {
    Value* all = tokens(query, heads_ + 2 * kvHeads_);
    q_ = node_.slice(all, 2, 0, heads_);
    k_ = node_.slice(all, 2, heads_, kvHeads_);
    v_ = node_.slice(all, 2, heads_ + kvHeads_, kvHeads_);
  }
}

// A sample's last token stands at seqlens_k; those of a first prompt start at 0, padded or not.
void GroupQueryAttention::placeTokens() {
  Value* last = node_.reshape(node_.cast(node_.input(5), DataType::kI64), {batch_, 1});
  Value* first = node_.binary(ScalarOp::kSub, node_.binary(ScalarOp::kAdd, last, 1.0),
                              sizeTensor(node_, length_));
  before_ = node_.binary(ScalarOp::kMax, first, 0.0);
  const Value* past = node_.hasInput(3) ? node_.input(3, 4) : nullptr;
  const bool hasPast = past && !past->shape()[2].isConstant(0);
  keys_ = hasPast ? node_.dims(6).at(0) : length_;
  room_ = hasPast ? atLeast(node_.inputSizes(), keys_, past->shape()[2]) : length_;
}

// A quantised cache holds round(x / scale), by one scale or one for each feature of each head.
void GroupQueryAttention::readScales() {
  const auto scaleOf = [&](const char* attribute, int input, const Value* tokens) -> Value* {
    const int kind = node_.choice(attribute, "none", {"none", "per_tensor", "per_channel"});
    if (kind == 0) return nullptr;
    if (const int64_t bits = node_.integer("kv_cache_bit_width", 8); bits != 8)
      node_.unsupported("a cache of ", bits, " bits is not supported: export it with 8");
    const Value* past = node_.optionalInput(input == 12 ? 3 : 4, 4);
    if (!past || (past->dataType() != DataType::kI8 && past->dataType() != DataType::kF8E4M3))
      node_.invalid("its cache is quantised, so it needs a past of type i8 or f8e4m3");
    const Shape one{1}, each{1, kvHeads_, 1, tokens->shape()[3]};
    return node_.reshape(node_.input(input), kind == 1 ? one : each);
  };
  kScale_ = scaleOf("k_quant_type", 12, k_);
  vScale_ = scaleOf("v_quant_type", 13, v_);
}

// Of x [batch, length, heads, size], or with heads and sizes merged, by the scales of the heads of
// the cache that its heads read.
Value* GroupQueryAttention::scaled(Value* tokens, Value* scale) const {
  if (!scale) return tokens;
  if (scale->rank() == 4) {
    const Dim size = scale->shape()[3];
    scale = node_.expand(node_.reshape(scale, {kvHeads_, 1, size}),
                         {kvHeads_, floorDiv(heads_, kvHeads_), size});
    scale = tokens->rank() == 4 ? node_.reshape(scale, {heads_, size})
                                : node_.reshape(scale, {heads_ * size});
  }
  const DataType type = tokens->dataType();
  return node_.pointwise({tokens, scale},
                         dequantization(type, scale->dataType(), std::nullopt, type));
}

Value* GroupQueryAttention::rotated(Value* x) const {
  Value* positions = node_.hasInput(9) ? node_.input(9, 2) : nullptr;
  if (!positions)
    positions = node_.binary(ScalarOp::kAdd, before_, counting(node_, DataType::kI64, length_));
  else
    requireShape(node_, positions, "positions", {batch_, length_});
  requireShape(node_, node_.input(8, 2), "sines", node_.input(7, 2)->shape());
  const auto angles = [&](int input) {
    Value* cache = node_.input(input, 2);
    Value* rows = node_.add(&ops::Gather, {cache, positions}, GatherAttrs{});
    return node_.reshape(rows, {rows->shape()[0], rows->shape()[1], 1, cache->shape()[1]});
  };
  return rotate(node_, x, angles(7), angles(8), node_.flag("rotary_interleaved"));
}

// The cache has room for this step's keys already, or grows by them.
Value* GroupQueryAttention::cached(Value* past, Value* fresh, Value* scale) const {
  fresh = node_.transpose(fresh, {0, 2, 1, 3});
  if (scale)
    fresh = node_.pointwise({fresh, scale}, quantization(fresh->dataType(), scale->dataType(),
                                                         std::nullopt, past->dataType()));
  if (!past || past->shape()[2].isConstant(0)) return fresh;
  const Dim missing = room_ - past->shape()[2];
  if (!missing.isConstant(0)) {
    PadAttrs pad;
    pad.begin = {0, 0, 0, 0};
    pad.end = {0, 0, missing, 0};
    past = node_.add(&ops::Pad, {past}, std::move(pad));
  }
  return writeRows(node_, past, fresh, {.axis = 2, .first = before_, .skipsOutside = true});
}

// Where as many keys are held as tokens come, none were cached before, and what each query sees
// needs no mask.
bool GroupQueryAttention::startsAtZero() const {
  return keys_ == length_ && node_.flag("causal", true) &&
         node_.integer("local_window_size", -1) < 0 && !node_.hasInput(10) && !node_.hasInput(11) &&
         node_.integer("smooth_softmax", 0) != 1;
}

// Which keys a query sees: up to its own, at most a window's, or all of the sample's.
Value* GroupQueryAttention::mask() const {
  const int64_t window = node_.integer("local_window_size", -1);
  Value* column = node_.reshape(counting(node_, DataType::kI64, length_), {length_, 1});
  Value* before = node_.reshape(before_, {batch_, 1, 1, 1});
  Formula formula;
  const Term key = formula.input(0, DataType::kI64), token = formula.input(1, DataType::kI64),
             first = formula.input(2, DataType::kI64);
  const bool isCausal = node_.flag("causal", true);
  const auto isSeen = [&] {
    const Term position = first + token;  // without causality, the sample's length
    if (!isCausal) return key < position;
    const Term notAhead = key < position + 1.0;
    return window >= 0 ? notAhead && (key > position - static_cast<double>(window)) : notAhead;
  };
  Value* rows = isCausal ? column : sizeTensor(node_, length_);
  Value* seen = node_.pointwise({counting(node_, DataType::kI64, keys_), rows, before},
                                formula.take(isSeen()));
  if (!node_.hasInput(10)) return seen;
  Value* bias = node_.input(10, 4);
  const Shape &shape = bias->shape(), all{batch_, heads_, length_, shape[3]};
  requireBroadcastsTo(node_, bias, "attention bias", all);
  requireSize(node_, shape[2], "queries in its attention bias", length_);
  const Dim missing = keys_ - bias->shape().back();
  if (!missing.isConstant(0)) {
    PadAttrs pad;
    pad.begin.assign(static_cast<size_t>(bias->rank()), Dim(0));
    pad.end = pad.begin;
    pad.end.back() = missing;
    bias = node_.add(&ops::Pad, {bias}, std::move(pad));
  }
  return node_.binary(ScalarOp::kAdd, additiveMask(node_, seen, bias->dataType()), bias);
}

// A number per head that joins the denominator of the softmax is the score of one more key, whose
// value is zero.
Value* GroupQueryAttention::withSink(Value* mask, const Dim& keys) const {
  const DataType type = q_->dataType();
  Value* sink = node_.optionalInput(11);
  sink = sink ? node_.reshape(sink, {1, heads_, 1, 1}) : node_.scalar(type, 0);
  mask = node_.expand(additiveMask(node_, mask, type), {batch_, heads_, length_, keys});
  return node_.concat({mask, node_.expand(sink, {batch_, heads_, length_, 1})}, 3);
}

void GroupQueryAttention::run() {
  refuse();
  splitOperands();
  readScales();
  placeTokens();
  if (node_.flag("do_rotary")) {
    q_ = rotated(q_);
    k_ = rotated(k_);
  }
  Value* k = cached(node_.hasInput(3) ? node_.input(3, 4) : nullptr, k_, kScale_);
  Value* v = cached(node_.hasInput(4) ? node_.input(4, 4) : nullptr, v_, vScale_);
  node_.setOutput(1, k);
  node_.setOutput(2, v);
  // Scales of keys go to the queries and those of values to the result, which are smaller.
  const DataType type = q_->dataType();
  k = node_.cast(node_.slice(k, 2, 0, keys_), type);
  v = node_.cast(node_.slice(v, 2, 0, keys_), type);
  q_ = scaled(q_, kScale_);
  AttentionAttrs attrs;
  attrs.causal = startsAtZero();
  Value* seen = attrs.causal ? nullptr : mask();
  attrs.softcap = node_.number("softcap", 0);
  if (node_.hasInput(11) || node_.integer("smooth_softmax", 0) == 1) {
    seen = withSink(seen, keys_);
    PadAttrs pad;
    pad.begin = {0, 0, 0, 0};
    pad.end = {0, 0, 1, 0};
    k = node_.add(&ops::Pad, {k}, pad);
    v = node_.add(&ops::Pad, {v}, pad);
  }
  Value* y = attend(node_, node_.transpose(q_, {0, 2, 1, 3}), k, v, seen, attrs);
  node_.setOutput(0, scaled(y, vScale_));
}

}  // namespace

void importGroupQueryAttention(NodeImport& node) { GroupQueryAttention(node).run(); }

}  // namespace camshaft::onnx::importer
