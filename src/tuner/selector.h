// Whoever chooses among a layer's kernels in the tuner's place, and what it sees of them.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "support/data_type.h"
#include "support/text.h"

namespace camshaft {

// Sizes under the profile; -1 where one has no upper bound.
struct TensorFacts {
  DataType type = DataType::kF32;
  std::vector<int64_t> min, opt, max;
};

struct LayerFacts {
  std::string name;  // no other layer of the build has it
  std::vector<TensorFacts> inputs, outputs;
};

// A kernel in one of its configurations.
struct Tactic {
  uint64_t kernel = 0;  // a digest of its name
  int64_t config = 0;
  double milliseconds = -1;  // negative: not known
  int64_t workspaceBytes = 0;
};

class KernelSelector {
 public:
  virtual ~KernelSelector() = default;
  // Which of them may be used, as indices; none: all. Throws Error to end the build.
  virtual std::vector<size_t> select(const LayerFacts& layer, std::span<const Tactic> tactics) = 0;
  struct Selected {
    LayerFacts layer;
    Tactic tactic;
  };
  // What was taken in the end, after all layers of a graph were asked about.
  virtual void report(std::span<const Selected> selected) = 0;

  // Nodes of one origin share its name, and so do those of two profiles; a selector that writes
  // down what it chose finds it again by these.
  std::string uniqueName(const std::string& layer) {
    std::string name = layer;
    for (int repeat = 1; !names_.insert(name).second; ++repeat) name = str(layer, "_", repeat);
    return name;
  }

 private:
  std::set<std::string> names_;
};

}  // namespace camshaft
