// The entry of libcamshaft_cuda.so: kernels by name, and the services of the build half.
#include "backends/cuda/load_library.h"
#include "backends/cuda/runtime/compiler.h"
#include "backends/cuda/runtime/cuda_device.h"
#include "backends/cuda/runtime/findings.h"
#include "backends/cuda/runtime/launchers.h"
#include "backends/cuda/runtime/libraries/libraries.h"
#include "support/error.h"
#include "support/version.h"

namespace camshaft::cuda {
namespace {

const RuntimeKernel* find(std::string_view name) {
  for (const RuntimeKernel* kernel : libraryKernels())
    if (kernel->name == name) return kernel;
  for (const RuntimeKernel* kernel : ownLaunchers())
    if (kernel->name == name) return kernel;
  return &generatedLauncher();
}

std::string describeDevice() { return str(currentDevice().describe(), ", ", describeLibraries()); }

constexpr RuntimeBackend kBackend{.name = "cuda",
                                  .find = find,
                                  .describeDevice = describeDevice,
                                  .device = [] { return static_cast<Device*>(&currentDevice()); },
                                  .compileAlone =
                                      [](const std::string& source, const BuildTarget& target) {
                                        return compileAll(std::span(&source, 1), target).front();
                                      }};

class LibraryServices : public Services {
 public:
  BuildTarget currentTarget() override {
    BuildTarget target = currentDevice().target();
    target.name = describeDevice();
    return target;
  }

  std::vector<CompiledCode> compile(std::span<const std::string> sources,
                                    const BuildTarget& target) override {
    return compileAll(sources, target);
  }

  std::vector<LibraryPlan> gemmPlans(const GemmProblem& problem, int most) override {
    return onDevice([&] { return cuda::gemmPlans(problem, most); });
  }
  std::optional<LibraryPlan> convPlan(const ConvProblem& problem, int number) override {
    return onDevice([&] { return cuda::convPlan(problem, number); });
  }
  std::optional<LibraryPlan> attentionPlan(const AttentionProblem& problem, int number) override {
    return onDevice([&] { return cuda::attentionPlan(problem, number); });
  }

 private:
  // Without the library there is nothing to offer: our own kernels take the work.
  template <class F>
  auto onDevice(F&& plans) const -> decltype(plans()) {
    currentDevice().makeCurrent();
    try {
      return plans();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kUnsupported) return {};
      throw;
    }
  }
};

}  // namespace
}  // namespace camshaft::cuda

extern "C" __attribute__((visibility("default"))) const camshaft::cuda::CudaLibrary*
camshaftCudaLibrary() {
  static camshaft::cuda::LibraryServices services;
  static const camshaft::cuda::CudaLibrary kLibrary{camshaft::kVersion, &camshaft::cuda::kBackend,
                                                    &services, camshaft::cuda::findings};
  return &kLibrary;
}
