#include "api/inspector.h"

#include "api/context.h"
#include "engine/inspect.h"

namespace camshaft::api {

using namespace nvinfer1;

bool EngineInspector::setExecutionContext(const IExecutionContext* context) noexcept {
  return guarded(reporter_, false, [&] {
    std::weak_ptr<const Context> shapes;
    if (context) {
      shapes = static_cast<const ExecutionContext*>(context)->context();
      if (&shapes.lock()->engine() != engine_.get())
        fail(ErrorKind::kInvalidArgument,
             "the inspector was given a context of another engine than its own");
    }
    context_ = context;
    shapes_ = std::move(shapes);
    return true;
  });
}

const ProfilePlan& EngineInspector::profile() const {
  const std::shared_ptr<const Context> context = shapes_.lock();
  return engine_->plan().profiles[static_cast<size_t>(context ? context->profile() : 0)];
}

// With a context, the step with its dimensions as they are for the current input shapes.
Step EngineInspector::shown(Step step) const {
  const std::shared_ptr<const Context> context = shapes_.lock();
  if (!context) return step;
  const auto fill = [&](Operand& operand) {
    for (DimRef& dim : operand.tensor.dims)
      if (const int64_t size = context->sizeOf(dim); size >= 0) dim = {.constant = size};
  };
  for (std::vector<Operand>* operands : {&step.inputs, &step.outputs})
    for (Operand& operand : *operands) fill(operand);
  fill(step.workspace);
  return step;
}

const char* EngineInspector::getLayerInformation(int32_t index,
                                                 LayerInformationFormat format) const noexcept {
  return guarded<const char*>(reporter_, nullptr, [&] {
    requireKnown(format, "format of layer information");
    const std::vector<Step>& steps = profile().steps;
    if (index < 0 || static_cast<size_t>(index) >= steps.size())
      fail(ErrorKind::kInvalidArgument, "there is no layer ", index, "; the engine has ",
           steps.size());
    const Plan& plan = engine_->plan();
    text_ = format == LayerInformationFormat::kJSON
                ? layerJson(plan, profile(), shown(steps[index]))
                : layerLine(plan, shown(steps[index]));
    return text_.c_str();
  });
}

const char* EngineInspector::getEngineInformation(LayerInformationFormat format) const noexcept {
  return guarded<const char*>(reporter_, nullptr, [&] {
    requireKnown(format, "format of layer information");
    const Plan& plan = engine_->plan();
    ProfilePlan current = profile();
    for (Step& step : current.steps) step = shown(std::move(step));
    text_ = format == LayerInformationFormat::kJSON ? engineJson(plan, current)
                                                    : engineText(plan, current);
    return text_.c_str();
  });
}

}  // namespace camshaft::api
