// When two kernels' results are the same but for rounding.
#pragma once

#include <string>

#include "ir/graph.h"
#include "tuner/trial.h"

namespace camshaft {

// An element is off when |got - wanted| > relative * (typical + |wanted|), with the typical size of
// the wanted elements: sums of products round by their terms, not by what is left of them. Integers
// are off when they differ.
struct Tolerance {
  double relative = 0;
  double share = 0;  // of elements that may be off; at least one may, where it is not 0
};

// What f32 may be rounded to before it is multiplied.
enum class ProductPrecision { kF32, kTf32, kF16, kBf16 };

// By the node's types, operator and expressions.
Tolerance toleranceFor(const Node& node, ProductPrecision products);

// Why results of this node's kernels cannot be compared with one another; empty: they can.
std::string whyIncomparable(const Node& node);

// How results differ, in words; empty when they agree. Both are of one node, sampled alike.
std::string differenceBetween(const Node& node, const SymbolValue& opt, const TrialResults& got,
                              const TrialResults& wanted, const Tolerance& tolerance);

// Roughly how many steps the operator's own evaluate() takes at these sizes.
double evaluationWork(const Node& node, const SymbolValue& opt);

}  // namespace camshaft
