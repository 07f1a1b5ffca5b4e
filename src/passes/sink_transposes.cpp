// Transposes move to where they cost least, and cancel where they meet their inverse.
//
//   Transpose(Transpose(x))                            →  Transpose(x), or x
//   MatMul(a, Transpose(b)) of the last two dimensions →  MatMul(a, b) {transpose_b}
//
//   %a = Transpose(%x) [0, 3, 1, 2]
//   %b = Pointwise(%a) {relu}
//   %c = Transpose(%b) [0, 2, 3, 1]
//   →
//   %c = Pointwise(%x) {relu}
//
// For each order in turn, every node that works in any order of dimensions may run as it is, or on
// operands as they were before the transpose. A value needs a transpose when its producer and a
// reader chose differently. The choice that moves the fewest bytes is a minimum cut; where it
// makes no difference, Pointwise nodes run before the transpose, beside the node they fuse with.
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewrite.h"
#include "ops/gemm.h"
#include "ops/move.h"
#include "ops/ops.h"
#include "passes/edit.h"
#include "passes/minimum_cut.h"
#include "passes/passes.h"
#include "passes/permuted_node.h"

namespace camshaft {

static const Permutation& orderOf(const Node& transpose) {
  return transpose.as<TransposeAttrs>().order;
}

static bool isTranspose(const Node* node) {
  return node && node->op == &ops::Transpose && !node->epilogue;
}

// Transpose(x), as a Reshape where that does it; a constant is transposed now.
static Value* addTransposed(Graph& graph, const std::string& name, Value* x,
                            const Permutation& order, Node* before) {
  if (isIdentity(order)) return x;
  if (movesNothing(order, x->shape()) && !x->isConstant())
    return addReshape(graph, name, x, permuted(x->shape(), order), before);
  TransposeAttrs attrs;
  attrs.order = order;
  Node* transpose = graph.add(&ops::Transpose, name, {x}, std::move(attrs), before);
  return x->isConstant() ? foldNow(graph, transpose) : transpose->output();
}

namespace {

// One order: which nodes could run on operands stored before that transpose, and which should.
class Sinking {
 public:
  Sinking(Graph& graph, const Permutation& order) : graph_(graph), order_(order) {
    findCandidates();
  }

  bool run() {
    chooseSides();
    if (sunk_.empty()) return false;
    for (Node* node : sunk_) addStored(node);
    gone_.insert(sunk_.begin(), sunk_.end());
    for (Node* node : sunk_) replaceReaders(node);
    std::erase_if(members_, [&](const Node* node) { return erased_.contains(node); });
    for (auto node = members_.rbegin(); node != members_.rend(); ++node)
      if (!graph_.hasUses((*node)->output())) graph_.erase(*node);
    return true;
  }

 private:
  // Bytes count first, then nodes that would rather be before a transpose, then nodes that reshape.
  static constexpr int64_t kCostPerByte = 1 << 16, kOrderCost = 1 << 8, kReshapeCost = 1;

  void findCandidates();
  bool addCandidate(Node* node, int index);
  void chooseSides();
  bool prefersBeforeTranspose(const Node& node) const;
  void addCosts(MinimumCut& cut, const Value* value);
  int pointOf(const Node* node) const {  // readers that are no candidates want the value as it is
    return candidates_.contains(node) ? points_.at(node) : MinimumCut::kSource;
  }
  bool isSeed(const Node* node) const { return isTranspose(node) && orderOf(*node) == order_; }
  bool cancels(const Node* reader, const Value* value) const {
    return isTranspose(reader) && orders_.contains(value) &&
           orderOf(*reader) == inverseOf(orders_.at(value));
  }
  static bool isReshape(const Value* value, const Permutation& order) {
    return movesNothing(inverseOf(order), extended(value->shape(), order.size()));
  }
  static Shape extended(const Shape& shape, size_t rank) {
    Shape result(rank - shape.size(), Dim(1));
    result.insert(result.end(), shape.begin(), shape.end());
    return result;
  }
  static bool readsMoving(const Node& node, const Value* value) {
    for (int i = 0; i < node.ownInputs(); ++i)
      if (node.inputs[i] == value && operandMoves(node, i)) return true;
    return false;
  }
  int64_t costOf(const Value* value, const Permutation& order) const;
  bool storedAs(const Value* value, const Permutation& order) const {
    const auto it = orders_.find(value);
    return it != orders_.end() && withLeadingDims(it->second, order.size()) == order;
  }
  Value* operand(Node* node, int index, const Permutation& order);
  void addStored(Node* node);
  void replaceReaders(Node* node);

