// What a pass is: a free function that rewrites the graph and says whether it changed something.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "ops/fusion_abilities.h"
#include "support/log.h"
#include "support/tensor_range.h"

namespace camshaft {

struct PassOptions {
  // Lay images out as [N, spatial..., C] where kernels are faster on that.
  bool channelsLast = true;
  // What the backend has kernels for.
  FusionAbilities fusion;
  // 0: fastest build, 5: longest. Passes that cost build time ask it.
  int optimizationLevel = 3;
  // Whether the backend has kernels for 16-bit tensors.
  bool stores16Bit = true;
  // 16-bit types that f32 work may use; with both, f16, and bf16 where weights exceed f16's range.
  bool allowF16 = false, allowBF16 = false;
  // Which nodes may work in them; null: all.
  bool (*lowers)(const Node& node) = nullptr;
  // Tensors that products may read as bytes, by name, and what products read, by theirs: passes
  // make new tensors of old ones. Whether a product gains from that, where what it reads is stored
  // as bytes or has to be made so; null: each does.
  TensorRanges ranges, rangesRead;
  std::function<bool(const Node& product, bool isStoredAsBytes)> isFasterInBytes;
  bool obeysPrecision = false;  // what is asked to compute in bytes does, or the build fails
  Log log;
  // Names of passes not to run.
  std::set<std::string, std::less<>> disabled;
};

// A pass leaves the graph valid (verify() holds) and its results as they were, up to rounding.
// Running it again on its own result changes nothing.
using PassFunction = bool (*)(Graph& graph, const PassOptions& options);

struct Pass {
  std::string_view name;
  PassFunction run;
};

}  // namespace camshaft
