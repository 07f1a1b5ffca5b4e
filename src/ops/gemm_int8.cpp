#include "ops/gemm_int8.h"

#include <algorithm>
#include <cmath>

#include "ops/conv_rules.h"
#include "ops/pointwise.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

bool isOneNumber(const Value& value) {
  return std::all_of(value.shape().begin(), value.shape().end(),
                     [](const Dim& dim) { return dim.isConstant(1); });
}

bool liesAlong(const Value& value, int64_t axis, int64_t rank) {
  if (isOneNumber(value)) return true;
  for (int64_t i = 1; i <= value.rank(); ++i)
    if (rank - i != axis && !value.shape()[value.rank() - i].isConstant(1)) return false;
  return true;
}

namespace {

void requireBytes(const Node& node) {
  for (int i = 0; i < 2; ++i) {
    const DataType type = node.inputs[i]->dataType();
    if (type != DataType::kU8 && type != DataType::kI8)
      fail(ErrorKind::kInvalidModel, describe(node), " multiplies 8-bit integers and its input ", i,
           " is ", type);
    if (!node.hasInput(i + 2)) continue;
    requireSameType(node, i + 2, i);
    requireBroadcastsTo(node, i + 2, "a zero point", node.inputs[i]->shape());
  }
}

std::vector<TensorType> inferMatMulInteger(const Node& node) {
  requireBytes(node);
  const TensorType &a = node.inputs[0]->type, &b = node.inputs[1]->type;
  if (a.rank() < 2 || b.rank() < 2)
    fail(ErrorKind::kInvalidModel, describe(node), " multiplies ", a, " by ", b,
         " where both need at least two dimensions");
  requireEqual(node, a.shape.back(), "columns", b.shape[b.rank() - 2], "rows of its weights");
  Shape shape = broadcastShapes(Shape(a.shape.begin(), a.shape.end() - 2),
                                Shape(b.shape.begin(), b.shape.end() - 2), describe(node));
  shape.push_back(a.shape[a.rank() - 2]);
  shape.push_back(b.shape.back());
  return {{DataType::kI32, shape}};
}

// The operand less its zero point.
std::vector<int32_t> centred(const ConstTensorView& values, const ConstTensorView& zero) {
  const std::vector<uint64_t> from = readIntegers(values);
  std::vector<int32_t> result(from.begin(), from.end());
  if (!zero.data) return result;
  const std::vector<uint64_t> zeros = readIntegers(zero);
  const Dims strides = broadcastStrides(zero.dims, values.dims);
  int32_t* to = result.data();
  forEachIndex(values.dims, [&](const Dims& index) {
    *to++ -= static_cast<int32_t>(zeros[offsetOf(index, strides)]);
  });
  return result;
}

ConstTensorView zeroPointOf(const Evaluation& evaluation, int operand) {
  return evaluation.node.hasInput(operand + 2) ? evaluation.inputs[operand + 2] : ConstTensorView();
}

void evaluateMatMulInteger(const Evaluation& evaluation) {
  const Dims &aDims = evaluation.inputs[0].dims, &bDims = evaluation.inputs[1].dims;
  const Dims& outDims = evaluation.outputs[0].dims;
  const std::vector<int32_t> a = centred(evaluation.inputs[0], zeroPointOf(evaluation, 0));
  const std::vector<int32_t> b = centred(evaluation.inputs[1], zeroPointOf(evaluation, 1));
  const auto batchOf = [](const Dims& dims) { return Dims(dims.begin(), dims.end() - 2); };
  const int64_t rows = outDims[outDims.size() - 2], columns = outDims.back(), inner = aDims.back();
  const Dims batch = batchOf(outDims);
  const Dims aBatch = broadcastStrides(batchOf(aDims), batch),
             bBatch = broadcastStrides(batchOf(bDims), batch);
  std::vector<uint32_t> sums(columns);
  int32_t* out = evaluation.outputs[0].as<int32_t>();
  forEachIndex(batch, [&](const Dims& index) {
    const int32_t* aRow = a.data() + offsetOf(index, aBatch) * rows * inner;
    const int32_t* bMatrix = b.data() + offsetOf(index, bBatch) * inner * columns;
    for (int64_t i = 0; i < rows; ++i, aRow += inner) {
      std::fill(sums.begin(), sums.end(), 0);
      for (int64_t k = 0; k < inner; ++k)
        for (int64_t j = 0; j < columns; ++j)
          sums[j] += static_cast<uint32_t>(aRow[k] * bMatrix[k * columns + j]);
      out = std::transform(sums.begin(), sums.end(), out,
                           [](uint32_t sum) { return static_cast<int32_t>(sum); });
    }
  });
}

std::vector<TensorType> inferConvInteger(const Node& node) {
  requireBytes(node);
  return {{DataType::kI32, convShape(node)}};
}

void evaluateConvInteger(const Evaluation& evaluation) {
  const auto reals = [&](int operand) {
    const std::vector<int32_t> values =
        centred(evaluation.inputs[operand], zeroPointOf(evaluation, operand));
    return std::vector<double>(values.begin(), values.end());
  };
  writeReals(evaluation.outputs[0], convolveReals(evaluation, reals(0), reals(1), {}));
}

std::vector<TensorType> inferDynamicQuantize(const Node& node) {
  const TensorType& x = node.inputs[0]->type;
  if (x.type != DataType::kF32)
    fail(ErrorKind::kInvalidModel, describe(node), " quantises f32 and its input is ", x.type);
  return {{DataType::kU8, x.shape}, {DataType::kF32, {}}, {DataType::kU8, {}}};
}

void evaluateDynamicQuantize(const Evaluation& evaluation) {
  const std::span<const float> x(evaluation.inputs[0].as<float>(), evaluation.inputs[0].count());
  float low = 0, high = 0;
  for (float value : x) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const auto toByte = [](float value) {
    return static_cast<uint8_t>(std::clamp(value == value ? value : 0.0f, 0.0f, 255.0f));
  };
  const float scale = high == low ? 1.0f : (high - low) / 255.0f;
  const uint8_t zero = toByte(std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f)));
  uint8_t* to = evaluation.outputs[0].as<uint8_t>();
  for (float value : x) *to++ = toByte(std::nearbyint(value / scale) + zero);
  *evaluation.outputs[1].as<float>() = scale;
  *evaluation.outputs[2].as<uint8_t>() = zero;
}

}  // namespace

