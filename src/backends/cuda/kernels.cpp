#include "backend/kernel.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/families.h"
#include "backends/cuda/libraries/prefetch.h"
#include "backends/cuda/libraries/problems.h"
#include "backends/cuda/services.h"
#include "ops/ops.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

struct Entry {
  Op op;
  KernelList (*kernels)();
};

#define CAMSHAFT_CUDA(op, family, list) {&ops::op, family::list},
constexpr Entry kTable[] = {
#include "backends/cuda/kernels.def"
};
#undef CAMSHAFT_CUDA

KernelList kernelsFor(const Node& node) {
  for (const Entry& entry : kTable)
    if (entry.op == node.op) return entry.kernels();
  return {};
}

// What a block may have of shared memory.
int64_t sharedBytesOf(int computeCapability) {
  const int major = computeCapability / 10;
  if (major < 8) return 64 << 10;
  if (computeCapability == 80 || computeCapability == 87) return 163 << 10;
  return major == 8 || major == 12 ? 99 << 10 : 227 << 10;
}

BuildTarget target(int computeCapability) {
  if (computeCapability != 0)
    return {.name = str("sm_", computeCapability),
            .isPresent = false,
            .computeCapability = computeCapability,
            .sharedBytesPerBlock = sharedBytesOf(computeCapability)};
  try {
    return services().currentTarget();
  } catch (const Error& error) {
    fail(ErrorKind::kUnsupported, "cannot build for CUDA: ", error.message());
  }
}

bool multipliesFloat8(const BuildTarget& target) { return target.computeCapability / 10 == 9; }

// What fits beside the stages of the smallest tile of a stream of weights, with sums of at least 16
// elements each (gemm_nbits/stream.cuh).
int64_t streamedElements(const BuildTarget& target) {
  constexpr int64_t kBeside = 40 << 10;
  return target.computeCapability >= 90 ? (target.sharedBytesPerBlock - kBeside) * 4 / 9 : 0;
}

// Of more rows the norms' own kernels take less time than epilogues with their work: they are at
// the speed of memory, and these are what such products wait for.
int64_t normalisedRows(const BuildTarget& target) {
  return target.computeCapability / 10 == 9 ? 256 : 0;
}

std::vector<CompiledCode> compile(std::span<const std::string> sources, const BuildTarget& target) {
  return services().compile(sources, target);
}

}  // namespace

const BuildBackend& buildBackend() {
  static constexpr BuildBackend kBackend{.name = "cuda",
                                         .kernelsFor = kernelsFor,
                                         .target = target,
                                         .prefersChannelsLast = true,
                                         .hasDeviceMemory = true,
                                         .fusion = kGeneratedKernels,
                                         .multipliesFloat8 = multipliesFloat8,
                                         .streamedElements = streamedElements,
                                         .normalisedRows = normalisedRows,
                                         .stores16Bit = true,
                                         .compile = compile,
                                         .problemOf = problemOf,
                                         .prefetch = prefetchPlans};
  return kBackend;
}

}  // namespace camshaft::cuda
