// ai.onnx.ml: ensembles of decision trees.
#include "ops/trees.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "onnx/node_import.h"
#include "ops/softmax.h"

namespace camshaft::onnx::importer {

namespace {

// A branch of opset 5: a node, or a leaf where the flag says so.
int64_t placeOf(int64_t id, bool isLeaf) { return isLeaf ? -1 - id : id; }

std::vector<double> numbersOf(const NodeImport& node, std::string_view attribute) {
  if (!node.has(attribute)) return {};
  return node.knownNumbers(node.tensor(attribute)).value();
}

Value* transformed(const NodeImport& node, Value* scores, int64_t transform) {
  switch (transform) {
    case 0:
      return scores;
    case 1: {
      SoftmaxAttrs overTargets;
      overTargets.axis = 1;
      return node.add(&ops::Softmax, {scores}, overTargets);
    }
    case 2:
      return node.unary(ScalarOp::kSigmoid, scores);
    default:
      node.unsupported("only NONE, SOFTMAX and LOGISTIC are supported as post_transform");
  }
}

// Parents stand before their children, as the operator wants them.
class TreeOrder {
 public:
  explicit TreeOrder(const NodeImport& node, const TreesAttrs& from) : node_(node), from_(from) {}

  TreesAttrs run() {
    TreesAttrs ordered = from_;
    for (auto* list : {&ordered.features, &ordered.modes, &ordered.yes, &ordered.no,
                       &ordered.missingIsYes, &ordered.memberEnds})
      list->clear();
    ordered.splits.clear();
    ordered.members.clear();
    for (int64_t& root : ordered.roots) root = visit(root);
    for (size_t i = 0; i < order_.size(); ++i) {
      const int64_t old = order_[i];
      ordered.features.push_back(from_.features[old]);
      ordered.modes.push_back(from_.modes[old]);
      ordered.splits.push_back(from_.splits[old]);
      ordered.yes.push_back(visit(from_.yes[old]));
      ordered.no.push_back(visit(from_.no[old]));
      if (!from_.missingIsYes.empty()) ordered.missingIsYes.push_back(from_.missingIsYes[old]);
      const auto begin = from_.members.begin() + (old == 0 ? 0 : from_.memberEnds[old - 1]);
      ordered.members.insert(ordered.members.end(), begin,
                             from_.members.begin() + from_.memberEnds[old]);
      ordered.memberEnds.push_back(static_cast<int64_t>(ordered.members.size()));
    }
    return ordered;
  }

 private:
  int64_t visit(int64_t place) {
    if (place < 0) return place;
    if (place >= static_cast<int64_t>(from_.features.size()))
      node_.invalid("a branch of its trees leads to node ", place, ", which is not there");
    if (!seen_.emplace(place, order_.size()).second)
      node_.invalid("two branches of its trees lead to one node");
    order_.push_back(place);
    return static_cast<int64_t>(order_.size()) - 1;
  }

  const NodeImport& node_;
  const TreesAttrs& from_;
  std::vector<int64_t> order_;
  std::map<int64_t, size_t> seen_;
};

}  // namespace

void importTreeEnsemble(NodeImport& node) {
  TreesAttrs attrs;
  attrs.targets = node.integer("n_targets", 1);
  attrs.aggregate = static_cast<TreeAggregate>(node.integer("aggregate_function", 1));
  attrs.features = node.integers("nodes_featureids");
  attrs.splits = numbersOf(node, "nodes_splits");
  attrs.missingIsYes = node.integers("nodes_missing_value_tracks_true");
  attrs.roots = node.integers("tree_roots");
  const size_t count = attrs.features.size();
  const auto modes = numbersOf(node, "nodes_modes");
  const auto yes = node.integers("nodes_truenodeids"), no = node.integers("nodes_falsenodeids"),
             yesLeafs = node.integers("nodes_trueleafs"),
             noLeafs = node.integers("nodes_falseleafs");
  const auto members = numbersOf(node, "membership_values");
  auto member = members.begin();
  for (const size_t size :
       {attrs.splits.size(), modes.size(), yes.size(), no.size(), yesLeafs.size(), noLeafs.size()})
    if (size != count) node.invalid("the lists of its trees' nodes differ in length");
  for (size_t i = 0; i < count; ++i) {
    attrs.modes.push_back(static_cast<int64_t>(modes[i]));
    attrs.yes.push_back(placeOf(yes[i], yesLeafs[i]));
    attrs.no.push_back(placeOf(no[i], noLeafs[i]));
    if (attrs.modes[i] == static_cast<int64_t>(TreeMode::kMember)) {
      for (; member != members.end() && !std::isnan(*member); ++member)
        attrs.members.push_back(*member);
      if (member != members.end()) ++member;  // a NaN ends a set
    }
    attrs.memberEnds.push_back(static_cast<int64_t>(attrs.members.size()));
  }
  attrs.voteTargets = node.integers("leaf_targetids");
  attrs.voteWeights = numbersOf(node, "leaf_weights");
  for (size_t i = 0; i < attrs.voteTargets.size(); ++i)
    attrs.voteEnds.push_back(static_cast<int64_t>(i) + 1);
  Value* scores = node.add(&ops::Trees, {node.input(0)}, TreeOrder(node, attrs).run());
  node.setOutput(transformed(node, scores, node.integer("post_transform", 0)));
}

namespace {

// Ensembles before opset 5: every node names its tree and itself, leaves among them.
class NamedTrees {
 public:
  explicit NamedTrees(const NodeImport& node) : node_(node) {
    trees_ = node.integers("nodes_treeids");
    modes_ = node.texts("nodes_modes");
    const auto ids = node.integers("nodes_nodeids");
    if (ids.size() != trees_.size() || modes_.size() != trees_.size())
      node.invalid("the lists of its trees' nodes differ in length");
    int64_t nodes = 0;
    for (size_t i = 0; i < trees_.size(); ++i) {
      const int64_t place = modes_[i] == "LEAF" ? -1 - leaves_++ : nodes++;
      if (!places_.emplace(Id{trees_[i], ids[i]}, place).second)
        node.invalid("tree ", trees_[i], " has two nodes ", ids[i]);
      if (i == 0 || trees_[i] != trees_[i - 1]) roots_.push_back(place);
    }
  }

