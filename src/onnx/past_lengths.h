#pragma once

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "onnx/names.h"

namespace camshaft::onnx::importer {

// Input and axis of every dimension that may be 0 at run time: an input grows along it, as a cache
// of keys and values does, which holds nothing before the first token.
std::set<std::pair<std::string_view, int64_t>> pastLengths(const wire::Graph& graph);

// Inputs of run-time length that come back as outputs with new rows behind them, and the axis they
// grow along.
std::map<std::string_view, int64_t> growingCaches(const wire::Graph& graph);

}  // namespace camshaft::onnx::importer