const OpInfo ops::MatMulInteger = {
    "MatMulInteger", 2, 4, 1, makeAttrsOf<NoAttrs>, inferMatMulInteger, evaluateMatMulInteger};
const OpInfo ops::ConvInteger = {
    "ConvInteger", 2, 4, 1, makeAttrsOf<ConvAttrs>, inferConvInteger, evaluateConvInteger};
const OpInfo ops::DynamicQuantize = {
    "DynamicQuantize",      1, 1, 3, makeAttrsOf<NoAttrs>, inferDynamicQuantize,
    evaluateDynamicQuantize};

bool hasFilterPerChannel(const Shape& weights, int64_t groups) {
  const Dim taps = numElements(Shape(weights.begin() + 2, weights.end()));
  return weights[0].isConstant(groups) && weights[1].isConstant(1) && groups <= 4096 &&
         taps.isConstant() && taps.value() <= 128;
}

bool isConvolvedAsBytes(const Shape& weights, int64_t groups) {
  constexpr int64_t kFewestFilters = 4;
  return groups == 1 || hasFilterPerChannel(weights, groups) ||
         (weights[0].isConstant() && weights[0].value() >= kFewestFilters * groups);
}

bool areMatrixByMatrix(const Shape& a, const Shape& b) {
  const auto isOne = [](const Shape& shape) {
    return std::all_of(shape.begin(), shape.end() - 2,
                       [](const Dim& dim) { return dim.isConstant(1); });
  };
  return std::equal(a.begin(), a.end() - 2, b.begin(), b.end() - 2) ||
         (a.size() >= b.size() ? isOne(b) : isOne(a));
}

}  // namespace camshaft
