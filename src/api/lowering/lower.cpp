#include "api/lowering/lower.h"

#include <algorithm>
#include <map>

#include "api/lowering/node_order.h"
#include "api/lowering/placeholders.h"

namespace camshaft::api {

namespace {

using Blocks = std::map<int64_t, FlatBlock>;

Blocks collect(const Graph& graph, const std::vector<std::string>& names) {
  using namespace placeholders;
  Blocks blocks;
  for (const auto& node : graph.nodes()) {
    const BoundaryAttrs* attrs = boundaryOf(*node);
    if (!attrs) continue;
    FlatBlock& block = blocks[attrs->block];
    const Op op = node->op;
    block.name = names.at(static_cast<size_t>(attrs->block));
    block.isLoop = op != &Condition && op != &ConditionalInput && op != &ConditionalOutput;
    auto& list = op == &ConditionalInput || op == &Recurrence || op == &Iterator ? block.entries
                 : op == &ConditionalOutput || op == &LoopOutput                 ? block.exits
                                                                                 : block.controls;
    list.push_back(node.get());
  }
  return blocks;
}

bool touches(const NodeSet& region, const FlatBlock& block) {
  const auto inRegion = [&](const Node* node) { return region.contains(node); };
  return std::any_of(block.entries.begin(), block.entries.end(), inRegion) ||
         std::any_of(block.exits.begin(), block.exits.end(), inRegion) ||
         std::any_of(block.controls.begin(), block.controls.end(), inRegion);
}

struct Choice {
  int64_t block;
  NodeSet region;
};

// A block without another one in it: inner ones go first.
Choice chooseInner(const Blocks& blocks, const Flow& flow) {
  std::string overlapping;
  for (const auto& own : blocks) {
    NodeSet region = flow.followers(own.second.entries, own.second.exits);
    const auto other = std::find_if(blocks.begin(), blocks.end(), [&](const auto& entry) {
      return entry.first != own.first && touches(region, entry.second);
    });
    if (other == blocks.end()) return {own.first, std::move(region)};
    overlapping = other->second.who();
  }
  fail(ErrorKind::kInvalidArgument, overlapping,
       " overlaps with another block, as each reads a tensor from inside the other; hand it out "
       "with an output of the block that computes it");
}

void requireNothingLeaves(const Graph& graph, const FlatBlock& block, const NodeSet& region) {
  for (const Node* node : region)
    for (const Value* output : node->outputs)
      if (graph.isOutput(output))
        fail(ErrorKind::kInvalidArgument, "tensor '", output->name, "' is computed inside of ",
             block.who(), " and cannot be an output of the network; hand it out with ",
             block.isLoop ? "addLoopOutput" : "addOutput");
}

// What begins a block is computed before it.
void requireOutside(const FlatBlock& block, const NodeSet& region) {
  for (const Node* entry : block.entries)
    if (region.contains(entry->input(0)->producer))
      fail(ErrorKind::kInvalidArgument, "layer '", entry->name, "' of ", block.who(),
           " needs an input from outside of it, and '", entry->input(0)->name,
           "' is computed inside");
}

void replaceExits(Graph& graph, const FlatBlock& block, const std::vector<Value*>& results) {
  std::set<const Value*> named;
  for (size_t i = 0; i < block.exits.size(); ++i) {
    Value* flat = block.exits[i]->output();
    graph.replaceUses(flat, results[i]);
    if (results[i]->isConstant() || !results[i]->producer || !named.insert(results[i]).second)
      continue;
    const std::string name = flat->name;
    graph.rename(flat, graph.uniqueName(name + ".flat"));
    graph.rename(results[i], name);
  }
}

void eraseBlock(Graph& graph, const FlatBlock& block, NodeSet region) {
  region.insert(block.exits.begin(), block.exits.end());
  region.insert(block.controls.begin(), block.controls.end());
  const std::vector<Node*> nodes = graph.nodeList();
  std::for_each(nodes.rbegin(), nodes.rend(), [&](Node* node) {
    if (region.contains(node)) graph.erase(node);
  });
}

}  // namespace

std::vector<Node*> FlatBlock::of(Op op) const {
  std::vector<Node*> found;
  for (const auto* list : {&entries, &exits, &controls})
    std::copy_if(list->begin(), list->end(), std::back_inserter(found),
                 [&](const Node* node) { return node->op == op; });
  return found;
}

void lowerBlocks(Graph& graph, const std::vector<std::string>& names) {
  Blocks blocks = collect(graph, names);
  while (!blocks.empty()) {
    sortNodes(graph);
    const Flow flow(graph);
    const Choice inner = chooseInner(blocks, flow);
    const FlatBlock& block = blocks.at(inner.block);
    requireNothingLeaves(graph, block, inner.region);
    requireOutside(block, inner.region);
    const std::vector<Value*> results = block.isLoop
                                            ? lowerLoop(graph, flow, block, inner.region)
                                            : lowerConditional(graph, flow, block, inner.region);
    replaceExits(graph, block, results);
    eraseBlock(graph, block, inner.region);
    blocks.erase(inner.block);
    if (blocks.empty()) sortNodes(graph);
  }
}

std::set<std::string> symbolsDefinedIn(const NodeSet& region) {
  std::set<std::string> symbols;
  for (const Node* node : region) symbols.merge(symbolsDefined(*node));
  return symbols;
}

void recordSizes(const FlatBlock& block, const std::set<std::string>& inner, const Shape& shape,
                 Shape& sizes, std::vector<Dim>& symbols) {
  for (const Dim& dim : shape) {
    sizes.push_back(dim);
    std::set<std::string> names;
    collectSymbols(dim, names);
    const bool isInner = std::any_of(names.begin(), names.end(),
                                     [&](const auto& name) { return inner.contains(name); });
    if (isInner && !dim.isSymbol())
      fail(ErrorKind::kUnsupported, block.who(), " gives a tensor of size ", dim,
           ", which follows from values inside of it; hand out the tensor before that size is "
           "computed from others");
    if (isInner && std::find(symbols.begin(), symbols.end(), dim) == symbols.end())
      symbols.push_back(dim);
  }
}

}  // namespace camshaft::api
