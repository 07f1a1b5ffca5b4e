// Whoever chooses among a layer's kernels in the tuner's place, and what it sees of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/data_type.h"

namespace camshaft {

// Sizes under the profile; -1 where one has no upper bound.
struct TensorFacts {
  DataType type = DataType::kF32;
  std::vector<int64_t> min, opt, max;
};

struct LayerFacts {
  std::string name;
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
};

}  // namespace camshaft
