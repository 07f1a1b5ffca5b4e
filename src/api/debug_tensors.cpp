#include "api/debug_tensors.h"

#include <algorithm>

#include "api/convert.h"
#include "support/error.h"
#include "support/text.h"

namespace camshaft::api {

namespace {

void collect(const Plan& plan, std::vector<std::string>& names) {
  for (const Step& step : plan.profiles[0].steps)
    if (step.kind == StepKind::kObserve && !step.observed.isUnfused &&
        std::find(names.begin(), names.end(), step.observed.name) == names.end())
      names.push_back(step.observed.name);
  for (const std::shared_ptr<Plan>& body : plan.bodies) collect(*body, names);
}

}  // namespace

std::vector<std::string> debugTensorsOf(const Plan& plan) {
  std::vector<std::string> names;
  collect(plan, names);
  return names;
}

DebugTensors::DebugTensors(Context& context)
    : context_(context),
      marked_(debugTensorsOf(context.engine().plan())),
      observer_([this](const ObservedTensor& tensor, const TensorArg& value, bool onDevice,
                       void* stream) { show(tensor, value, onDevice, stream); }) {}

void DebugTensors::setListener(nvinfer1::IDebugListener* listener) {
  listener_ = listener;
  attach();
}

void DebugTensors::setState(const char* name, bool on) {
  if (!name || std::find(marked_.begin(), marked_.end(), name) == marked_.end())
    fail(ErrorKind::kInvalidArgument, "'", name ? name : "(null)",
         "' is no debug tensor of the engine, which ",
         marked_.empty() ? "has none; mark it with markDebug before building"
                         : str("has ", join(marked_, ", ")));
  if (on)
    on_.insert(name);
  else
    on_.erase(name);
  attach();
}

void DebugTensors::setAll(bool on) {
  on_.clear();
  if (on) on_.insert(marked_.begin(), marked_.end());
  attach();
}

void DebugTensors::setUnfused(bool on) {
  isUnfusedOn_ = on;
  attach();
}

void DebugTensors::attach() {
  context_.setObserver(listener_ && (isUnfusedOn_ || !on_.empty()) ? &observer_ : nullptr);
}

void DebugTensors::show(const ObservedTensor& tensor, const TensorArg& value, bool onDevice,
                        void* stream) {
  if (tensor.isUnfused ? !isUnfusedOn_ : !state(tensor.name.c_str())) return;
  const auto location =
      onDevice ? nvinfer1::TensorLocation::kDEVICE : nvinfer1::TensorLocation::kHOST;
  const std::vector<int64_t> dims(value.shape().begin(), value.shape().end());
  if (!listener_->processDebugTensor(value.data, location, toPublic(value.type), toPublic(dims),
                                     tensor.name.c_str(), static_cast<cudaStream_t>(stream)))
    fail(ErrorKind::kInvalidArgument, "the debug listener failed on tensor '", tensor.name, "'");
}

}  // namespace camshaft::api
