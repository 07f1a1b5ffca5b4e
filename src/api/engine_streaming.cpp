// Weight streaming: how many bytes of weights stay on the device. On the CPU all weights lie in the
// host's memory anyway, so every budget is kept and none costs anything.
#include <algorithm>

#include "api/engine.h"

namespace camshaft::api {

int64_t Engine::getStreamableWeightsSize() const noexcept {
  if (!plan().streamsWeights) return 0;
  const DeviceWeights* weights = loaded_->deviceWeights();
  return weights ? weights->placement().streamableBytes()
                 : static_cast<int64_t>(plan().weights.size());
}

bool Engine::setWeightStreamingBudgetV2(int64_t bytes) noexcept {
  return guarded(reporter_, false, [&] {
    if (!plan().streamsWeights)
      fail(ErrorKind::kInvalidArgument,
           "the engine does not stream its weights; build it with BuilderFlag::kWEIGHT_STREAMING");
    if (bytes < 0)
      fail(ErrorKind::kInvalidArgument, "a budget of weights cannot be ", bytes, " bytes");
    if (DeviceWeights* weights = loaded_->deviceWeights())
      weights->setBudget(bytes);
    else
      hostBudget_ = bytes;
    return true;
  });
}

int64_t Engine::getWeightStreamingBudgetV2() const noexcept {
  if (!plan().streamsWeights) return 0;
  if (const DeviceWeights* weights = loaded_->deviceWeights()) return weights->placement().budget();
  const int64_t all = getStreamableWeightsSize();
  return hostBudget_ < 0 ? all : std::min(hostBudget_, all);
}

// The older pair: -1 asks for the automatic budget, 0 is no streaming.
bool Engine::setWeightStreamingBudget(int64_t bytes) noexcept {
  return setWeightStreamingBudgetV2(bytes == -1  ? getWeightStreamingAutomaticBudget()
                                    : bytes == 0 ? getStreamableWeightsSize()
                                                 : bytes);
}

int64_t Engine::getWeightStreamingBudget() const noexcept {
  const int64_t budget = getWeightStreamingBudgetV2();
  return budget == getStreamableWeightsSize() ? 0 : budget;
}

// What the device has memory for at this moment, beside the activations that an engine tells of.
int64_t Engine::getWeightStreamingAutomaticBudget() const noexcept {
  return guarded(reporter_, int64_t{0}, [&] {
    const DeviceWeights* weights = loaded_->deviceWeights();
    if (!plan().streamsWeights || !weights) return getStreamableWeightsSize();
    return weights->automaticBudget(getDeviceMemorySizeV2());
  });
}

int64_t Engine::getWeightStreamingScratchMemorySize() const noexcept {
  const DeviceWeights* weights = loaded_->deviceWeights();
  return weights ? weights->placement().scratchBytes() : 0;
}

}  // namespace camshaft::api
