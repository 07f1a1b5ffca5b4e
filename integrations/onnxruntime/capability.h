// Which nodes of a graph Camshaft takes.
#pragma once

#include <string>
#include <vector>

#include "onnxruntime/graph_reader.h"
#include "onnxruntime/options.h"

namespace camshaft::ort {

struct Capability {
  // Each becomes one engine; positions in the reader's nodes.
  std::vector<std::vector<size_t>> subgraphs;
  // Why others were left, one sentence each.
  std::vector<std::string> refusals;
};
// `free` says of each node whether it may be taken.
Capability capabilityOf(const GraphReader& reader, std::vector<bool> free, const Options& options);

// Whether the importer knows all operators of a body, and of bodies in it, so that the control-flow
// node around it can be taken. Whether it is, decides the graph that has the node: sizes and
// conditions are often known there alone.
bool knowsOperators(const GraphReader& reader);

// What the nodes compute and others may read: their model's outputs.
std::vector<std::string_view> outputsOf(const GraphReader& reader,
                                        const std::vector<size_t>& nodes);

}  // namespace camshaft::ort
