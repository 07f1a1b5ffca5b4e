// What slimming took away.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "onnx/wire/model.h"

namespace camshaft {

struct SlimReport {
  struct Count {
    int64_t before = 0, after = 0;
  };
  std::map<std::string, Count> operators;  // nodes of each, those in subgraphs included
  Count nodes, initializers, bytes;        // bytes: of the model with its external data
  std::vector<std::string> kept;           // nodes left as they were: "name: why"

  std::string table() const;  // for people
  std::string json() const;
};

int64_t nodesIn(const onnx::Graph& graph);  // those of bodies included

// Fills everything but `kept`; bytes after are for who encodes the model to say.
void countInto(SlimReport& report, const onnx::Model& before, const onnx::Model& after);

}  // namespace camshaft
