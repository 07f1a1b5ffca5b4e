// Runs the bodies of one If or Loop step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/loaded_engine.h"
#include "runtime/loop_values.h"
#include "runtime/observer.h"
#include "support/function_ref.h"
#include "support/log.h"

namespace camshaft {

class Context;
class ThreadPool;

// What a context keeps for such a step: a context for each body, and the values of a loop. Bodies
// on a device are led by the host: it reads what decides their course and queues what is chosen. A
// loop whose body leaves the condition alone is queued without waiting for it.
class BodyRunner {
 public:
  BodyRunner(const LoadedEngine& engine, const Step& step, ThreadPool& threads, const Log& log);
  ~BodyRunner();

  void setObserver(const Observer* observer) { observer_ = observer; }  // of the bodies' tensors

  // Inputs lie where readsOnHost() says, and those on the host are there already. The workspace is
  // the arena of bodies on a device.
  void run(const LaunchArgs& args, const BodyResults& results);

 private:
  using Place = FunctionRef<void*(size_t output, int64_t bytes)>;

  Context& contextOf(size_t body);
  void runIf(const LaunchArgs& args, const BodyResults& results);
  void runLoop(const LaunchArgs& args, const BodyResults& results);
  void runBody(Context& body, const LaunchArgs& args, Place place);
  void placeOutputs(Context& body);
  void* placeCondition(int64_t bytes);
  bool readCondition(void* stream);
  const void* iterationForBody(void* stream);

  const LoadedEngine& engine_;
  const Step& step_;
  ThreadPool& threads_;
  const Log& log_;
  const Observer* observer_ = nullptr;
  Device* device_;                                  // of the bodies; null: the host
  std::vector<std::unique_ptr<Context>> contexts_;  // by body, made when first needed
  const Place* place_ = nullptr;                    // where the running body's outputs go
  LoopValues values_;
  int64_t iteration_ = 0, firstNumber_ = 0;
  DeviceBuffer numbers_;  // iterations from firstNumber_ on, for copies to the device
  DeviceBuffer condition_, conditionOnHost_;
};

}  // namespace camshaft
