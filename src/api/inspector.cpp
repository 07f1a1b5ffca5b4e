#include "api/inspector.h"

#include "api/context.h"
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

// With a context, the step with its dimensions as they are for the current input shapes.
Step EngineInspector::shown(Step step) const {
  if (!context_) return step;
  const Context& context = static_cast<const ExecutionContext*>(context_)->context();
  for (std::vector<Operand>* operands : {&step.inputs, &step.outputs})
    for (Operand& operand : *operands)
      for (DimRef& dim : operand.tensor.dims)
        if (const int64_t size = context.sizeOf(dim); size >= 0) dim = {.constant = size};
  return step;
}

const char* EngineInspector::getLayerInformation(int32_t index,
                                                 LayerInformationFormat format) const noexcept {
  return guarded<const char*>(reporter_, nullptr, [&] {
    const std::vector<Step>& steps = profile().steps;
    if (index < 0 || static_cast<size_t>(index) >= steps.size())
      fail(ErrorKind::kInvalidArgument, "there is no layer ", index, "; the engine has ",
           steps.size());
    const Plan& plan = engine_->plan();
    text_ = format == LayerInformationFormat::kJSON ? layerJson(plan, shown(steps[index]))
                                                    : layerLine(plan, shown(steps[index]));
    return text_.c_str();
  });
}

const char* EngineInspector::getEngineInformation(LayerInformationFormat format) const noexcept {
  return guarded<const char*>(reporter_, nullptr, [&] {
    const Plan& plan = engine_->plan();
    ProfilePlan current = profile();
    for (Step& step : current.steps) step = shown(std::move(step));
    text_ = format == LayerInformationFormat::kJSON ? engineJson(plan, current)
                                                    : engineText(plan, current);
    return text_.c_str();
  });
}

}  // namespace camshaft::api
