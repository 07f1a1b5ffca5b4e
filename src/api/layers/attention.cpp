#include "api/layers/attention.h"

#include <limits>

#include "api/network_add.h"
#include "onnx/formula.h"
#include "ops/attention.h"

namespace camshaft::api {

using namespace nvinfer1;
using namespace onnx::importer;  // Formula and Term

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

constexpr char kNoPackedForms[] =
    "sequences packed one after the other are not available yet; use AttentionIOForm::kPADDED_BHND "
    "with lengths";
constexpr char kNoQuantizedScores[] =
    "quantised scores of attention are not available yet; leave them out, or build it of matrix "
    "products, quantise and dequantise layers";

void requireOperands(const Emission& at) {
  static constexpr std::string_view kNames[] = {"query", "key", "value"};
  for (size_t i = 0; i < 3; ++i)
    if (at.input(i)->rank() != 4 || !isFloat(at.input(i)->dataType()))
      at.invalid("needs a ", kNames[i], " of floats, [batch, heads, length, size], and got ",
                 at.input(i)->type);
}

Value* both(Emission& at, Value* a, Value* b) { return a ? at.binary(ScalarOp::kAnd, a, b) : b; }

// Which keys there are, by their lengths, and which of them come before a query, as bools that
// broadcast to [batch, heads, queries, keys]; null: all.
Value* visibleKeys(Emission& at, CausalMaskKind causal) {
  const Dim &queries = at.input(0)->shape()[2], &keys = at.input(1)->shape()[2];
  Value* key = at.counting(DataType::kI64, keys);
  Value *lengths = nullptr, *visible = nullptr;
  if (at.has(AttentionInputParams::kKeyLengths)) {
    lengths = at.cast(at.input(AttentionInputParams::kKeyLengths), DataType::kI64);
    lengths = at.reshape(lengths, {at.input(0)->shape()[0], 1, 1, 1});
    visible = at.binary(ScalarOp::kLess, key, lengths);
  }
  if (causal == CausalMaskKind::kNONE) return visible;
  Value* last = at.reshape(at.counting(DataType::kI64, queries), {queries, 1});
  if (causal == CausalMaskKind::kLOWER_RIGHT) {
    Value* end = lengths ? lengths : at.sizeValue(keys);
    last = at.binary(ScalarOp::kAdd, last, at.binary(ScalarOp::kSub, end, at.sizeValue(queries)));
  }
  return both(at, visible, at.binary(ScalarOp::kLessEqual, key, last));
}

Value* withMask(Emission& at, Value* mask, Value* visible) {
  if (!mask || !visible) return mask ? mask : visible;
  if (mask->dataType() == DataType::kBool) return both(at, mask, visible);
  Formula f;
  const Term shown = f.input(0, DataType::kBool);
  const Term given = f.input(1, mask->dataType());
  return at.pointwise({visible, mask}, f.take(where(shown, given, kHidden)));
}

// (query * transpose(key) + mask) * value: a key that is not seen counts for nothing.
Value* unnormalized(Emission& at, Value* mask, Value* visible) {
  const Shape q = at.input(0)->shape(), k = at.input(1)->shape(), v = at.input(2)->shape();
  if (k[1].isConstant(0)) at.invalid("has no heads of keys");
  const Dim group = floorDiv(q[1], k[1]);  // queries' heads that share one of keys
  Value* query = at.reshape(at.input(0), {q[0], k[1], group, q[2], q[3]});
  Value* key = at.reshape(at.input(1), {k[0], k[1], 1, k[2], k[3]});
  Value* value = at.reshape(at.input(2), {v[0], v[1], 1, v[2], v[3]});
  Value* scores = at.reshape(at.product(query, key, true), {q[0], q[1], q[2], k[2]});
  const auto keep = [&](Value* condition) {
    Formula f;
    const Term shown = f.input(0, DataType::kBool);
    const Term score = f.input(1, scores->dataType());
    scores = at.pointwise({condition, scores}, f.take(where(shown, score, 0.0)));
  };
  if (mask && mask->dataType() == DataType::kBool)
    keep(mask);
  else if (mask)
    scores = at.binary(ScalarOp::kAdd, scores, at.cast(mask, scores->dataType()));
  if (visible) keep(visible);
  Value* grouped = at.reshape(scores, {q[0], k[1], group, q[2], k[2]});
  return at.reshape(at.product(grouped, value), {q[0], q[1], q[2], v[3]});
}

}  // namespace

