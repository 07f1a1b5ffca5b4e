#include "runtime/context.h"

#include "support/error.h"

namespace camshaft {

Context::Context(std::shared_ptr<const LoadedEngine> engine, int threads, ArenaOwner arenaOwner)
    : Context(std::move(engine), std::make_unique<ThreadPool>(threads), nullptr, arenaOwner) {}

Context::Context(std::shared_ptr<const LoadedEngine> engine, ThreadPool& threads,
                 ArenaOwner arenaOwner)
    : Context(std::move(engine), nullptr, &threads, arenaOwner) {}

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

void Context::run(void* stream) {
  sizes_.resolve();
  if (device()) device()->makeCurrent();
  memory_.reserveArenas();
  sizes_.checkInputs();
  memory_.checkAddresses();
  try {
    launcher_.run(stream);
  } catch (...) {
    launcher_.abandonRun(stream);
    try {
      sizes_.forgetBound();  // they are those of a run that did not happen
    } catch (...) {          // the next run resolves them, and reports
    }
    throw;
  }
}

}  // namespace camshaft
