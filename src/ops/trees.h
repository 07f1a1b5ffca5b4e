// Decision trees.
#pragma once

#include "ops/ops.h"

namespace camshaft {

enum class TreeMode { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember };
enum class TreeAggregate { kAverage, kSum, kMin, kMax };

// Trees(x): x is [batch, features]. Each tree leads every row to a leaf; the votes of a leaf are
// weights for targets, and those for one target are aggregated over all trees: [batch, targets].
// A place is a node's index, or -1 - i for leaf i.
struct TreesAttrs : AttrsOf<TreesAttrs> {
  TreeAggregate aggregate = TreeAggregate::kSum;
  int64_t targets = 1;
  std::vector<int64_t> roots;            // places
  std::vector<int64_t> features, modes;  // of each node; modes are TreeMode
  std::vector<double> splits;            // what the feature is compared with
  std::vector<int64_t> yes, no;          // places to go on from
  std::vector<int64_t> missingIsYes;     // of each node; empty: a NaN goes to `no`
  std::vector<int64_t> memberEnds;       // of each node: its part of `members` ends here
  std::vector<double> members;           // kMember: the values that go to `yes`
  std::vector<int64_t> voteEnds;         // of each leaf
  std::vector<int64_t> voteTargets;
  std::vector<double> voteWeights;
  void fields(AttrVisitor& visit) override {
    static constexpr std::string_view kAggregates[] = {"average", "sum", "min", "max"};
    visit("aggregate", aggregate, kAggregates);
    visit("targets", targets);
    visit("roots", roots);
    visit("features", features);
    visit("modes", modes);
    visit("splits", splits);
    visit("yes", yes);
    visit("no", no);
    visit("missing_is_yes", missingIsYes);
    visit("member_ends", memberEnds);
    visit("members", members);
    visit("vote_ends", voteEnds);
    visit("vote_targets", voteTargets);
    visit("vote_weights", voteWeights);
  }
};

}  // namespace camshaft