std::vector<Value*> AttentionInputParams::emit(Emission& at) const {
  requireOperands(at);
  if (at.has(kQuantizeScale)) fail(ErrorKind::kUnsupported, kNoQuantizedScores);
  Value* mask = at.has(kMask) ? at.input(kMask) : nullptr;
  const bool isPlain = !at.has(kKeyLengths);  // the operator itself masks the future
  if (normalization == AttentionNormalizationOp::kNONE)
    return {unnormalized(
        at, mask, isPlain && causal == CausalMaskKind::kNONE ? nullptr : visibleKeys(at, causal))};
  AttentionAttrs attrs;
  attrs.causal = isPlain && causal != CausalMaskKind::kNONE;
  attrs.alignEnd = causal == CausalMaskKind::kLOWER_RIGHT;
  std::vector<Value*> operands{at.input(0), at.input(1), at.input(2)};
  if (Value* all = withMask(at, mask, isPlain ? nullptr : visibleKeys(at, causal)))
    operands.push_back(all);
  return {at.add(&ops::Attention, std::move(operands), std::move(attrs))};
}

bool Attention::attach(ITensor& query, ITensor& key, ITensor& value,
                       AttentionNormalizationOp normalization, CausalMaskKind causal) noexcept {
  input_ = network.add<AttentionInputLayer>("attention_input", {&query, &key, &value}, [&] {
    requireKnown(normalization, "normalisation of attention");
    requireKnown(causal, "kind of causal mask");
    return AttentionInputParams{this, normalization, causal};
  });
  if (!input_) return false;
  output_ = network.add<AttentionOutputLayer>("attention_output", {input_->getOutput(0)},
                                              [&] { return AttentionOutputParams{this}; });
  if (!output_) network.removeTensor(*input_->getOutput(0));
  return output_ != nullptr;
}

bool Attention::setInput(int32_t index, ITensor& input) noexcept {
  if (index > 2) index = AttentionInputParams::kMaxInputs;  // refused: others have setters
  return setOptional(index, &input);
}

bool Attention::setOptional(int32_t index, ITensor* tensor) noexcept {
  return guarded(network.reporter(), false, [&] {
    network.setLayerInputs(*input_, index, std::span(&tensor, 1));
    return true;
  });
}

bool Attention::setName(const char* text) noexcept {
  Block::setName(text);
  if (text) input_->LayerCore::setName(text);
  return text != nullptr;
}

bool Attention::setNormalizationOperation(AttentionNormalizationOp op) noexcept {
  return guarded(network.reporter(), false, [&] {
    requireKnown(op, "normalisation of attention");
    return input_->set(&AttentionInputParams::normalization, op);
  });
}

bool Attention::setCausalKind(CausalMaskKind kind) noexcept {
  return guarded(network.reporter(), false, [&] {
    requireKnown(kind, "kind of causal mask");
    return input_->set(&AttentionInputParams::causal, kind);
  });
}

bool Attention::setNormalizationQuantizeScale(ITensor&) noexcept {
  return refused(network.reporter(), kNoQuantizedScores, false);
}

bool Attention::setNormalizationQuantizeToType(nvinfer1::DataType) noexcept {
  return refused(network.reporter(), kNoQuantizedScores, false);
}

bool Attention::setQueryForm(AttentionIOForm form) noexcept {
  return form == AttentionIOForm::kPADDED_BHND ||
         refused(network.reporter(), kNoPackedForms, false);
}

bool Attention::setKeyValueForm(AttentionIOForm form) noexcept { return setQueryForm(form); }

IAttention* Network::addAttention(ITensor& query, ITensor& key, ITensor& value,
                                  AttentionNormalizationOp normOp, bool isCausal) noexcept {
  return addAttentionV2(query, key, value, normOp,
                        isCausal ? CausalMaskKind::kUPPER_LEFT : CausalMaskKind::kNONE);
}

IAttention* Network::addAttentionV2(ITensor& query, ITensor& key, ITensor& value,
                                    AttentionNormalizationOp normOp,
                                    CausalMaskKind causalKind) noexcept {
  auto* attention = addBlock<Attention>("attention");
  return attention && attention->attach(query, key, value, normOp, causalKind) ? attention
                                                                               : nullptr;
}

}  // namespace camshaft::api
