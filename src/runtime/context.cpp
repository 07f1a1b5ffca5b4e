#include "runtime/context.h"

#include "support/error.h"

namespace camshaft {

Context::Context(std::shared_ptr<const LoadedEngine> engine, int threads, ArenaOwner arenaOwner)
    : Context(std::move(engine), std::make_unique<ThreadPool>(threads), arenaOwner) {}

Context::Context(std::shared_ptr<const LoadedEngine> engine, std::unique_ptr<ThreadPool> threads,
                 ArenaOwner arenaOwner)
    : Context(std::move(engine), std::move(threads), nullptr, arenaOwner) {}

Context::Context(std::shared_ptr<const LoadedEngine> engine, ThreadPool& threads,
                 ArenaOwner arenaOwner)
    : Context(std::move(engine), nullptr, &threads, arenaOwner) {
  memory_.trustAddresses();
}

Context::Context(std::shared_ptr<const LoadedEngine> engine, std::unique_ptr<ThreadPool> own,
                 ThreadPool* threads, ArenaOwner arenaOwner)
    : engine_(std::move(engine)),
      ownThreads_(std::move(own)),
      sizes_(engine_->plan(), 0),
      memory_(*engine_, sizes_, arenaOwner),
      launcher_(*engine_, sizes_, memory_, ownThreads_ ? *ownThreads_ : *threads) {
  if (lacksWeights(engine_->plan()))
    fail(ErrorKind::kInvalidArgument,
         "the engine was stripped of its weights; refit it before it runs, with IRefitter or, from "
         "the model, IParserRefitter");
  if (DeviceWeights* weights = engine_->deviceWeights()) {
    weightsUse_ = weights->use();
    weights->load();
  }
  setProfile(0);
}

Context::~Context() {
  if (device()) device()->makeCurrent();
}

// Where anything fails, the context goes on with the profile and shapes it had.
void Context::setProfile(int profile) {
  const Plan& plan = engine_->plan();
  if (profile < 0 || profile >= static_cast<int>(plan.profiles.size()))
    fail(ErrorKind::kInvalidArgument, "profile ", profile, " does not exist; the engine has ",
         plan.profiles.size());
  if (device()) device()->makeCurrent();
  Sizes sizes(plan, profile);
  sizes.resolve();
  Launcher::ProfileSteps steps = launcher_.stepsOf(profile);
  memory_.setProfile(sizes.plan());  // the last that may fail
  sizes_ = std::move(sizes);
  launcher_.setProfile(std::move(steps));
}

bool Context::hasBranches() {
  sizes_.resolve();
  return launcher_.hasBranches();
}

void Context::readShapeInputs() {
  const std::vector<IoTensor>& inputs = engine_->plan().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const void* data = memory_.inputAddress(static_cast<int>(i));
    const size_t count = inputs[i].valueSlots.size();
    if (count == 0 || !data) continue;
    std::vector<int64_t> values(count);
    for (size_t v = 0; v < count; ++v)
      values[v] = inputs[i].tensor.type == DataType::kI32 ? static_cast<const int32_t*>(data)[v]
                                                          : static_cast<const int64_t*>(data)[v];
    sizes_.setInputValues(static_cast<int>(i), values);
  }
}

bool Context::allShapeInputsRead() const {
  const std::vector<IoTensor>& inputs = engine_->plan().inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].valueSlots.empty() && !sizes_.hasInputValues(static_cast<int>(i))) return false;
  return true;
}

void Context::run(void* stream) {
  readShapeInputs();
  sizes_.resolve();
  if (device()) device()->makeCurrent();
  memory_.reserveArenas();
  sizes_.checkInputs();
  memory_.checkAddresses();
  try {
    launcher_.run(stream);
    memory_.endRun(stream);
  } catch (...) {
    launcher_.abandonRun(stream);
    memory_.endRun(stream);
    try {
      sizes_.forgetBound();  // they are those of a run that did not happen
    } catch (...) {          // the next run resolves them, and reports
    }
    throw;
  }
}

}  // namespace camshaft
