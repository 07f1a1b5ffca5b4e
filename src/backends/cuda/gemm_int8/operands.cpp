#include "backends/cuda/gemm_int8/operands.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "ops/gemm_int8.h"
#include "ops/ops.h"
#include "ops/walk.h"
#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kZeroPoint = 2, kWeightZeros = 3;

template <class T>
std::vector<std::byte> asBytes(const std::vector<int32_t>& values) {
  const std::vector<T> narrow(values.begin(), values.end());
  const auto bytes = std::as_bytes(std::span(narrow));
  return {bytes.begin(), bytes.end()};
}

bool hasWeightZeros(const Node& node) {
  if (!isOfIntegers(node) || !node.hasInput(kWeightZeros)) return false;
  const ConstTensorView view = node.inputs[kWeightZeros]->view();
  const auto* bytes = static_cast<const uint8_t*>(view.data);
  return std::any_of(bytes, bytes + view.count(), [](uint8_t byte) { return byte != 0; });
}

}  // namespace

bool isOfIntegers(const Node& node) {
  return node.op == &ops::MatMulInteger || node.op == &ops::ConvInteger;
}

std::string whyNotCentred(const Node& node) {
  if (!isOfIntegers(node)) return {};
  if (node.hasInput(kZeroPoint) && !isOneNumber(*node.inputs[kZeroPoint]))
    return "needs one zero point for its first operand";
  if (node.hasInput(kWeightZeros) &&
      !(node.inputs[1]->isConstant() && node.inputs[kWeightZeros]->isConstant()))
    return "needs weights and zero points of weights that are constants";
  return {};
}

HostTensor centredWeights(const Node& node) {
  HostTensor weights(node.inputs[1]->view());
  if (!hasWeightZeros(node)) return weights;
  const ConstTensorView zeros = node.inputs[kWeightZeros]->view();
  const std::vector<uint64_t> from = readIntegers(std::as_const(weights).view()),
                              less = readIntegers(zeros);
  const Dims strides = camshaft::broadcastStrides(zeros.dims, weights.dims);
  std::vector<int32_t> values;
  values.reserve(from.size());
  forEachIndex(weights.dims, [&](const Dims& index) {
    values.push_back(static_cast<int32_t>(from[values.size()]) -
                     static_cast<int32_t>(less[offsetOf(index, strides)]));
  });
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const auto isWithin = [&, low = low, high = high](int least, int most) {
    return values.empty() || (*low >= least && *high <= most);
  };
  weights.type = isWithin(-128, 127) ? DataType::kI8
                 : isWithin(0, 255)  ? DataType::kU8
                                     : DataType::kI16;
  weights.bytes =
      weights.type == DataType::kI16 ? asBytes<int16_t>(values) : asBytes<uint8_t>(values);
  return weights;
}

DataType centredType(const Node& node) {
  return hasWeightZeros(node) ? centredWeights(node).type : node.inputs[1]->dataType();
}

std::string whyWiderCentred(const Node& node) {
  const bool isWider = hasWeightZeros(node) && centredType(node) == DataType::kI16;
  return isWider ? "needs weights that are bytes when their zero points are subtracted" : "";
}

std::vector<std::byte> packedWeights(const HostTensor& weights, int64_t count,
                                     const std::function<int64_t(int64_t)>& source) {
  const size_t bytes = bitsOf(weights.type) / 8;
  std::vector<std::byte> packed(count * bytes);
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t at = source(i); at >= 0)
      std::memcpy(&packed[i * bytes], weights.bytes.data() + at * bytes, bytes);
  return packed;
}

std::string declareZeroPoint(KernelText& kernel, const Node& node) {
  if (!isOfIntegers(node) || !node.hasInput(kZeroPoint)) return {};
  const Value& zero = *node.inputs[kZeroPoint];
  if (zero.isConstant() && !zero.isOpaque()) {
    const auto value = static_cast<int>(readElement(zero.dataType(), zero.view().data, 0));
    return value == 0 ? "" : str(value);
  }
  kernel.input("zero_point", kZeroPoint);
  return "int(zero_point[0])";
}

void declareRowSums(KernelText& kernel, const std::string& name, DataType type,
                    const std::vector<std::byte>& packed, int64_t rows) {
  const int64_t pitch = rows == 0 ? 0 : static_cast<int64_t>(packed.size()) / rows;
  std::vector<int32_t> sums(rows, 0);
  for (int64_t i = 0; i < rows * pitch; ++i) {
    const auto byte = static_cast<uint8_t>(packed[i]);
    sums[i / pitch] += type == DataType::kI8 ? static_cast<int8_t>(byte) : byte;
  }
  kernel.packedInput(name, {DataType::kI32, {rows}}, asBytes<int32_t>(sums));
}

}  // namespace camshaft::cuda
