// What lower_precision knows about operators, expressions and constants.
#pragma once

#include "passes/pass.h"

namespace camshaft {

inline bool is16Bit(DataType type) { return type == DataType::kF16 || type == DataType::kBF16; }

// How an operator takes part in 16-bit work.
enum class PrecisionRole {
  kProduct,    // matrix work: multiplies 16-bit operands, adds up in f32
  kFollows,    // stores its result in its input's type, whatever it computes in
  kPointwise,  // reads and writes any type; computes in f32 between casts of its expression
  kReads,      // takes any type and gives no floating-point result
  kF32,        // range or exactness needs f32 around it
};
PrecisionRole precisionRoleOf(const Node& node, const PassOptions& options);

// Whether input i has to have the type the node works in. The others take any floating type
// (scale and bias of a norm, masks of attention) or have one of their own (indices, grids).
bool sharesType(const Node& node, int i);
// Whether input i is added to sums, which bf16 has too few digits for.
bool isBias(const Node& node, int i);
// Whether input i has to be f32: all of a node in that role, and coordinates beside 16-bit data.
bool needsF32(const Node& node, int i, const PassOptions& options);
// Results that compare or select, and logarithms of probabilities, gain from unrounded operands.
bool gainsFromF32(const Node& node);
// Whether the result is of moderate size whatever goes in: softmax and normalisations.
bool tamesRange(const Node& node);

// What is known of the numbers in a tensor, beyond their type.
struct NumberFacts {
  // Holds finite numbers too large for 16 bits: the fill values of masks.
  bool huge = false;
  // Where the numbers come from: constants alone, integers (positions, sizes) with constants,
  // anything else, or sums of products of integers. Integers and what is computed from them exceed
  // the 11 bits of a half. Sums leave its range, and are as real as anything once they are scaled.
  enum class Source { kConstant, kInteger, kAny, kSums } source = Source::kConstant;
  bool areWhole() const { return source == Source::kInteger || source == Source::kSums; }
};
NumberFacts combined(const NumberFacts& a, const NumberFacts& b);

struct ExprFacts : NumberFacts {
  // May leave the range of a half for moderate inputs, or lose its meaning in 11 bits:
  // exponentials, powers, divisions by computed numbers, logarithms.
  bool grows = false;
};
// `inputs` are the facts of the expression's inputs; `limit` is the largest number of the 16-bit
// type.
ExprFacts factsOf(const Expr& expr, const std::vector<NumberFacts>& inputs, double limit);

double largestFinite(DataType type);  // of f32, f16, bf16

// How the elements of an f32 constant fare in a 16-bit type.
struct ConstantFit {
  int64_t overflows = 0;  // finite elements beyond the largest number
  int64_t vanishes = 0;   // elements that become zero
  bool allTiny = false;   // not one element is a normal number, and some are not zero
  bool harmless() const { return overflows == 0 && !allTiny; }
};
ConstantFit fitOf(const Value& constant, DataType type);
// Its elements rounded to nearest; finite ones stay finite.
Value* addRounded(Graph& graph, const Value& constant, DataType type);

}  // namespace camshaft
