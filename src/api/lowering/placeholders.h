// Nodes that only networks have, while they are edited. Those of conditionals and loops lie flat
// among the others and mark where a block begins and ends; builds lower them to If and Loop nodes.
#pragma once

#include "NvInfer.h"
#include "ir/graph.h"

namespace camshaft::api {

// Of every placeholder; each has a use for some of it.
struct BoundaryAttrs : AttrsOf<BoundaryAttrs> {
  int64_t block = 0;         // which conditional or loop of the network
  int64_t kind = 0;          // a TripLimit or LoopOutput
  int64_t axis = 0;          // of an iterator or loop output
  bool reverse = false;      // of an iterator
  Shape sizes;               // of a conditional's or pending output; the length of a loop's
  std::vector<Dim> symbols;  // sizes that only the run decides
  void fields(AttrVisitor& visit) override {
    visit("block", block);
    visit("kind", kind);
    visit("axis", axis);
    visit("reverse", reverse);
    visit("sizes", sizes);
    visit("symbols", symbols);
  }
};

namespace placeholders {

extern const OpInfo Condition;          // (bool)
extern const OpInfo ConditionalInput;   // (x): x, for the branches
extern const OpInfo ConditionalOutput;  // (then, else): one of them
extern const OpInfo TripLimit;          // (count or condition)
extern const OpInfo Recurrence;         // (first): what an iteration begins with
extern const OpInfo Next;               // (recurrence, value): made by builds, as it leads back
extern const OpInfo Iterator;           // (x): the iteration's part of x
extern const OpInfo LoopOutput;         // (x): the last value, or those of all iterations
extern const OpInfo Pending;            // (x): what a layer gives whose parameters do not fit yet

}  // namespace placeholders

// Null for any other node.
const BoundaryAttrs* boundaryOf(const Node& node);

}  // namespace camshaft::api
