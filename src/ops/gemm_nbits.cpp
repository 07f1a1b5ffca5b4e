#include "ops/gemm_nbits.h"

#include <cmath>

#include "ops/pointwise.h"
#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferMatMulNBits(const Node& node) {
  const auto& attrs = node.as<MatMulNBitsAttrs>();
  const TensorType &a = node.inputs[0]->type, &weights = node.inputs[1]->type;
  if (attrs.bits != 2 && attrs.bits != 4 && attrs.bits != 8)
    fail(ErrorKind::kInvalidModel, describe(node), " has weights of ", attrs.bits,
         " bits where 2, 4 and 8 are possible");
  const int64_t blockBits = attrs.blockSize * attrs.bits;
  if (attrs.blockSize <= 0 || blockBits % 8 != 0)
    fail(ErrorKind::kInvalidModel, describe(node), " has blocks of ", attrs.blockSize,
         " weights, which do not fill whole bytes");
  requireFloat(node, 0);
  if (a.rank() < 1) fail(ErrorKind::kInvalidModel, describe(node), " multiplies rows, not ", a);
  requireRank(node, 1, "weights", 3);
  if (weights.type != DataType::kU8)
    fail(ErrorKind::kInvalidModel, describe(node), " has weights of type ", weights.type,
         " where bytes are needed");
  requireEqual(node, weights.shape[2], "bytes in a block", blockBits / 8,
               "its bits and block size make");
  requireEqual(node, weights.shape[1], "blocks in a row", ceilDiv(a.shape.back(), attrs.blockSize),
               "its input needs");
  const Shape perBlock{weights.shape[0], weights.shape[1]};
  requireShape(node, 2, "scales", perBlock);
  requireSameType(node, 2, 0);
  if (node.hasInput(3)) {
    requireShape(node, 3, "zero points", perBlock);
    if (node.inputs[3]->dataType() != DataType::kU8) requireFloat(node, 3);
  }
  if (node.hasInput(4)) {
    if (!attrs.rms) fail(ErrorKind::kInvalidModel, describe(node), " has factors without a norm");
    requireShape(node, 4, "factors", {a.shape.back()});
    requireFloat(node, 4);
  }
  Shape shape = a.shape;
  shape.back() = weights.shape[0];
  if (attrs.isGated()) {
    const Dim& columns = weights.shape[0];
    if (!columns.isConstant() || columns.value() % 2 != 0)
      fail(ErrorKind::kInvalidModel, describe(node), " has a gate of pairs among ", columns,
           " columns");
    shape.back() = columns.value() / 2;
  }
  return {{a.type, std::move(shape)}};
}

// [N, K], whatever lies beyond K in the last block left out.
std::vector<double> unpackedWeights(const Evaluation& evaluation, int64_t depth) {
  const auto& attrs = evaluation.node.as<MatMulNBitsAttrs>();
  const ConstTensorView& packed = evaluation.inputs[1];
  const int64_t rows = packed.dims[0], blocks = packed.dims[1], perByte = 8 / attrs.bits;
  const int mask = (1 << attrs.bits) - 1;
  const std::vector<double> scales = readReals(evaluation.inputs[2]);
  const std::vector<double> zeros = evaluation.node.hasInput(3)
                                        ? readReals(evaluation.inputs[3])
                                        : std::vector<double>(scales.size(), 1 << (attrs.bits - 1));
  const uint8_t* bytes = packed.as<uint8_t>();
  std::vector<double> weights;
  weights.reserve(rows * depth);
  for (int64_t row = 0; row < rows; ++row) {
    const uint8_t* line = bytes + row * blocks * packed.dims[2];
    for (int64_t k = 0; k < depth; ++k) {
      const int number = line[k / perByte] >> (k % perByte * attrs.bits) & mask;
      const int64_t block = row * blocks + k / attrs.blockSize;
      weights.push_back((number - zeros[block]) * scales[block]);
    }
  }
  return weights;
}

// Input 0 as it is multiplied.
std::vector<double> rowsOf(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<MatMulNBitsAttrs>();
  const ConstTensorView& a = evaluation.inputs[0];
  std::vector<double> values = readReals(a);
  if (!attrs.rms) return values;
  const auto depth = static_cast<size_t>(a.dims.back());
  const std::vector<double> factors =
      evaluation.node.hasInput(4) ? readReals(evaluation.inputs[4]) : std::vector<double>(depth, 1);
  for (size_t row = 0; row < values.size(); row += depth) {
    double squares = 0;
    for (size_t k = 0; k < depth; ++k) squares += values[row + k] * values[row + k] / depth;
    const double scale = 1 / std::sqrt(squares + attrs.epsilon);
    for (size_t k = 0; k < depth; ++k) values[row + k] = values[row + k] * scale * factors[k];
  }
  std::vector<std::byte> bytes(a.bytes());
  const TensorView rounded{a.type, a.dims, bytes.data()};
  writeReals(rounded, values);
  return readReals(rounded);
}

// The gate of each row's two halves.
void writeGated(const Evaluation& evaluation, const std::vector<double>& products) {
  const TensorView& out = evaluation.outputs[0];
  const int64_t half = out.dims.back();
  std::vector<std::byte> bytes[2];
  std::vector<ConstTensorView> halves;
  for (int64_t second = 0; second < 2; ++second) {
    std::vector<double> values;
    for (int64_t i = 0; i < out.count(); ++i)
      values.push_back(products[i / half * half * 2 + second * half + i % half]);
    bytes[second].resize(out.bytes());
    const TensorView view{out.type, out.dims, bytes[second].data()};
    writeReals(view, values);
    halves.push_back(view);
  }
  evaluateExpr(evaluation.node.as<MatMulNBitsAttrs>().gate, halves, out);
}

void evaluateMatMulNBits(const Evaluation& evaluation) {
  const int64_t depth = evaluation.inputs[0].dims.back(), columns = evaluation.inputs[1].dims[0];
  const std::vector<double> weights = unpackedWeights(evaluation, depth);
  const std::vector<double> a = rowsOf(evaluation);
  const int64_t perRow = evaluation.outputs[0].dims.back();
  const int64_t rows = perRow == 0 ? 0 : evaluation.outputs[0].count() / perRow;
  std::vector<double> out;
  out.reserve(rows * columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) sum += a[i * depth + k] * weights[j * depth + k];
      out.push_back(sum);
    }
  }
  if (evaluation.node.as<MatMulNBitsAttrs>().isGated()) return writeGated(evaluation, out);
  writeReals(evaluation.outputs[0], out);
}

}  // namespace

const OpInfo ops::MatMulNBits = {
    "MatMulNBits", 3, 5, 1, makeAttrsOf<MatMulNBitsAttrs>, inferMatMulNBits, evaluateMatMulNBits};

}  // namespace camshaft
