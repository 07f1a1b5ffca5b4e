#include "backends/cuda/gemm/hopper/operands.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/gemm/hopper/byte_weights.h"
#include "backends/cuda/gemm/transposed.h"
#include "ops/gemm.h"
#include "ops/ops.h"

namespace camshaft::cuda {
namespace {

// Rows of B [n, k] in the order in which wgmma gives a thread four neighbours of the result: of 16,
// columns 8i + 2j and the next are 4j + 2i and the next.
std::vector<std::byte> inQuads(const std::vector<std::byte>& rows, int64_t count) {
  const auto pitch = static_cast<int64_t>(rows.size()) / count;
  std::vector<std::byte> quads(rows.size());
  for (int64_t to = 0; to < count; ++to) {
    const int64_t from = to / 16 * 16 + to % 8 / 2 * 4 + to / 8 % 2 * 2 + to % 2;
    std::copy_n(rows.begin() + from * pitch, pitch, quads.begin() + to * pitch);
  }
  return quads;
}

// A constant B [k, n] as [n, k].
StepInput packedB(const Value& b, const HopperProduct& product, bool hasQuads) {
  const int64_t k = product.k.value(), n = product.n.value();
  const int bytes = bitsOf(b.dataType()) / 8;
  return StepInput::fromPacking({b.dataType(), {n, k}}, [=, constant = b.constant] {
    std::vector<std::byte> rows = transposed(constant->bytes.data(), k, n, bytes);
    return hasQuads ? inQuads(rows, n) : rows;
  });
}

// Weights of a NormMatMul as [n, k].
struct NormWeights {
  std::shared_ptr<const ConstantData> weights, scale, bias;  // the last two may be null
  DataType type, typeOfScale = DataType::kF32, typeOfBias = DataType::kF32;
  int64_t k, n;
  bool isTransposed;

  double at(int64_t column, int64_t depth) const {
    return readElement(type, weights->bytes.data(),
                       isTransposed ? column * k + depth : depth * n + column);
  }
  // Times the norm's scale, in the type of weights.
  std::vector<std::byte> scaled() const {
    std::vector<double> scales(k, 1);
    for (int64_t i = 0; scale && i < k; ++i)
      scales[i] = readElement(typeOfScale, scale->bytes.data(), i);
    std::vector<std::byte> rows(n * k * bitsOf(type) / 8);
    for (int64_t column = 0; column < n; ++column)
      for (int64_t depth = 0; depth < k; ++depth)
        writeElement(type, rows.data(), column * k + depth, at(column, depth) * scales[depth]);
    return rows;
  }
  // Sums of the columns of what scaled() made, as that is multiplied.
  std::vector<std::byte> sums() const {
    const std::vector<std::byte> rows = scaled();
    return byColumn([&](int64_t column, int64_t depth) {
      return readElement(type, rows.data(), column * k + depth);
    });
  }
  // What the norm's bias adds to each column.
  std::vector<std::byte> shifts() const {
    return byColumn([&](int64_t column, int64_t depth) {
      return at(column, depth) * readElement(typeOfBias, bias->bytes.data(), depth);
    });
  }

 private:
  template <class Term>
  std::vector<std::byte> byColumn(Term term) const {
    std::vector<std::byte> sums(n * sizeof(float));
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (int64_t depth = 0; depth < k; ++depth) sum += term(column, depth);
      writeElement(DataType::kF32, sums.data(), column, sum);
    }
    return sums;
  }
};

// B, the moments of A's rows, and the constants of columns that its epilogue begins with.
void addNormOperands(const Node& node, const HopperProduct& product, std::vector<StepInput>& to) {
  const auto& attrs = node.as<NormMatMulAttrs>();
  NormWeights norm{.weights = node.inputs[1]->constant,
                   .type = product.typeB,
                   .k = product.k.value(),
                   .n = product.n.value(),
                   .isTransposed = attrs.transposeB};
  if (const Value* scale = node.input(attrs.kScale)) {
    norm.scale = scale->constant;
    norm.typeOfScale = scale->dataType();
  }
  if (const Value* bias = node.input(attrs.kBias)) {
    norm.bias = bias->constant;
    norm.typeOfBias = bias->dataType();
  }
  const TensorType perColumn{DataType::kF32, {product.n}};
  to.push_back(StepInput::fromPacking({product.typeB, {product.n, product.k}},
                                      [norm, quads = hasQuads(node, product)] {
                                        std::vector<std::byte> rows = norm.scaled();
                                        return quads ? inQuads(rows, norm.n) : rows;
                                      }));
  to.push_back(StepInput::fromNode(attrs.kMoments));
  if (!attrs.rms) to.push_back(StepInput::fromPacking(perColumn, [norm] { return norm.sums(); }));
  if (norm.bias) to.push_back(StepInput::fromPacking(perColumn, [norm] { return norm.shifts(); }));
}

// What is subtracted for a zero point of A: the sums of B's columns, times it where it is known.
StepInput zeroTerms(const Node& node, const HopperProduct& product, std::vector<int32_t> sums) {
  if (product.zeroA == ZeroPoint::kConstant) {
    const Value& zero = *node.inputs[2];
    const void* data = zero.view().data;
    const auto factor = static_cast<uint32_t>(zero.dataType() == DataType::kI8
                                                  ? int{*static_cast<const int8_t*>(data)}
                                                  : int{*static_cast<const uint8_t*>(data)});
    for (int32_t& sum : sums) sum = static_cast<int32_t>(static_cast<uint32_t>(sum) * factor);
  }
  std::vector<std::byte> bytes(sums.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), sums.data(), bytes.size());
  const auto rows = static_cast<int64_t>(sums.size()) / product.n.value();
  return StepInput::fromBytes({DataType::kI32, {rows, product.n}}, std::move(bytes));
}

}  // namespace

std::vector<StepInput> hopperInputs(const Node& node, const HopperProduct& product) {
  std::vector<StepInput> inputs = {StepInput::fromNode(0)};
  if (product.normalises) {
    addNormOperands(node, product, inputs);
  } else if (!product.packsB) {
    inputs.push_back(StepInput::fromNode(1));
  } else if (node.op == &ops::MatMulInteger) {
    ByteWeights weights = byteWeights(*node.inputs[1], node.input(3));
    if (hasQuads(node, product)) weights.bytes = inQuads(weights.bytes, product.n.value());
    inputs.push_back(
        StepInput::fromBytes({product.typeB, {product.n, product.k}}, std::move(weights.bytes)));
    if (product.zeroA != ZeroPoint::kNone)
      inputs.push_back(
          zeroTerms(node, product, product.zeroSums.empty() ? weights.sums : product.zeroSums));
    if (product.zeroA == ZeroPoint::kRunTime) inputs.push_back(StepInput::fromNode(2));
  } else {
    inputs.push_back(packedB(*node.inputs[1], product, hasQuads(node, product)));
  }
  for (int i = node.ownInputs(); i < static_cast<int>(node.inputs.size()); ++i)
    inputs.push_back(StepInput::fromNode(i));
  return inputs;
}

}  // namespace camshaft::cuda
