// Branches and loops whose course is decided at run time.
//
// A body is a closed graph with symbols of its own: what it reads of the graph around it, the
// captures, are inputs of the node and of the body. Results may have sizes that only a run decides;
// then these are symbols that the node defines.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ops/evaluate.h"
#include "ops/ops.h"

namespace camshaft {

// If(condition, captures of then..., captures of else...): the outputs of one branch. The captures
// are the branches' inputs.
struct IfAttrs : AttrsOf<IfAttrs> {
  BodyPtr thenBranch, elseBranch;
  Shape sizes;               // of all outputs, one after the other
  std::vector<Dim> symbols;  // defined by this node; each is one of the sizes
  void fields(AttrVisitor& visit) override {
    visit("then", thenBranch);
    visit("else", elseBranch);
    visit("sizes", sizes);
    visit("symbols", symbols);
  }
};

// Loop(trip count?, condition?, carried..., captures...): runs the body up to trip-count times, as
// long as the condition holds. The body takes (iteration, condition, carried..., captures...) and
// gives (condition, carried..., scans...); the outputs are the last carried values, then the
// scans of all iterations stacked along a new first dimension.
struct LoopAttrs : AttrsOf<LoopAttrs> {
  BodyPtr body;
  int64_t carried = 0;
  Shape sizes;
  std::vector<Dim> symbols;
  void fields(AttrVisitor& visit) override {
    visit("body", body);
    visit("carried", carried);
    visit("sizes", sizes);
    visit("symbols", symbols);
  }
};

inline bool hasBodies(const Node& node) { return node.op == &ops::If || node.op == &ops::Loop; }

// The input of the node that is input 0 of its body; the next ones follow in order. A loop's first
// two are not the same: the body gets the iteration instead of the trip count.
int firstBodyInput(const Node& node, size_t body);
// What a body's symbols are outside of it, where that is one size throughout. Sizes that change
// from one iteration to the next, or are decided in the body, are not there.
std::map<std::string, Dim> outerDims(const Node& node, size_t body);

// The node defines no symbols any more: their sizes became known.
void forgetDefinitions(Node& node);

// The outputs, in sizes that come out as the bodies run.
std::vector<HostTensor> evaluateBodies(const Node& node, std::span<const ConstTensorView> inputs,
                                       const SymbolValue& symbolValue,
                                       EvaluationBudget* budget = nullptr);

}  // namespace camshaft
