// Quantisation and dequantisation as the importer writes them: Pointwise nodes with scale and zero
// point beside the values.
#pragma once

#include <optional>
#include <span>

#include "ir/graph.h"
#include "ops/fusion_abilities.h"

namespace camshaft {

inline bool isByte(const Value* value) {
  return value->dataType() == DataType::kU8 || value->dataType() == DataType::kI8;
}

// Of integers or floats of 8 bits.
inline bool isOfEightBits(const Value* value) {
  return isByte(value) || isFloat8(value->dataType());
}

inline bool isOneConstant(const Value* value) { return value->isConstant() && value->rank() == 0; }

// Instructions from bytes to bytes that a table of 256 stands for, however many.
inline constexpr size_t kMaxTable = 512;

// Whether products of such elements, 8-bit integers or floats, are among a backend's kernels.
bool hasProductsOf(DataType type, const FusionAbilities& fusion);

struct Dequantized {
  Value *values, *scale, *zero;  // zero: null when there is none
};
// Takes (values - zero) * scale apart; none when the value is not that, of bytes or floats of 8
// bits and in f32.
std::optional<Dequantized> dequantized(const Value* value);
// The same where it is rounded to 16 bits, and the scale has as many, as in models of such types.
std::optional<Dequantized> dequantizedInAnyType(const Value* value);

struct Quantized {
  Value *values, *scale, *zero;
};
// Takes saturated(round(values / scale) + zero) apart; none when the value is not that, in bytes,
// or values / scale in floats of 8 bits.
std::optional<Quantized> quantized(const Value* value);

// Whether the value is the f32 sums of a product of 8-bit floats, as they are.
bool isSumOfFloat8(const Value* value);

// A constant, or what folding will make one.
bool isKnown(const Value* value);

// Both are one number, or none, and the same.
bool areSameNumber(const Value* a, const Value* b);

// How real numbers become bytes.
struct ByteScale {
  double scale = 1;
  int zero = 0;
  DataType type = DataType::kI8;
};
// scale * bytes, which have no zero point.
Value* addDequantisation(Graph& graph, const std::string& name, Value* bytes, Value* scale,
                         Node* before);
// dequantised(quantised(value)), right behind it.
Value* addQdq(Graph& graph, Value* value, const ByteScale& to);

// More terms could leave the range of 32 bits.
inline constexpr int64_t kMaxTerms = (int64_t{1} << 31) / (255 * 255);
inline bool hasFewTerms(const Dim& terms) {
  return terms.isConstant() && terms.value() <= kMaxTerms;
}

// Whether backends with products of integers have one for this Conv or MatMul, once its operands
// are dequantised bytes.
bool hasIntegerProduct(const Node& product);
// Whether backends that unpack weights in their products have one for such blocks and rows.
bool hasPackedProduct(int64_t bits, int64_t blockSize, DataType rows);
// Dimension of a product's second operand that its columns or channels lie along.
int64_t weightAxis(const Node& product);

// Whether the node only moves or chooses elements of its inputs, or of some: Gather's others say
// which.
bool movesElements(const Node& node);
std::span<Value* const> movedInputs(const Node& node);

}  // namespace camshaft
