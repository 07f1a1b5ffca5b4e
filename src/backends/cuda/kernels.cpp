#include "backend/kernel.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/families.h"
#include "backends/cuda/services.h"
#include "ops/ops.h"

namespace camshaft::cuda {
namespace {

struct Entry {
  Op op;
  KernelList (*kernels)();
};

// Which family takes which operator. An operator without one runs on the CPU, with copies.
constexpr Entry kTable[] = {
    {&ops::Pointwise, strided::kernels},
    {&ops::Identity, strided::kernels},
    {&ops::Transpose, strided::kernels},
    {&ops::Reshape, strided::kernels},
    {&ops::Expand, strided::kernels},
    {&ops::Slice, strided::kernels},
};

KernelList kernelsFor(const Node& node) {
  for (const Entry& entry : kTable)
    if (entry.op == node.op) return entry.kernels();
  return {};
}

std::vector<std::vector<std::byte>> compile(std::span<const std::string> sources) {
  return services().compile(sources);
}

}  // namespace

const BuildBackend& buildBackend() {
  static constexpr BuildBackend kBackend{
      .name = "cuda", .kernelsFor = kernelsFor, .prefersChannelsLast = true, .compile = compile};
  return kBackend;
}

}  // namespace camshaft::cuda
