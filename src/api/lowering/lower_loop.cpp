// A loop as a Loop. An iteration's body gives whether there is another one, so the condition is
// computed twice: before the loop from the first values, and at the end of the body from the next.
#include <algorithm>

#include "api/lowering/body.h"
#include "api/lowering/lower.h"
#include "api/lowering/placeholders.h"
#include "ops/control_flow.h"
#include "ops/index.h"
#include "ops/move.h"
#include "ops/pointwise.h"
#include "ops/rules.h"
#include "ops/shape.h"

namespace camshaft::api {

namespace {

using nvinfer1::LoopOutput;
using nvinfer1::TripLimit;

LoopOutput kindOf(const Node* exit) {
  return static_cast<LoopOutput>(exit->as<BoundaryAttrs>().kind);
}

class LoopLowering {
 public:
  LoopLowering(Graph& graph, const Flow& flow, const FlatBlock& block, const NodeSet& region)
      : graph_(graph),
        block_(block),
        region_(region),
        recurrences_(block.of(&placeholders::Recurrence)),
        iterators_(block.of(&placeholders::Iterator)),
        body_(graph, block.name) {
    findLimits();
    findNext();
    if (condition_) test_ = flow.needed(region, {condition_});
    for (Node* node : flow.inOrder(region))
      if (!boundaryOf(*node)) inner_.push_back(node);
    requireTestable();
  }

  std::vector<Value*> run() {
    if (block_.exits.empty())
      fail(ErrorKind::kInvalidArgument, block_.who(), " has no output; add one with addLoopOutput");
    attrs_.carried = static_cast<int64_t>(recurrences_.size());
    std::vector<Value*> operands{tripCount(), firstCondition()};
    for (const Node* recurrence : recurrences_) operands.push_back(recurrence->input(0));
    makeBody();
    operands.insert(operands.end(), body_.captured().begin(), body_.captured().end());
    const Node* loop = graph_.add(&ops::Loop, block_.name, std::move(operands), std::move(attrs_),
                                  nullptr, static_cast<int>(recurrences_.size() + scans_.size()));
    std::vector<Value*> results;
    for (const Node* exit : block_.exits) results.push_back(resultOf(*exit, *loop));
    return results;
  }

 private:
  void findLimits() {
    for (const Node* limit : block_.of(&placeholders::TripLimit)) {
      const bool isCount =
          static_cast<TripLimit>(limit->as<BoundaryAttrs>().kind) == TripLimit::kCOUNT;
      (isCount ? count_ : condition_) = limit->input(0);
    }
    if (!count_ && !condition_)
      fail(ErrorKind::kInvalidArgument, block_.who(),
           " has no trip limit and would never end; add one with addTripLimit");
    if (count_ && region_.contains(count_->producer))
      fail(ErrorKind::kInvalidArgument, block_.who(),
           " needs its trip count before it begins, and '", count_->name,
           "' is computed inside of it");
  }

  void findNext() {
    for (const Node* next : block_.of(&placeholders::Next)) next_[next->input(0)] = next->input(1);
    for (const Node* recurrence : recurrences_) {
      const TensorType &first = recurrence->input(0)->type,
                       &next = next_.at(recurrence->output())->type;
      bool fits = first.type == next.type && first.rank() == next.rank();
      for (size_t d = 0; fits && d < first.shape.size(); ++d)
        fits = mayBeEqual(first.shape[d], next.shape[d]);
      if (!fits)
        fail(ErrorKind::kInvalidArgument, "layer '", recurrence->name, "' of ", block_.who(),
             " begins with ", first, " and goes on with ", next,
             "; a recurrence keeps its type and dimensions");
    }
  }

  void requireTestable() const {
    for (const Node* node : test_) {
      if (node->op == &placeholders::Iterator)
        fail(ErrorKind::kInvalidArgument, block_.who(), " has a condition, '", condition_->name,
             "', that reads the iterator '", node->name,
             "', which there is none of before the first iteration; use recurrences");
      if (!symbolsDefined(*node).empty())
        fail(ErrorKind::kUnsupported, block_.who(), " has a condition, '", condition_->name,
             "', with sizes that its own values decide");
    }
  }

