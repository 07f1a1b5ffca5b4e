// The bodies of branches and loops, slimmed as models of their own.
#pragma once

#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

#include "onnx/trace.h"
#include "slim/slim.h"

namespace camshaft {

// What views in slimmed bodies point to.
struct SlimmedBodies {
  std::vector<SlimModel> models;
  std::deque<std::string> texts;
};

// Puts slimmer bodies into the main graph's nodes where there are any. `trace` is of the model's
// import: it knows the types of what bodies read of the graph around them. `outside` are the names
// of graphs around the model's own.
SlimmedBodies slimBodies(onnx::LoadedModel& model, const onnx::ImportTrace& trace,
                         const std::unordered_set<std::string>& outside);

}  // namespace camshaft
