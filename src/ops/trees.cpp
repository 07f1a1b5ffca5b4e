#include "ops/trees.h"

#include <algorithm>
#include <cmath>

#include "ops/rules.h"
#include "ops/walk.h"

namespace camshaft {

namespace {

// Lists of one length, ends that ascend up to what they end in, and places that exist and lie
// ahead, so that every walk ends.
void requireTrees(const Node& node) {
  const auto& attrs = node.as<TreesAttrs>();
  const auto nodes = static_cast<int64_t>(attrs.features.size());
  const auto leaves = static_cast<int64_t>(attrs.voteEnds.size());
  const auto require = [&](bool condition, std::string_view what) {
    if (!condition) fail(ErrorKind::kInvalidModel, describe(node), " has trees whose ", what);
  };
  const auto isEnds = [](const std::vector<int64_t>& ends, size_t of) {
    return std::is_sorted(ends.begin(), ends.end()) &&
           (ends.empty() ? of == 0 : ends.front() >= 0 && ends.back() == static_cast<int64_t>(of));
  };
  for (const auto* list : {&attrs.modes, &attrs.yes, &attrs.no, &attrs.memberEnds})
    require(static_cast<int64_t>(list->size()) == nodes, "lists differ in length");
  require(static_cast<int64_t>(attrs.splits.size()) == nodes &&
              (attrs.missingIsYes.empty() ||
               static_cast<int64_t>(attrs.missingIsYes.size()) == nodes) &&
              attrs.voteTargets.size() == attrs.voteWeights.size(),
          "lists differ in length");
  require(isEnds(attrs.memberEnds, attrs.members.size()) &&
              isEnds(attrs.voteEnds, attrs.voteTargets.size()),
          "lists end too early");
  const auto isPlace = [&](int64_t place, int64_t after) {
    return place < 0 ? -1 - place < leaves : place > after && place < nodes;
  };
  for (const int64_t root : attrs.roots) require(isPlace(root, -1), "roots are not there");
  for (int64_t i = 0; i < nodes; ++i) {
    require(isPlace(attrs.yes[i], i) && isPlace(attrs.no[i], i), "branches lead nowhere or back");
    require(attrs.modes[i] >= 0 && attrs.modes[i] <= static_cast<int64_t>(TreeMode::kMember),
            "comparisons are unknown");
    require(attrs.features[i] >= 0, "features are negative");
  }
  for (const int64_t target : attrs.voteTargets)
    require(target >= 0 && target < attrs.targets, "votes are for targets that are not there");
}

std::vector<TensorType> inferTrees(const Node& node) {
  const auto& attrs = node.as<TreesAttrs>();
  requireRank(node, 0, "rows of features", 2);
  requireFloat(node, 0);
  if (attrs.targets < 1) fail(ErrorKind::kInvalidModel, describe(node), " has no targets");
  requireTrees(node);
  const TensorType& x = node.inputs[0]->type;
  if (!attrs.features.empty())
    requireAtLeast(node, x.shape[1], "features", Dim(std::ranges::max(attrs.features)) + 1);
  return {{x.type, {x.shape[0], attrs.targets}}};
}

bool goesToYes(const TreesAttrs& attrs, int64_t node, double value) {
  if (std::isnan(value)) return !attrs.missingIsYes.empty() && attrs.missingIsYes[node] != 0;
  const double split = attrs.splits[node];
  switch (static_cast<TreeMode>(attrs.modes[node])) {
    case TreeMode::kLessEqual:
      return value <= split;
    case TreeMode::kLess:
      return value < split;
    case TreeMode::kGreaterEqual:
      return value >= split;
    case TreeMode::kGreater:
      return value > split;
    case TreeMode::kEqual:
      return value == split;
    case TreeMode::kNotEqual:
      return value != split;
    case TreeMode::kMember:
      break;
  }
  const auto begin = attrs.members.begin() + (node == 0 ? 0 : attrs.memberEnds[node - 1]);
  return std::find(begin, attrs.members.begin() + attrs.memberEnds[node], value) !=
         attrs.members.begin() + attrs.memberEnds[node];
}

// Adds the votes of the leaf that a row is led to.
void vote(const TreesAttrs& attrs, int64_t place, const double* row, double* totals,
          std::vector<bool>& voted) {
  while (place >= 0)
    place =
        goesToYes(attrs, place, row[attrs.features[place]]) ? attrs.yes[place] : attrs.no[place];
  const int64_t leaf = -1 - place;
  for (int64_t i = leaf == 0 ? 0 : attrs.voteEnds[leaf - 1]; i < attrs.voteEnds[leaf]; ++i) {
    const int64_t target = attrs.voteTargets[i];
    double& total = totals[target];
    const double weight = attrs.voteWeights[i];
    const bool isFirst = !voted[target];
    voted[target] = true;
    if (attrs.aggregate == TreeAggregate::kMin)
      total = isFirst ? weight : std::min(total, weight);
    else if (attrs.aggregate == TreeAggregate::kMax)
      total = isFirst ? weight : std::max(total, weight);
    else
      total += weight;
  }
}

void evaluateTrees(const Evaluation& evaluation) {
  const auto& attrs = evaluation.node.as<TreesAttrs>();
  const int64_t batch = evaluation.inputs[0].dims[0], width = evaluation.inputs[0].dims[1];
  for (const int64_t feature : attrs.features)
    if (feature >= width && batch > 0)
      fail(ErrorKind::kInvalidArgument, describe(evaluation.node), " looks at feature ", feature,
           " of ", width);
  const std::vector<double> x = readReals(evaluation.inputs[0]);
  std::vector<double> y(evaluation.outputs[0].count());
  for (int64_t n = 0; n < batch; ++n) {
    double* totals = y.data() + n * attrs.targets;
    std::vector<bool> voted(attrs.targets);
    for (const int64_t root : attrs.roots) vote(attrs, root, x.data() + n * width, totals, voted);
    if (attrs.aggregate == TreeAggregate::kAverage && !attrs.roots.empty())
      for (int64_t i = 0; i < attrs.targets; ++i)
        totals[i] /= static_cast<double>(attrs.roots.size());
  }
  writeReals(evaluation.outputs[0], y);
}

}  // namespace

const OpInfo ops::Trees = {"Trees", 1, 1, 1, makeAttrsOf<TreesAttrs>, inferTrees, evaluateTrees};

}  // namespace camshaft
