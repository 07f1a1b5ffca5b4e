// From a graph with chosen kernels to the steps of a plan.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/kernel.h"
#include "plan/plan.h"
#include "plan/profile.h"
#include "support/growing_memory.h"

namespace camshaft {

// A node with the kernel that will run it. Nodes without a kernel need none: Reshape is a view of
// its input; BindDims, Observe, If and Loop are done by the runtime.
struct ChosenKernel {
  const Node* node;
  const Kernel* kernel;
  Prepared prepared;
  StepInfo info;
  bool onHost = false;  // a host kernel in the plan of a device with memory of its own
  std::shared_ptr<const std::vector<std::byte>> binary;  // compiled from prepared.source
  std::vector<int64_t> packedAt;  // storePacked: offsets in the weights; -1: the node's own input
};

bool isView(const Node& node);       // its output is its input's memory
bool needsKernel(const Node& node);  // neither a view nor done by the runtime

// Inserts copies so that every graph output has memory of its own: outputs that are inputs,
// constants, views of those, or one value twice.
void separateOutputs(Graph& graph);

// The engine's weights, each distinct block once, 64-byte aligned. Blocks that a refit may change
// have a source, and are the same only where that is: equal bytes may be chance.
class WeightsBuilder {
 public:
  // In a file: what is stored takes no memory while the build goes on (GrowingMemory).
  enum class Place { kMemory, kScratchFile };
  explicit WeightsBuilder(Place place = Place::kMemory)
      : bytes_(place == Place::kMemory ? GrowingMemory() : GrowingMemory::inScratchFile()) {}

  int64_t add(std::span<const std::byte> bytes, std::string_view source = {});
  std::shared_ptr<const GrowingMemory> take();  // leaves nothing

 private:
  struct Block {
    int64_t offset;
    size_t size;
    std::string source;
  };
  GrowingMemory bytes_;
  std::unordered_multimap<uint64_t, Block> known_;  // by hash
};

// Moves what a kernel has packed to the engine's weights, as soon as it is chosen: it is as much as
// the model, and there is to be one of it.
void storePacked(ChosenKernel& chosen, WeightsBuilder& weights);

// Device code, each distinct one once.
class BinariesBuilder {
 public:
  int32_t add(const std::vector<std::byte>& binary);
  std::vector<std::vector<std::byte>> take() { return std::move(binaries_); }

 private:
  std::vector<std::vector<std::byte>> binaries_;
  std::unordered_multimap<uint64_t, int32_t> known_;  // hash to index
};

// The bodies of a node as they were planned.
struct PlannedBodies {
  std::vector<int32_t> plans;     // indices into Plan::bodies
  bool onHost = true;             // those plans are for the host
  std::vector<bool> readsOnHost;  // else by input of the node: it is wanted on the host
  int64_t arenaBytes = 0;         // else what the largest needs, of which one runs at a time
};
using BodyPlans = std::unordered_map<const Node*, PlannedBodies>;

// `chosen` is in graph order, covers every node that needs a kernel and has stored what is packed.
// Where steps on the host and on the device share a value, copies go between.
ProfilePlan planProfile(const Graph& graph, const ResolvedProfile& profile,
                        std::vector<ChosenKernel> chosen, const std::vector<IoTensor>& inputs,
                        bool hasDeviceMemory, WeightsBuilder& weights, BinariesBuilder& binaries,
                        const BodyPlans& bodies = {});

const Value* storageOf(const Value* value);  // the value whose memory a view is of

// With memory of its own, the device leaves tensors whose values decide shapes to the host.
std::vector<IoTensor> describeInputs(const Graph& graph, bool hasDeviceMemory);
std::vector<IoTensor> describeOutputs(const Graph& graph);
// Which inputs are bound in front of all other nodes: whoever runs the plan reads them before, and
// no step does.
void describeValues(const Graph& graph, std::vector<IoTensor>& inputs);

}  // namespace camshaft
