#include "api/inspector.h"

#include "engine/inspect.h"

namespace camshaft::api {

using namespace nvinfer1;

bool EngineInspector::setExecutionContext(const IExecutionContext* context) noexcept {
  context_ = context;
  return true;
}

const ProfilePlan& EngineInspector::profile() const {
  return engine_->plan().profiles[context_ ? context_->getOptimizationProfile() : 0];
}

const char* EngineInspector::getLayerInformation(int32_t index, LayerInformationFormat format) const noexcept {
  return guarded<const char*>(reporter_, nullptr, [&] {
    const std::vector<Step>& steps = profile().steps;
    if (index < 0 || static_cast<size_t>(index) >= steps.size())
      fail(ErrorKind::kInvalidArgument, "there is no layer ", index, "; the engine has ", steps.size());
    const Plan& plan = engine_->plan();
    text_ = format == LayerInformationFormat::kJSON ? layerJson(plan, steps[index]) : layerLine(plan, steps[index]);
    return text_.c_str();
  });
}

const char* EngineInspector::getEngineInformation(LayerInformationFormat format) const noexcept {
  return guarded<const char*>(reporter_, nullptr, [&] {
    const Plan& plan = engine_->plan();
    text_ = format == LayerInformationFormat::kJSON ? engineJson(plan, profile()) : engineText(plan, profile());
    return text_.c_str();
  });
}

}  // namespace camshaft::api