  TreesAttrs attributes(int64_t targets) const {
    TreesAttrs attrs;
    attrs.targets = targets;
    attrs.roots = roots_;
    readNodes(attrs);
    readVotes(attrs);
    return TreeOrder(node_, attrs).run();
  }

  std::vector<double> numbers(const std::string& name) const {
    return node_.has(name + "_as_tensor") ? numbersOf(node_, name + "_as_tensor")
                                          : node_.numbers(name);
  }

 private:
  using Id = std::pair<int64_t, int64_t>;  // of a tree, of a node in it

  void readNodes(TreesAttrs& attrs) const {
    static constexpr std::string_view kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                  "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto yes = node_.integers("nodes_truenodeids"), no = node_.integers("nodes_falsenodeids"),
               features = node_.integers("nodes_featureids"),
               missing = node_.integers("nodes_missing_value_tracks_true");
    const std::vector<double> splits = numbers("nodes_values");
    for (size_t i = 0; i < trees_.size(); ++i) {
      if (modes_[i] == "LEAF") continue;
      const auto* mode = std::find(std::begin(kModes), std::end(kModes), modes_[i]);
      if (mode == std::end(kModes))
        node_.invalid("it has the unknown comparison '", modes_[i], "'");
      attrs.modes.push_back(mode - kModes);
      attrs.features.push_back(features.at(i));
      attrs.splits.push_back(splits.at(i));
      attrs.yes.push_back(places_.at({trees_[i], yes.at(i)}));
      attrs.no.push_back(places_.at({trees_[i], no.at(i)}));
      attrs.memberEnds.push_back(0);
      if (!missing.empty()) attrs.missingIsYes.push_back(missing.at(i));
    }
  }

  void readVotes(TreesAttrs& attrs) const {
    const auto trees = node_.integers("target_treeids"), nodes = node_.integers("target_nodeids"),
               targets = node_.integers("target_ids");
    const std::vector<double> weights = numbers("target_weights");
    std::vector<std::vector<size_t>> votes(leaves_);
    for (size_t i = 0; i < targets.size(); ++i)
      votes.at(-1 - places_.at({trees.at(i), nodes.at(i)})).push_back(i);
    for (const std::vector<size_t>& ofLeaf : votes) {
      for (const size_t i : ofLeaf) {
        attrs.voteTargets.push_back(targets[i]);
        attrs.voteWeights.push_back(weights.at(i));
      }
      attrs.voteEnds.push_back(static_cast<int64_t>(attrs.voteTargets.size()));
    }
  }

  const NodeImport& node_;
  std::vector<int64_t> trees_, roots_;
  std::vector<std::string> modes_;
  std::map<Id, int64_t> places_;
  int64_t leaves_ = 0;
};

}  // namespace

void importTreeEnsembleRegressor(NodeImport& node) {
  const NamedTrees trees(node);
  TreesAttrs attrs = trees.attributes(node.integer("n_targets", 1));
  attrs.aggregate = static_cast<TreeAggregate>(
      node.choice("aggregate_function", "sum", {"average", "sum", "min", "max"}));
  Value* scores =
      node.add(&ops::Trees, {node.cast(node.input(0), DataType::kF32)}, std::move(attrs));
  if (const std::vector<double> base = trees.numbers("base_values"); !base.empty()) {
    const std::vector<float> narrow(base.begin(), base.end());
    Value* values = node.graph().addConstant<float>(node.graph().uniqueName(node.name() + ".base"),
                                                    DataType::kF32,
                                                    {static_cast<int64_t>(base.size())}, narrow);
    scores = node.binary(ScalarOp::kAdd, scores, values);
  }
  node.setOutput(
      transformed(node, scores,
                  node.choice("post_transform", "none",
                              {"none", "softmax", "logistic", "softmax_zero", "probit"})));
}

}  // namespace camshaft::onnx::importer
