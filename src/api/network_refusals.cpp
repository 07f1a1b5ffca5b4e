// Marks that networks cannot have yet.
#include "api/network.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

constexpr char kNoDebugTensors[] =
    "debug tensors are not available yet; mark the tensor as an output of the network";
constexpr char kNoRefit[] = "weights of engines cannot be refitted yet, so naming them has no use";

}  // namespace

bool Network::setWeightsName(Weights, const char*) noexcept {
  return refused(reporter_, kNoRefit, false);
}

bool Network::markDebug(ITensor&) noexcept { return refused(reporter_, kNoDebugTensors, false); }

bool Network::unmarkDebug(ITensor&) noexcept { return refused(reporter_, kNoDebugTensors, false); }

bool Network::isDebugTensor(const ITensor&) const noexcept { return false; }

bool Network::markWeightsRefittable(const char*) noexcept {
  return refused(reporter_, kNoRefit, false);
}

bool Network::unmarkWeightsRefittable(const char*) noexcept {
  return refused(reporter_, kNoRefit, false);
}

bool Network::areWeightsMarkedRefittable(const char*) const noexcept { return false; }

bool Network::markUnfusedTensorsAsDebugTensors() noexcept {
  return refused(reporter_, kNoDebugTensors, false);
}

bool Network::unmarkUnfusedTensorsAsDebugTensors() noexcept {
  return true;  // none are
}

}  // namespace camshaft::api
