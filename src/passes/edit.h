// Small edits that passes share, beside those of ir/rewrite.h.
#pragma once

#include <unordered_map>

#include "ir/graph.h"

namespace camshaft {

struct PadAttrs;

// Whoever read `from` reads `to`, which is the same tensor computed in another way: from's
// producer goes when nothing else needs it, and `to` takes over its name then.
void replaceValue(Graph& graph, Value* from, Value* to);

// Runs a node of constants now: its only output as a constant, named after its first input.
Value* foldNow(Graph& graph, Node* node);

// Constants side by side along the axis, as a constant, named after the first.
Value* joinNow(Graph& graph, const std::vector<Value*>& constants, int64_t axis, Node* before);

// x in another shape, by a Reshape before the node when it has another one.
Value* addReshape(Graph& graph, const std::string& name, Value* x, Shape shape, Node* before);

// The only reader of the value, however often it reads it; null when there are several or none,
// or when the value is a graph output.
Node* soleUser(const Graph& graph, const Value* value);

// Whether it has integers of 32 or 64 bits, as positions are, or truths, as masks.
bool isIndex(const Value* value);

// Of a Pad that moves elements around the edges of dimensions; null where the node is another.
const PadAttrs* rollOf(const Node* node);

// Whether all sizes in the node's attributes have values wherever the value has been computed:
// those of its shape do, and those that no node decides.
bool knowsSizesWith(const Graph& graph, const Node& node, const Value* value);

// Where each node stands.
using NodeOrder = std::unordered_map<const Node*, size_t>;
NodeOrder orderOf(const Graph& graph);

}  // namespace camshaft
