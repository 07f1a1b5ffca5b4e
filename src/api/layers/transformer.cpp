#include "api/layers/transformer.h"

#include <cmath>

#include "api/network_add.h"
#include "onnx/formula.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/rules.h"

namespace camshaft::api {

using namespace nvinfer1;
using namespace onnx::importer;  // Formula and Term

namespace {

// The input, of this shape where its sizes are known.
Value* inputOf(const Emission& at, size_t index, std::string_view what, const Shape& shape) {
  Value* x = at.input(index);
  bool fits = x->rank() == static_cast<int64_t>(shape.size());
  for (size_t d = 0; fits && d < shape.size(); ++d) fits = mayBeEqual(x->shape()[d], shape[d]);
  if (!fits) at.invalid("needs ", what, " of shape ", toString(shape), " and got ", x->type);
  return x;
}

void requireRank(const Emission& at, size_t index, std::string_view what, int64_t rank) {
  if (at.input(index)->rank() != rank)
    at.invalid("needs ", what, " of rank ", rank, " and got ", at.input(index)->type);
}

// Cosines or sines as [batch, 1, length, half], given so or looked up by position.
Value* angles(Emission& at, size_t index, const Dim& half) {
  const Shape& x = at.input(0)->shape();
  std::string_view what = index == 1 ? "cosines" : "sines";
  if (!at.has(3))
    return at.reshape(inputOf(at, index, what, {x[0], x[2], half}), {x[0], 1, x[2], half});
  requireRank(at, index, what, 2);
  Value* cache = inputOf(at, index, what, {at.input(index)->shape()[0], half});
  Value* positions = inputOf(at, 3, "positions", {x[0], x[2]});
  return at.reshape(at.add(&ops::Gather, {cache, positions}, GatherAttrs{}), {x[0], 1, x[2], half});
}

}  // namespace

// Of each head, pairs of elements are turned: neighbours when interleaved, else one of each half.
std::vector<Value*> RotaryEmbeddingParams::emit(Emission& at) const {
  requireRank(at, 0, "[batch, heads, length, size],", 4);
  Value* x = at.input(0);
  const Dim size = x->shape()[3], turned = rotated > 0 ? Dim(rotated) : size;
  if (rotated < 0 || rotated % 2 != 0 ||
      (turned.isConstant() &&
       (turned.value() % 2 != 0 || (size.isConstant() && turned.value() > size.value()))))
    at.invalid("cannot turn ", turned, " of ", size, " elements in pairs");
  if (!at.has(3) && at.input(1)->rank() == 2) {
    at.lacks("has its cosines by position and needs positions; set them with setInput(3)");
    return {x};
  }
  const Dim half = floorDiv(turned, 2);
  Value *cosines = angles(at, 1, half), *sines = angles(at, 2, half);
  Value* first = at.slice(x, 3, 0, half, interleaved ? 2 : 1);
  Value* second = interleaved ? at.slice(x, 3, 1, half, 2) : at.slice(x, 3, half, half);
  const auto combined = [&](Value* a, ScalarOp op, Value* b) {  // a * cosines op b * sines
    return at.binary(op, at.binary(ScalarOp::kMul, a, cosines),
                     at.binary(ScalarOp::kMul, b, sines));
  };
  Value* newFirst = combined(first, ScalarOp::kSub, second);
  Value* newSecond = combined(second, ScalarOp::kAdd, first);
  Value* y;
  if (interleaved) {
    Shape column = newFirst->shape(), whole = x->shape();
    column.push_back(1);
    whole[3] = turned;
    y = at.reshape(at.concat({at.reshape(newFirst, column), at.reshape(newSecond, column)}, 4),
                   whole);
  } else {
    y = at.concat({newFirst, newSecond}, 3);
  }
  return {turned == size ? y : at.concat({y, at.slice(x, 3, turned, size - turned)}, 3)};
}

// Every row of the update is written where its batch's index says; one that would lie outside of
// the cache fails the run.
std::vector<Value*> KVCacheUpdateParams::emit(Emission& at) const {
  requireKnown(mode, "mode of a cache");
  requireRank(at, 0, "a cache, [batch, heads, length, size],", 4);
  requireRank(at, 1, "an update, [batch, heads, length, size],", 4);
  Value* cache = at.input(0);
  const Shape rows = at.input(1)->shape();
  Value* update = inputOf(at, 1, "an update",
                          {cache->shape()[0], cache->shape()[1], rows[2], cache->shape()[3]});
  if (update->dataType() != cache->dataType())
    at.invalid("writes ", update->type, " into a cache that is ", cache->type);
  Value* begin = at.cast(inputOf(at, 2, "write indices", {cache->shape()[0]}), DataType::kI64);
  std::vector<Value*> coordinates;
  for (size_t d = 0; d < 3; ++d) {
    Shape line(4, Dim(1));
    line[d] = rows[d];
    Value* own = at.reshape(at.counting(DataType::kI64, rows[d]), line);
    if (d == 2)
      own = at.binary(ScalarOp::kAdd, own, at.reshape(begin, {cache->shape()[0], 1, 1, 1}));
    ExpandAttrs all;
    all.shape = {rows[0], rows[1], rows[2], 1};
    coordinates.push_back(at.add(&ops::Expand, {own}, std::move(all)));
  }
  ScatterNDAttrs attrs;
  attrs.skipsOutside = true;
  attrs.replacesData = true;
  return {at.add(&ops::ScatterND, {cache, at.concat(std::move(coordinates), 3), update},
                 std::move(attrs))};
}

bool KVCacheUpdateLayer::setUpdateForm(AttentionIOForm form) noexcept {
  return form == AttentionIOForm::kPADDED_BHND ||
         refused(reporter(),
                 "updates packed one after the other are not available yet; use "
                 "AttentionIOForm::kPADDED_BHND",
                 false);
}

bool KVCacheUpdateLayer::setUpdateLengths(ITensor* lengths) noexcept {
  return !lengths || refused(reporter(),
                             "lengths belong to updates packed one after the other, which are not "
                             "available yet",
                             false);
}

namespace {

// x * weights + biases, for every expert: [experts, tokens, width].
Value* linear(Emission& at, Value* x, int which, const Dim& in, const Dim& out) {
  static constexpr std::string_view kWeights[] = {"gate weights", "up weights", "down weights"};
  static constexpr std::string_view kBiases[] = {"gate biases", "up biases", "down biases"};
  const Dim experts = at.input(MoEParams::kWeights)->shape()[0];
  Value* y =
      at.product(x, inputOf(at, MoEParams::kWeights + which, kWeights[which], {experts, in, out}));
  if (!at.has(MoEParams::kBiases)) return y;
  Value* bias = inputOf(at, MoEParams::kBiases + which, kBiases[which], {experts, out});
  return at.binary(ScalarOp::kAdd, y, at.reshape(bias, {experts, 1, out}));
}

// How much each expert counts for each token, [experts, tokens, 1]: 0 where it was not selected.
Value* shares(Emission& at, const Dim& tokens, const Dim& experts) {
  const Shape& hidden = at.input(0)->shape();
  requireRank(at, 1, "selected experts, [batch, length, selected],", 3);
  const Dim selected = at.input(1)->shape()[2];
  Value* expert = inputOf(at, 1, "selected experts", {hidden[0], hidden[1], selected});
  Value* score = inputOf(at, 2, "scores", {hidden[0], hidden[1], selected});
  if (!isInteger(expert->dataType()))
    at.invalid("needs its selected experts as integers and got ", expert->type);
  const DataType type = at.input(0)->dataType(), index = expert->dataType();
  Formula f;
  const Term isSelected = f.input(0, index) == f.input(1, index);
  const Term share = where(isSelected, f.input(2, type), 0.0);
  Value* each = at.pointwise({at.reshape(expert, {1, tokens, selected}),
                              at.reshape(at.counting(index, experts), {experts, 1, 1}),
                              at.reshape(at.cast(score, type), {1, tokens, selected})},
                             f.take(share));
  return at.reshape(at.sum(each, 2), {experts, tokens, 1});
}

}  // namespace

// Every expert computes every token, and those that a token did not select count for nothing: so
// all sizes are known before the run.
std::vector<Value*> MoEParams::emit(Emission& at) const {
  requireKnown(activation, "activation of experts");
  if (!at.has(kWeights) || !at.has(kWeights + 1) || !at.has(kWeights + 2)) {
    at.lacks("needs the weights of its experts; give them with setGatedWeights");
    return {at.input(0)};
  }
  for (int i = 0; i < 3; ++i)
    if (at.has(kBiases + i) != at.has(kBiases)) at.invalid("needs all three biases or none");
  requireRank(at, 0, "hidden states, [batch, length, size],", 3);
  requireRank(at, kWeights, "gate weights, [experts, size, width],", 3);
  const Shape hidden = at.input(0)->shape(), weights = at.input(kWeights)->shape();
  const Dim tokens = hidden[0] * hidden[1], &experts = weights[0], &width = weights[2];

  Value* x = at.reshape(at.input(0), {1, tokens, hidden[2]});
  Value* gate = linear(at, x, 0, hidden[2], width);
  Value* up = linear(at, x, 1, hidden[2], width);
  Formula f;
  Term g = f.input(0, gate->dataType()), u = f.input(1, up->dataType());
  if (std::isfinite(limit)) {
    g = smaller(g, limit);
    u = larger(smaller(u, limit), -limit);
  }
  if (activation == MoEActType::kSILU)
    g = g * apply(ScalarOp::kSigmoid, alpha == 1 ? g : g * alpha);
  if (beta != 0) u = u + beta;
  Value* inner = at.pointwise({gate, up}, f.take(g * u));

  Value* y = linear(at, inner, 2, width, hidden[2]);
  Formula weighted;
  const Term share = weighted.input(0, y->dataType()), result = weighted.input(1, y->dataType());
  const Term none = share == 0.0;
  y = at.pointwise({shares(at, tokens, experts), y},
                   weighted.take(where(none, 0.0, share * result)));
  return {at.reshape(at.sum(y, 0), hidden)};
}

void MoELayer::setThree(int32_t first, ITensor& gate, ITensor& up, ITensor& down) noexcept {
  guarded(reporter(), false, [&] {
    ITensor* const three[] = {&gate, &up, &down};
    network.setLayerInputs(*this, first, three);
    return true;
  });
}

void MoELayer::setGatedWeights(ITensor& gate, ITensor& up, ITensor& down,
                               MoEActType activation) noexcept {
  if (set(&Params::activation, activation)) setThree(Params::kWeights, gate, up, down);
}

void MoELayer::setGatedBiases(ITensor& gate, ITensor& up, ITensor& down) noexcept {
  setThree(Params::kBiases, gate, up, down);
}

void MoELayer::setSwigluParams(float limit, float alpha, float beta) noexcept {
  change([&](Params& params) {
    params.limit = limit;
    params.alpha = alpha;
    params.beta = beta;
  });
}

void MoELayer::refuseQuantization() const noexcept {
  refused(reporter(), "quantised experts are not available yet; leave the quantisation out", false);
}
void MoELayer::setQuantizationStatic(ITensor&, nvinfer1::DataType) noexcept {
  refuseQuantization();
}
void MoELayer::setQuantizationDynamicDblQ(ITensor&, nvinfer1::DataType, const nvinfer1::Dims&,
                                          nvinfer1::DataType) noexcept {
  refuseQuantization();
}
void MoELayer::setQuantizationToType(nvinfer1::DataType type) noexcept {
  if (type != getQuantizationToType()) refuseQuantization();
}
void MoELayer::setQuantizationBlockShape(const nvinfer1::Dims&) noexcept { refuseQuantization(); }
void MoELayer::setDynQOutputScaleType(nvinfer1::DataType type) noexcept {
  if (type != getDynQOutputScaleType()) refuseQuantization();
}

IRotaryEmbeddingLayer* Network::addRotaryEmbedding(ITensor& input, ITensor& cosCache,
                                                   ITensor& sinCache, bool interleaved,
                                                   int32_t rotaryEmbeddingDim) noexcept {
  return add<RotaryEmbeddingLayer>("rotary_embedding", {&input, &cosCache, &sinCache}, [&] {
    return RotaryEmbeddingParams{interleaved, rotaryEmbeddingDim};
  });
}

IKVCacheUpdateLayer* Network::addKVCacheUpdate(ITensor& cache, ITensor& update,
                                               ITensor& writeIndices, KVCacheMode mode) noexcept {
  return add<KVCacheUpdateLayer>("kv_cache_update", {&cache, &update, &writeIndices},
                                 [&] { return KVCacheUpdateParams{mode}; });
}

IMoELayer* Network::addMoE(ITensor& hiddenStates, ITensor& selectedExpertsForTokens,
                           ITensor& scoresForSelectedExperts) noexcept {
  return add<MoELayer>("moe", {&hiddenStates, &selectedExpertsForTokens, &scoresForSelectedExperts},
                       [] { return MoEParams{}; });
}

IDistCollectiveLayer* Network::addDistCollective(ITensor& input, CollectiveOperation operation,
                                                 ReduceOperation reduceOp, int64_t root,
                                                 int64_t* groups, int64_t groupSize) noexcept {
  return add<DistCollectiveLayer>("dist_collective", {&input}, [&] {
    requireKnown(operation, "collective operation");
    requireKnown(reduceOp, "reduction");
    using enum CollectiveOperation;
    const bool hasRoot = operation == kBROADCAST || operation == kREDUCE || operation == kGATHER ||
                         operation == kSCATTER;
    if (groupSize < 0 || groupSize > 1 || (groupSize == 1 && !groups))
      fail(ErrorKind::kUnsupported, "a collective operation of ", groupSize,
           " ranks cannot be added: engines run on one device, rank 0");
    if ((groupSize == 1 && groups[0] != 0) || (hasRoot && root != 0))
      fail(ErrorKind::kInvalidArgument, "a collective operation names rank ",
           groupSize == 1 && groups[0] != 0 ? groups[0] : root,
           ": engines run on one device, rank 0");
    return DistCollectiveParams{};
  });
}

}  // namespace camshaft::api