  std::vector<Node*> testNodes() const {
    std::vector<Node*> nodes;
    std::copy_if(test_.begin(), test_.end(), std::back_inserter(nodes),
                 [](const Node* node) { return !boundaryOf(*node); });
    return nodes;
  }

  Value* tripCount() {
    if (!count_) return nullptr;
    Value* count = count_;
    if (count->dataType() != DataType::kI64)
      count = addCast(graph_, str(count->name, "_i64"), count, DataType::kI64);
    return trips_ = reshaped(graph_, count, {});
  }

  Value* firstCondition() {
    if (!condition_) return nullptr;
    ValueMap known;
    for (const Node* recurrence : recurrences_) known[recurrence->output()] = recurrence->input(0);
    copyNodes(testNodes(), graph_, graph_, known);
    const auto it = known.find(condition_);
    return reshaped(graph_, it == known.end() ? condition_ : it->second, {});
  }

  void makeBody() {
    Value* iteration = body_.addInput("iteration", {DataType::kI64, {}});
    body_.addInput("condition", {DataType::kBool, {}});
    for (const Node* recurrence : recurrences_) body_.addInputFor(recurrence->output());
    std::vector<Value*> needed;
    for (const Node* iterator : iterators_) {
      needed.push_back(iterator->input(0));
      if (iterator->as<BoundaryAttrs>().reverse) needed.push_back(countFor(*iterator));
    }
    for (const Node* recurrence : recurrences_) needed.push_back(next_.at(recurrence->output()));
    for (const Node* exit : block_.exits) needed.push_back(exit->input(0));
    if (condition_) needed.push_back(condition_);
    body_.capture(region_, inner_, needed);
    for (const Node* iterator : iterators_)
      body_.define(iterator->output(), elementOf(*iterator, iteration));
    body_.copy(inner_);

    std::vector<Value*> outputs;
    for (size_t i = 0; i < recurrences_.size(); ++i) {
      const Node* recurrence = recurrences_[i];
      Value* next = body_.inside(next_.at(recurrence->output()));
      outputs.push_back(reshaped(body_.graph(), next, body_.graph().inputs[2 + i]->shape()));
    }
    outputs.insert(outputs.begin(), nextCondition(outputs));
    recordResults(outputs);
    attrs_.body = body_.finish(outputs);
  }

  Value* countFor(const Node& iterator) const {
    if (!trips_)
      fail(ErrorKind::kInvalidArgument, "layer '", iterator.name, "' of ", block_.who(),
           " runs backwards, which needs a trip limit of kind kCOUNT");
    return trips_;
  }

  Value* elementOf(const Node& iterator, Value* iteration) {
    Graph& graph = body_.graph();
    const auto& attrs = iterator.as<BoundaryAttrs>();
    Value* index = iteration;
    if (attrs.reverse) {
      index = addBinary(graph, ScalarOp::kSub, iterator.name, body_.inside(trips_), iteration);
      index = addBinary(graph, ScalarOp::kSub, iterator.name, index,
                        addScalar(graph, "one", DataType::kI64, 1));
    }
    GatherAttrs gather;
    gather.axis = attrs.axis;
    return graph.add(&ops::Gather, iterator.name, {body_.inside(iterator.input(0)), index}, gather)
        ->output();
  }

  Value* nextCondition(const std::vector<Value*>& next) {
    Graph& graph = body_.graph();
    if (!condition_) return addScalar(graph, "go_on", DataType::kBool, 1);
    ValueMap known = body_.known();
    for (size_t i = 0; i < recurrences_.size(); ++i)
      known[recurrences_[i]->output()] =
          reshaped(graph, next[i], recurrences_[i]->output()->shape());
    copyNodes(testNodes(), graph_, graph, known);
    const auto it = known.find(condition_);
    return reshaped(graph, it == known.end() ? body_.inside(condition_) : it->second, {});
  }

