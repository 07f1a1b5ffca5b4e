#include "cuda_emulator/emulated_backend.h"

#include <cstdlib>

#include "backend/device.h"
#include "backends/cuda/libraries/problems.h"
#include "backends/cuda/load_library.h"
#include "backends/cuda/runtime/cuda_device.h"
#include "backends/cuda/runtime/findings.h"
#include "backends/cuda/runtime/launchers.h"
#include "backends/cuda/services.h"
#include "support/version.h"

namespace camshaft::emulator {
namespace {

class EmulatedServices : public cuda::Services {
 public:
  BuildTarget currentTarget() override { return cuda::currentDevice().target(); }
  std::vector<CompiledCode> compile(std::span<const std::string> sources,
                                    const BuildTarget&) override {
    std::vector<CompiledCode> codes;
    for (const std::string& source : sources) {
      const auto* bytes = reinterpret_cast<const std::byte*>(source.c_str());
      codes.push_back({{bytes, bytes + source.size() + 1}, {}});
    }
    return codes;
  }
  std::vector<cuda::LibraryPlan> gemmPlans(const cuda::GemmProblem&, int) override { return {}; }
  std::optional<cuda::LibraryPlan> convPlan(const cuda::ConvProblem&, int) override { return {}; }
  std::optional<cuda::LibraryPlan> attentionPlan(const cuda::AttentionProblem&, int) override {
    return {};
  }
};

const RuntimeKernel* kernelInstead = nullptr;

const RuntimeKernel* find(std::string_view name) {
  if (kernelInstead) return kernelInstead;
  for (const RuntimeKernel* kernel : cuda::ownLaunchers())
    if (kernel->name == name) return kernel;
  return &cuda::generatedLauncher();
}

const RuntimeBackend kBackend{
    .name = "cuda",
    .find = find,
    .describeDevice = [] { return cuda::currentDevice().describe(); },
    .device = [] { return static_cast<Device*>(&cuda::currentDevice()); }};

}  // namespace

int capabilityOfTests() {
  constexpr int kSimplest = 75;
  const char* asked = std::getenv("CAMSHAFT_TEST_CAPABILITY");
  return asked ? std::atoi(asked) : kSimplest;
}

EmulatedBackend::EmulatedBackend(int computeCapability) {
  static EmulatedServices services;
  static const cuda::CudaLibrary kLibrary{kVersion, &kBackend, &services, cuda::findDevices};
  driver_.setAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, computeCapability / 10);
  driver_.setAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, computeCapability % 10);
  cuda::replaceDriver(&driver_.table());
  cuda::replaceLibrary(&kLibrary);
}

void EmulatedBackend::useKernel(const RuntimeKernel& kernel) { kernelInstead = &kernel; }

EmulatedBackend::~EmulatedBackend() {
  kernelInstead = nullptr;
  cuda::replaceLibrary(nullptr);
  cuda::replaceDriver(nullptr);
}

}  // namespace camshaft::emulator
