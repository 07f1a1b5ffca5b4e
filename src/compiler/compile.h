// The compiler: from a Graph to a Plan.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backend/device.h"
#include "ir/graph.h"
#include "plan/plan.h"
#include "plan/profile.h"
#include "support/log.h"
#include "support/tensor_range.h"
#include "tuner/choose.h"

namespace camshaft {

// Told how far a build is, phase by phase; phases nest. Returning false cancels the build.
class BuildProgress {
 public:
  virtual ~BuildProgress() = default;
  virtual void begin(std::string_view phase, std::string_view parent, int steps) = 0;
  virtual bool advance(std::string_view phase, int step) = 0;
  virtual void end(std::string_view phase) = 0;
};

// What becomes of the types that nodes ask for (Node::precision).
enum class PrecisionRequests {
  kIgnore,
  kPrefer,  // kept where they can be, with a warning otherwise; ignored where 16 bits are slow
  kObey,    // kept, or the build fails
};

// Which GPUs the engine is for, beside the one it is built on or for.
enum class GpuRange {
  kThis,
  kSameCapability,  // all of its compute capability
  kAmpereAndLater,  // all from compute capability 8.0 on: the engine holds PTX
};

using GraphDump = std::function<void(std::string_view pass, const Graph& graph)>;

struct CompileOptions : TuneOptions {
  std::string device = "cpu";          // or "cuda", "reference"
  int computeCapability = 0;           // of a CUDA device that is not here (90); 0: the one here
  GpuRange gpus = GpuRange::kThis;     // where the device is one
  std::vector<ShapeProfile> profiles;  // empty: one with guessed bounds for dynamic inputs
  int profilingVerbosity = 0;          // recorded in the plan
  bool weightsInFile = false;  // the engine is to be written, so nobody reads them where they are
  bool sideBySide = false;     // branches of a GPU's plan may run at once, where that is faster
  bool allowF16 = false, allowBF16 = false;  // for f32 work, where the device gains from it
  // Products may read 8-bit integers, where they are faster so and what they read has a range.
  bool allowI8 = false;
  TensorRanges ranges;
  PrecisionRequests precisionRequests = PrecisionRequests::kIgnore;
  std::set<std::string, std::less<>> disabledPasses;
  BuildProgress* progress = nullptr;
  bool observeUnfused = false;  // tensors of the network that are stored anyway are observed
  GraphDump dump;               // is shown the graph as it came and after each pass
};

// The passes that CompileOptions::disabledPasses may name.
std::vector<std::string_view> passNames();

// Writes each graph that differs from the last as text into the folder, which is made if need be:
// 00-network.txt, 01-remove_dead.txt, ...
GraphDump graphsInto(const std::string& folder);

// Why nothing can run on a device ("cuda") here; empty when it can.
std::string whyUnusable(std::string_view device);

// What a device has below f32, for builds that allow it.
struct LowPrecision {
  std::vector<DataType> bits16;  // the types that 16 bits are there, best guess first
  bool tensors16 = false;        // tensors have 16 bits, and not what products multiply alone
  bool bytes = false;            // products of 8-bit integers
};
LowPrecision lowPrecisionOf(std::string_view device);

// Without timings it keeps none; without threads it uses all cores. Throws Error naming the node
// or input when the network cannot be built.
Plan compile(Graph graph, CompileOptions options);

}  // namespace camshaft
