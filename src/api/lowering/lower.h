// Conditionals and loops, flat while a network is edited, as nodes with bodies.
#pragma once

#include <string>
#include <vector>

#include "api/lowering/region.h"
#include "ir/graph.h"

namespace camshaft::api {

// The placeholders of one block.
struct FlatBlock {
  std::string name;
  bool isLoop = false;
  std::vector<Node*> entries;   // where its region begins: inputs, recurrences, iterators
  std::vector<Node*> exits;     // where it ends: its outputs
  std::vector<Node*> controls;  // conditions, limits, what comes next: these compute nothing

  std::string who() const { return str(isLoop ? "loop '" : "conditional '", name, "'"); }
  std::vector<Node*> of(Op op) const;  // those of this kind
};

// Replaces all placeholders. The names are those of the blocks, by number. Throws, naming the
// block, where one lacks something.
void lowerBlocks(Graph& graph, const std::vector<std::string>& names);

// One block whose region has none inside. The results are in the order of its exits.
std::vector<Value*> lowerConditional(Graph& graph, const Flow& flow, const FlatBlock& block,
                                     const NodeSet& region);
std::vector<Value*> lowerLoop(Graph& graph, const Flow& flow, const FlatBlock& block,
                              const NodeSet& region);

// What the sizes of a result are around the block: as inside, or symbols that the block's node
// defines where only a run of it decides them.
void recordSizes(const FlatBlock& block, const std::set<std::string>& inner, const Shape& shape,
                 Shape& sizes, std::vector<Dim>& symbols);
std::set<std::string> symbolsDefinedIn(const NodeSet& region);

}  // namespace camshaft::api
