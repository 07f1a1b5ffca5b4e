#include "runtime/loaded_engine.h"

#include <algorithm>

#include "backend/device.h"
#include "support/aligned_buffer.h"
#include "support/error.h"

namespace camshaft {
namespace {

// Parameters as the kernel's state: copied to aligned memory so that plain structs can lie in it.
std::shared_ptr<const void> alignedCopy(std::span<const std::byte> params) {
  auto buffer = std::make_shared<AlignedBuffer>(params.size());
  std::copy(params.begin(), params.end(), buffer->data());
  const void* data = buffer->data();
  return {std::move(buffer), data};
}

LoadedEngine::LoadedStep load(const Step& step) {
  if (step.kind == StepKind::kBindDims) return {};
  const RuntimeKernel* kernel = findRuntimeKernel(step.kernel);
  if (!kernel)
    fail(ErrorKind::kInvalidEngine, "layer '", step.name, "' runs on kernel '", step.kernel,
         "', which this build of Camshaft does not have; rebuild the engine with this version");
  return {kernel, kernel->load ? kernel->load(step.params) : alignedCopy(step.params)};
}

int findByName(const std::vector<IoTensor>& tensors, std::string_view name) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].name == name) return static_cast<int>(i);
  return -1;
}

}  // namespace

LoadedEngine::LoadedEngine(Plan plan) : plan_(std::move(plan)) {
  try {
    for (const ProfilePlan& profile : plan_.profiles) {
      std::vector<LoadedStep>& steps = steps_.emplace_back();
      for (const Step& step : profile.steps) steps.push_back(load(step));
    }
  } catch (const Error& error) {
    const std::string here = runtimeBackends().front()->describeDevice();
    if (here == plan_.builtFor) throw;
    fail(error.kind(), error.message(), " (it was built for ", plan_.builtFor, "; this machine is ",
         here, "; rebuild it here with trtexec --onnx=MODEL --saveEngine=ENGINE)");
  }
}

int LoadedEngine::findInput(std::string_view name) const { return findByName(plan_.inputs, name); }
int LoadedEngine::findOutput(std::string_view name) const {
  return findByName(plan_.outputs, name);
}

}  // namespace camshaft