  Graph& graph_;
  const Permutation order_;
  // Transpose(orders_[v]) of v as stored is v.
  std::unordered_map<const Value*, Permutation> orders_;
  std::unordered_map<const Node*, PermutedNode> candidates_;
  std::vector<Node*> members_;  // transposes of this order and candidates, as in the graph
  std::unordered_map<const Node*, int> points_;  // of the candidates in the cut
  std::vector<Node*> sunk_;
  std::unordered_set<const Node*> gone_;    // those of sunk_
  std::unordered_set<const Node*> erased_;  // transposes that cancelled
  std::unordered_map<const Value*, Value*> stored_;
  std::map<std::pair<const Value*, Permutation>, Value*> converted_;
};

void Sinking::findCandidates() {
  for (const auto& owned : graph_.nodes()) {
    Node* node = owned.get();
    if (isSeed(node)) {
      orders_[node->output()] = order_;
      stored_[node->output()] = node->input(0);
      members_.push_back(node);
    } else if (!isTranspose(node)) {
      for (int i = 0; i < node->ownInputs(); ++i)
        if (addCandidate(node, i)) break;
    }
  }
}

bool Sinking::addCandidate(Node* node, int index) {
  if (!node->hasInput(index) || !orders_.contains(node->input(index))) return false;
  std::optional<PermutedNode> permuted = permutedNode(*node, index, orders_.at(node->input(index)));
  if (!permuted) return false;
  for (int i = 0; i < node->ownInputs(); ++i)
    if (operandMoves(*node, i) && orders_.contains(node->input(i)) &&
        !storedAs(node->input(i), permuted->operandOrder))
      return false;  // two orders meet
  if (!isIdentity(permuted->outputOrder)) orders_[node->output()] = permuted->outputOrder;
  candidates_.emplace(node, std::move(*permuted));
  members_.push_back(node);
  return true;
}

// Bytes with run-time sizes guessed; only their relation matters.
int64_t Sinking::costOf(const Value* value, const Permutation& order) const {
  if (value->isConstant() || numElements(value->shape()).isConstant(1)) return 0;
  if (isReshape(value, order)) return kReshapeCost;
  constexpr int64_t kTypicalSize = 16;
  const SymbolRange rangeOfSymbol = graph_.symbolRange();
  const int64_t count = evaluate(numElements(value->shape()), [&](const std::string& name) {
    const DimRange range = rangeOfSymbol(name);
    return std::clamp(kTypicalSize, range.min, std::max(range.min, range.max));
  });
  return kCostPerByte *
         static_cast<int64_t>(bytesOf(value->dataType(), std::max<int64_t>(count, 1)));
}

// What a reader on the other side than the value's producer costs. Source: as in the graph now,
// sink: as stored.
void Sinking::addCosts(MinimumCut& cut, const Value* value) {
  const bool storable = orders_.contains(value);
  int64_t cost = storable ? costOf(value, orders_.at(value)) : 0;
  std::set<int> readers;
  if (storable && graph_.isOutput(value)) readers.insert(MinimumCut::kSource);
  for (const Node* reader : value->users) {
    const auto candidate = candidates_.find(reader);
    if (cancels(reader, value)) {
      readers.insert(MinimumCut::kSink);
    } else if (isTranspose(reader)) {
      continue;  // merges with the transpose the value would need
    } else if (storable) {
      readers.insert(pointOf(reader));
    } else if (candidate != candidates_.end() && readsMoving(*reader, value)) {
      readers.insert(pointOf(reader));
      cost = std::max(cost, costOf(value, candidate->second.operandOrder));
    }
  }
  const int from = isSeed(value->producer) ? MinimumCut::kSink
                   : storable              ? pointOf(value->producer)
                                           : MinimumCut::kSource;
  readers.erase(from);
  if (readers.empty() || cost == 0) return;
  const int anyStored = cut.addPoint(), anyPlain = cut.addPoint();
  cut.addEdge(from, anyStored, cost);
  cut.addEdge(anyPlain, from, cost);
  for (int reader : readers) {
    cut.addEdge(anyStored, reader, MinimumCut::kNever);
    cut.addEdge(reader, anyPlain, MinimumCut::kNever);
  }
}

// Pointwise work wants to be beside the node it fuses with, a reshape beside another. Only where
// every operand is a transpose that nobody else reads, or moves for free: then no new transpose
// comes to stand in front of the node, and the preference can't go back and forth.
bool Sinking::prefersBeforeTranspose(const Node& node) const {
  const bool reshapes = node.op == &ops::Reshape;
  if (node.op != &ops::Pointwise && !reshapes) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const Value* input) {
    if (!isSeed(input->producer))
      return costOf(input, candidates_.at(&node).operandOrder) < kCostPerByte;
    const bool meetsReshape = producerOf(input->producer->input(0), &ops::Reshape) != nullptr;
    return soleUser(graph_, input) == &node && (!reshapes || meetsReshape);
  });
}

void Sinking::chooseSides() {
  MinimumCut cut;
  for (Node* node : members_) {
    if (isSeed(node)) continue;
    const int point = points_[node] = cut.addPoint();
    if (prefersBeforeTranspose(*node)) cut.addEdge(point, MinimumCut::kSink, kOrderCost);
  }
  for (const Value* value : graph_.values()) addCosts(cut, value);
  const std::vector<bool> onSinkSide = cut.solve();
  for (Node* node : members_)
    if (candidates_.contains(node) && onSinkSide[points_.at(node)]) sunk_.push_back(node);
}

