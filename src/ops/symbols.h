// Run-time dimensions as they appear in attributes.
#pragma once

#include <set>
#include <string>

#include "ir/graph.h"

namespace camshaft {

// Names of the symbols in the node's attributes, without those it defines.
std::set<std::string> symbolsRead(const Node& node);
// These and the symbols in the shapes of its inputs and outputs.
std::set<std::string> symbolsOf(const Node& node);
bool hasSymbols(const Node& node);

// Replaces symbols in the attributes of one node and infers its types again.
void substituteSymbols(Graph& graph, Node* node, const SymbolReplacement& replace);
// Replaces symbols in every attribute and graph input, then infers all types again.
void substituteSymbols(Graph& graph, const SymbolReplacement& replace);

// Minima and maxima that the ranges of symbols decide become one of their operands, in every
// attribute; types are to be inferred again.
void settleBounds(Graph& graph);

// The node once more, named "node", in a graph of its own that gets its symbols.
Node* addCopy(Graph& graph, const Node& node, const std::vector<Value*>& inputs);

}  // namespace camshaft