  // The last values of the recurrences, then the scans.
  void recordResults(std::vector<Value*>& outputs) {
    const std::set<std::string> defined = symbolsDefinedIn(region_);
    for (const Node* recurrence : recurrences_)
      recordSizes(block_, defined, recurrence->output()->shape(), attrs_.sizes, attrs_.symbols);
    for (const Node* exit : block_.exits) {
      if (kindOf(exit) == LoopOutput::kLAST_VALUE) continue;
      scans_.push_back(exit);
      outputs.push_back(body_.inside(exit->input(0)));
      attrs_.sizes.push_back(iterations());
      recordSizes(block_, defined, exit->input(0)->shape(), attrs_.sizes, attrs_.symbols);
    }
  }

  // How often the body runs, as a size where nothing but the trip count decides it.
  Dim iterations() {
    if (iterations_) return *iterations_;
    std::optional<Dim> most;
    if (count_) most = max(contentsOf(graph_, count_, block_.who()).at(0), 0);
    if (most && !condition_) return *(iterations_ = most);
    DimRange range;
    if (most && most->isConstant()) range.max = most->value();
    iterations_ =
        graph_.newSymbol("trips", range, most && !most->isConstant() ? most : std::nullopt);
    attrs_.symbols.push_back(*iterations_);
    return *iterations_;
  }

  Value* resultOf(const Node& exit, const Node& loop) {
    if (kindOf(&exit) == LoopOutput::kLAST_VALUE) {
      const auto it = std::find_if(recurrences_.begin(), recurrences_.end(), [&](const Node* node) {
        return node->output() == exit.input(0);
      });
      if (it == recurrences_.end())
        fail(ErrorKind::kInvalidArgument, "layer '", exit.name, "' of ", block_.who(),
             " gives the last value of '", exit.input(0)->name,
             "', which is no output of a recurrence of the loop");
      return loop.output(static_cast<int>(it - recurrences_.begin()));
    }
    const auto scan = std::find(scans_.begin(), scans_.end(), &exit) - scans_.begin();
    Value* all = loop.output(static_cast<int>(recurrences_.size()) + static_cast<int>(scan));
    if (kindOf(&exit) == LoopOutput::kREVERSE) all = reversed(exit, all);
    return placed(exit, ofLength(exit, all));
  }

  Value* reversed(const Node& exit, Value* all) {
    SliceAttrs attrs;
    attrs.axes = {0};
    attrs.starts = {*iterations_ - 1};
    attrs.sizes = {*iterations_};
    attrs.steps = {-1};
    return graph_.add(&ops::Slice, exit.name, {all}, std::move(attrs))->output();
  }

  // A loop that ends before the length that was asked for leaves zeros.
  Value* ofLength(const Node& exit, Value* all) {
    const Dim& length = exit.as<BoundaryAttrs>().sizes.at(0);
    if (length == *iterations_) return all;
    PadAttrs attrs;
    attrs.begin.assign(static_cast<size_t>(all->rank()), Dim(0));
    attrs.end = attrs.begin;
    attrs.end[0] = length - *iterations_;
    return graph_.add(&ops::Pad, exit.name, {all}, std::move(attrs))->output();
  }

  // The iterations along the axis of the output.
  Value* placed(const Node& exit, Value* all) {
    const int64_t axis = exit.as<BoundaryAttrs>().axis;
    if (axis == 0) return all;
    TransposeAttrs attrs;
    for (int64_t d = 1; d < all->rank(); ++d) attrs.order.push_back(d);
    attrs.order.insert(attrs.order.begin() + axis, 0);
    return graph_.add(&ops::Transpose, exit.name, {all}, std::move(attrs))->output();
  }

  Graph& graph_;
  const FlatBlock& block_;
  const NodeSet& region_;
  std::vector<Node*> recurrences_, iterators_;
  Body body_;
  Value *count_ = nullptr, *condition_ = nullptr;
  Value* trips_ = nullptr;                         // the count as an i64 scalar
  std::unordered_map<const Value*, Value*> next_;  // of a recurrence's output
  std::vector<Node*> test_;                        // what computes the condition, of the region
  std::vector<Node*> inner_;                       // of the region, without placeholders
  std::vector<const Node*> scans_;
  std::optional<Dim> iterations_;
  LoopAttrs attrs_;
};

}  // namespace

std::vector<Value*> lowerLoop(Graph& graph, const Flow& flow, const FlatBlock& block,
                              const NodeSet& region) {
  return LoopLowering(graph, flow, block, region).run();
}

}  // namespace camshaft::api
