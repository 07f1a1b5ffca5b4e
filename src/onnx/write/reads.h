// Who reads which names in a graph and the bodies inside it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "onnx/wire/model.h"

namespace camshaft::onnx::writer {

// Names that the graph or a body inside it defines: no tensor outside may have them.
void collectDefined(const onnx::Graph& graph, std::unordered_set<std::string>& names);

// Names that the graph's nodes and outputs or those of bodies inside it read.
void collectReads(const onnx::Graph& graph, std::unordered_set<std::string_view>& names);

// Gives other names to what the graph and bodies inside it read and do not define.
using Renames = std::unordered_map<std::string_view, std::string_view>;
void renameReads(onnx::Graph& graph, Renames renames);

}  // namespace camshaft::onnx::writer
