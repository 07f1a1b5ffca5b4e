// Engines whose weights can be replaced. A build for one notes the network as it came, with its
// weights beside it, and what was decided; a refit builds the same plan again from other weights,
// with every decision taken, and what comes out differs in the weights alone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "compiler/compile.h"

namespace camshaft {

struct RefitRequest {
  // Which weights may be replaced, and whether a build may look at their elements.
  enum class Weights { kAll, kMarked, kIdentical };
  Weights weights = Weights::kAll;
  std::set<std::string, std::less<>> marked;  // by name
  // What the caller calls a constant; empty: by its name in the graph.
  std::function<std::string(const Value& constant)> nameOf;
  std::map<std::string, std::string> constantLayers = {};  // their names, by those of the constants
};

// compile() with the record in the plan.
Plan compileRefittable(const Graph& graph, CompileOptions options, const RefitRequest& request);

// The weights that a network has under a request.
std::vector<SourceWeights> sourceWeights(const Graph& graph, const RefitRequest& request);

// The constants of the network that no refit replaces, by name.
std::map<std::string, ConstantPtr> fixedConstants(const RefitRecord& record);

// The plan's weights as `record`, which is its own with other sources, makes them. Throws Error
// when the plan would become another, with the layer that would.
struct RemadeWeights {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};
RemadeWeights remakeWeights(const Plan& plan, const RefitRecord& record);

}  // namespace camshaft
