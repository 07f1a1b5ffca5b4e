// Loads and launches generated kernels.
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cuda/generated_params.h"
#include "backends/cuda/plugin/params.h"
#include "backends/cuda/runtime/code_library.h"
#include "backends/cuda/runtime/cuda_device.h"
#include "backends/cuda/runtime/driver.h"
#include "backends/cuda/runtime/launch_hopper.h"
#include "backends/cuda/runtime/launchers.h"
#include "backends/cuda/runtime/queue.h"
#include "support/byte_reader.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

struct Generated {
  GeneratedParams params;
  std::shared_ptr<const CodeLibrary> library;
  CUkernel kernel = nullptr;
  bool mayOverlap = false;  // with the end of the kernel before: it waits for that itself
};

// Code for this device, and not PTX for older ones, which does not wait for the kernel before.
bool isMachineCode(std::span<const std::byte> binary) {
  constexpr char kElf[] = {0x7f, 'E', 'L', 'F'};
  return binary.size() >= sizeof kElf && std::memcmp(binary.data(), kElf, sizeof kElf) == 0;
}

// Clusters of eight blocks are portable; a slice of a GPU may have no place for more.
void requirePlace(const Generated& state, std::string_view name) {
  const GeneratedParams& params = state.params;
  constexpr unsigned kPortableCluster = 8;
  if (params.cluster <= kPortableCluster) return;
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {params.cluster, 1, 1};
  const CUlaunchConfig config{.gridDimX = params.cluster,
                              .gridDimY = 1,
                              .gridDimZ = 1,
                              .blockDimX = params.block,
                              .blockDimY = 1,
                              .blockDimZ = 1,
                              .sharedMemBytes = params.sharedBytes,
                              .hStream = nullptr,
                              .attrs = &attribute,
                              .numAttrs = 1};
  int clusters = 0;
  check(driver().cuOccupancyMaxActiveClusters(&clusters, reinterpret_cast<CUfunction>(state.kernel),
                                              &config),
        "ask how many blocks of a kernel fit on the GPU");
  if (clusters < 1)
    fail(ErrorKind::kUnsupported, "kernel '", name, "' wants ", params.cluster,
         " blocks side by side, for which this GPU has no place; build the engine on it");
}

std::shared_ptr<const void> load(std::string_view name, std::span<const std::byte> params,
                                 std::span<const std::byte> binary) {
  auto state = std::make_shared<Generated>();
  ByteReader reader(params, "the parameters of a kernel");
  state->params = reader.read<GeneratedParams>();
  reader.expectEnd();
  if (binary.empty() || !name.starts_with(kGeneratedPrefix))
    fail(ErrorKind::kInvalidEngine, "the engine lacks the device code of kernel '", name, "'");
  state->library = CodeLibrary::of(binary);
  state->kernel = state->library->find(std::string(name.substr(std::strlen(kGeneratedPrefix))),
                                       state->params.sharedBytes, state->params.cluster);
  requirePlace(*state, name);
  state->mayOverlap =
      isMachineCode(binary) && currentDevice().target().computeCapability >= kOverlaps;
  return state;
}

// What the device code does with its operands is its own; this is what launch() does here.
bool fits(const void* opaque, const LaunchArgs& args) {
  const GeneratedParams& params = static_cast<const Generated*>(opaque)->params;
  constexpr size_t kGrid = 3;
  if (args.dims.size() < kGrid) return false;
  const auto isGrid = [](int64_t blocks) { return blocks <= std::numeric_limits<int32_t>::max(); };
  if (!std::all_of(args.dims.begin(), args.dims.begin() + kGrid, isGrid)) return false;
  return static_cast<int64_t>(params.zeroedBytes) <= args.workspaceBytes;
}

void launch(const void* opaque, const LaunchArgs& args) {
  const auto& state = *static_cast<const Generated*>(opaque);
  void* values[kMostArguments];
  void* pointers[kMostArguments];
  size_t count = 0;
  const auto add = [&](void* value) {
    CAMSHAFT_CHECK(count < kMostArguments, "a kernel has too many arguments");
    values[count] = value;
    pointers[count] = &values[count];
    ++count;
  };
  for (const TensorArg& input : args.inputs) add(input.data);
  for (const TensorArg& output : args.outputs) add(output.data);
  if (state.params.hasWorkspace) add(args.workspace);
  for (int64_t size : args.dims.subspan(3)) add(reinterpret_cast<void*>(size));
  if (std::any_of(args.dims.begin(), args.dims.begin() + 3, [](int64_t n) { return n <= 0; }))
    return;

  // A kernel that follows such a filling does not overlap it.
  const bool isFilled = state.params.zeroedBytes > 0;
  if (isFilled) queueClearing(args.workspace, state.params.zeroedBytes, args.stream);

  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[0].value.programmaticStreamSerializationAllowed = state.mayOverlap && !isFilled;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].value.clusterDim = {state.params.cluster, 1, 1};
  const CUlaunchConfig config{.gridDimX = static_cast<unsigned>(args.dims[0]),
                              .gridDimY = static_cast<unsigned>(args.dims[1]),
                              .gridDimZ = static_cast<unsigned>(args.dims[2]),
                              .blockDimX = state.params.block,
                              .blockDimY = 1,
                              .blockDimZ = 1,
                              .sharedMemBytes = state.params.sharedBytes,
                              .hStream = static_cast<CUstream>(args.stream),
                              .attrs = attributes,
                              .numAttrs = state.params.cluster > 1 ? 2u : 1u};
  queueKernel(config, state.kernel, pointers, "launch a kernel");
}

}  // namespace

const RuntimeKernel& generatedLauncher() {
  static constexpr RuntimeKernel kKernel{
      .name = "cuda/*", .launch = launch, .fits = fits, .loadCode = load};
  return kKernel;
}

std::span<const RuntimeKernel* const> ownLaunchers() {
  static constexpr RuntimeKernel kPlugin{.name = plugin::kName, .isPlugin = true};
  static const RuntimeKernel* const kLaunchers[] = {&hopperLauncher(), &kPlugin};
  return kLaunchers;
}

}  // namespace camshaft::cuda
