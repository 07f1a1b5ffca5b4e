// The build-time half of the backend boundary: what a kernel can do, and how it is prepared.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/compiled_code.h"
#include "backend/target.h"
#include "ir/graph.h"
#include "ops/fusion_abilities.h"

namespace camshaft {

// Yes, or no with the reason in words ("needs channels last", "only f32").
struct Verdict {
  std::string reason;  // empty: yes
  static Verdict yes() { return {}; }
  static Verdict no(std::string reason) { return {std::move(reason)}; }
  explicit operator bool() const { return reason.empty(); }
};

// What a step reads: an input of the node as it is, or bytes packed at build time.
struct StepInput {
  int nodeInput = -1;  // index, or -1 when `packed` holds the bytes
  TensorType packedType;
  std::vector<std::byte> packed = {};
  // Makes `packed` of constants of the node, where these may be large: kernels are timed on other
  // bytes. To be called while the node is there.
  std::function<std::vector<std::byte>()> pack = nullptr;
  static StepInput fromNode(int index) { return {.nodeInput = index}; }
  static StepInput fromPacking(TensorType type, std::function<std::vector<std::byte>()> pack) {
    return {.packedType = std::move(type), .pack = std::move(pack)};
  }
  static StepInput fromBytes(TensorType type, std::vector<std::byte> bytes) {
    return {.packedType = std::move(type), .packed = std::move(bytes)};
  }
};

struct Prepared {
  std::string runtimeKernel;      // defaults to the kernel's name
  std::vector<std::byte> params;  // plain bytes for the run-time half
  std::string source;             // device code to compile; the engine stores what comes out
  std::vector<StepInput> inputs;
  std::vector<Dim> dimArgs;  // numbers needed at run time
  Dim workspaceBytes = 0;
  std::string variant;  // what this configuration is, in words, for logs
  Verdict verdict;      // no: it cannot be done after all
  static Prepared no(std::string reason) {
    Prepared refused;
    refused.verdict = Verdict::no(std::move(reason));
    return refused;
  }
};

// Packs what is not packed yet.
void packNow(Prepared& prepared);

// What all kernels of a build are told. Sizes are those of the profile.
struct BuildContext {
  BuildTarget target = {};
  int threads = 1;
  bool allowTf32 = true;  // f32 products may drop to TF32's precision, 10 mantissa bits, and better
  DataType productType = DataType::kF32;  // what f32 products may round their operands to
  bool allowCublasLt = true, allowCudnn = true;
  int64_t workspaceLimit = DimRange::kUnbounded;  // bytes; the tuner drops what needs more
  std::function<int64_t(const Dim&)> opt = {};    // the size to optimise for
  std::function<int64_t(const Dim&)> min = {};    // its lower bound
  std::function<int64_t(const Dim&)> max = {};    // its upper bound, or DimRange::kUnbounded
};

// A kernel at build time. Lists are explicit arrays, best guess first; the order breaks ties.
struct Kernel {
  std::string_view name;  // "cpu/gemm_f32"; its specification
  Verdict (*supports)(const Node& node, const BuildContext& context);
  // `config` is one of configurations().
  Prepared (*prepare)(const Node& node, const BuildContext& context, int64_t config);
  // Those worth timing; null: only 0.
  std::vector<int64_t> (*configurations)(const Node& node, const BuildContext& context) = nullptr;
  // May write output 0 over input i when that input dies here and has the same size; null: never.
  bool (*inPlace)(const Node& node, int input) = nullptr;
  // How many configurations are timed below optimisation level 4; 0: all.
  size_t usualConfigurations = 0;
  // As inPlace, of any output: the input that it may be written over, or -1; null: none.
  int (*overwrites)(const Node& node, int output) = nullptr;

  bool mayOverwrite(const Node& node, int input, int output) const {
    return (inPlace && output == 0 && inPlace(node, input)) ||
           (overwrites && overwrites(node, output) == input);
  }
};

// A call of kernel->prepare() that is to come.
struct Preparation {
  const Node* node;
  const Kernel* kernel;
  int64_t config;
};

using KernelList = std::span<const Kernel>;

// What f32 work gains from 16 bits.
struct Gain16 {
  DataType type = DataType::kF32;  // what products round their operands to on the way; f32: nothing
  bool tensors = false;            // and tensors between nodes that work in bf16
};

// A backend's build-time half.
struct BuildBackend {
  std::string_view name;
  // Candidates for a node, best guess first; empty when the backend knows nothing of the operator.
  KernelList (*kernelsFor)(const Node& node);
  // A device of that compute capability, or the one here for 0. Throws Error when there is none.
  BuildTarget (*target)(int computeCapability);
  bool prefersChannelsLast;
  bool hasDeviceMemory = false;  // which the host's kernels cannot reach
  FusionAbilities fusion = {};
  // Whether FusionAbilities::float8Products holds on a device. Null: as it says.
  bool (*multipliesFloat8)(const BuildTarget& target) = nullptr;
  // FusionAbilities::streamedElements of a device. Null: none.
  int64_t (*streamedElements)(const BuildTarget& target) = nullptr;
  // FusionAbilities::normalisedRows of a device. Null: none.
  int64_t (*normalisedRows)(const BuildTarget& target) = nullptr;
  // Whether its kernels take 16-bit tensors of all kinds. Others get such graphs as f32, and what
  // they gain where a build allows 16 bits is gain16 (null: nothing).
  bool stores16Bit = false;
  Gain16 (*gain16)(bool allowF16, bool allowBf16) = nullptr;
  bool (*worksInBf16)(const Node& node) = nullptr;  // for Gain16::tensors
  // Device code for Prepared::source, many at once; the engine stores it. Null: its kernels run on
  // the host.
  std::vector<CompiledCode> (*compile)(std::span<const std::string> sources,
                                       const BuildTarget& target) = nullptr;
  // The front part of a step's parameters that says what it computes, where the rest is a plan for
  // that which a library may write otherwise each time. Null: all of them say it.
  std::span<const std::byte> (*problemOf)(std::string_view kernel,
                                          std::span<const std::byte> params) = nullptr;
  // Is told what will be prepared, to work out with many threads what takes long. Null: nothing
  // does.
  void (*prefetch)(std::span<const Preparation> preparations,
                   const BuildContext& context) = nullptr;
};

// Node inputs as they are, in order.
std::vector<StepInput> allInputs(const Node& node);

}  // namespace camshaft