// The node's operand in stored order.
Value* Sinking::operand(Node* node, int index, const Permutation& order) {
  Value* value = node->inputs[index];
  if (!value || !operandMoves(*node, index)) return value;
  if (stored_.contains(value) && storedAs(value, order)) return stored_.at(value);
  if (isIdentity(order) || numElements(value->shape()).isConstant(1)) return value;
  Value*& converted = converted_[{value, order}];
  if (converted) return converted;
  const Shape full = extended(value->shape(), order.size());
  if (!value->isConstant() && isReshape(value, order))
    return converted =
               addReshape(graph_, value->name, value, permuted(full, inverseOf(order)), node);
  Value* fullRank = value->isConstant() ? graph_.addConstant(value->name, {value->dataType(), full},
                                                             value->constant)
                                        : addReshape(graph_, value->name, value, full, node);
  return converted = addTransposed(graph_, value->name, fullRank, inverseOf(order), node);
}

void Sinking::addStored(Node* node) {
  PermutedNode& permuted = candidates_.at(node);
  std::vector<Value*> inputs;
  for (int i = 0; i < static_cast<int>(node->inputs.size()); ++i)
    inputs.push_back(operand(node, i, permuted.operandOrder));
  Node* stored =
      graph_.addNode(node->op, node->name, std::move(inputs), std::move(permuted.attrs), 1, node);
  mergeOrigins(stored, node);
  stored_[node->output()] = stored->output();
}

// Whoever still reads the node's output as it was reads a transpose of the stored one.
void Sinking::replaceReaders(Node* node) {
  Value *value = node->output(), *stored = stored_.at(value);
  for (Node* reader : std::vector<Node*>(value->users)) {
    if (!cancels(reader, value)) continue;
    const std::string name = reader->output()->name;
    mergeOrigins(stored->producer, reader);
    graph_.replaceUses(reader->output(), stored);
    erased_.insert(reader);  // a self-inverse order both seeds and cancels
    graph_.erase(reader);
    graph_.rename(stored, name);
  }
  const bool isRead =
      graph_.isOutput(value) || std::any_of(value->users.begin(), value->users.end(),
                                            [&](const Node* n) { return !gone_.contains(n); });
  if (!isRead) return;
  const auto order = orders_.find(value);
  Value* plain = order == orders_.end()
                     ? stored
                     : addTransposed(graph_, node->name, stored, order->second, node);
  const std::string name = value->name;
  graph_.replaceUses(value, plain);
  graph_.rename(value, graph_.uniqueName(name + "_replaced"));
  graph_.rename(plain, name);
}

}  // namespace

// Transpose of Transpose is one, or none.
static bool mergeTransposes(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (!isTranspose(node) || !isTranspose(node->input(0)->producer)) continue;
    Node* inner = node->input(0)->producer;
    const Permutation order = permuted(orderOf(*inner), orderOf(*node));
    if (isIdentity(order)) {
      replaceAndErase(graph, node, inner->input(0));
    } else {
      node->as<TransposeAttrs>().order = order;
      graph.setInput(node, 0, inner->input(0));
      graph.eraseIfDead(inner);
    }
    changed = true;
  }
  return changed;
}

static bool swapsLastTwo(const Permutation& order) {
  Permutation swapped = identityOrder(order.size());
  if (order.size() < 2) return false;
  std::swap(swapped[order.size() - 1], swapped[order.size() - 2]);
  return order == swapped;
}

static bool foldIntoMatMul(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.nodeList()) {
    if (node->op != &ops::MatMul) continue;
    auto& attrs = node->as<MatMulAttrs>();
    for (int i : {0, 1}) {
      Node* transpose = node->input(i)->producer;
      if (!isTranspose(transpose) || !swapsLastTwo(orderOf(*transpose))) continue;
      bool& flag = i == 0 ? attrs.transposeA : attrs.transposeB;
      flag = !flag;
      graph.setInput(node, i, transpose->input(0));
      graph.eraseIfDead(transpose);
      changed = true;
    }
  }
  return changed;
}

static bool sinkEachOrder(Graph& graph) {
  std::set<Permutation> orders;
  for (const auto& node : graph.nodes())
    if (isTranspose(node.get())) orders.insert(orderOf(*node));
  bool changed = false;
  for (const Permutation& order : orders) changed |= Sinking(graph, order).run();
  return changed;
}

bool sinkTransposes(Graph& graph, const PassOptions&) {
  constexpr int kMaxRounds = 64;  // each moves fewer bytes than the last, so a few do
  bool changed = false, again = true;
  for (int round = 0; again && round < kMaxRounds; ++round) {
    again = mergeTransposes(graph);
    again |= foldIntoMatMul(graph);
    again |= sinkEachOrder(graph);
    changed |= again;
  }
  graph.eraseUnusedConstants();
  return changed;
}

}  // namespace camshaft
