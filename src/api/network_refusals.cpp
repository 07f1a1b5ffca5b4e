// Marks that networks cannot have yet.
#include "api/network.h"

namespace camshaft::api {

using namespace nvinfer1;

namespace {

constexpr char kNoDebugTensors[] =
    "debug tensors are not available yet; mark the tensor as an output of the network";

}  // namespace

bool Network::markDebug(ITensor&) noexcept { return refused(reporter_, kNoDebugTensors, false); }

bool Network::unmarkDebug(ITensor&) noexcept { return refused(reporter_, kNoDebugTensors, false); }

bool Network::isDebugTensor(const ITensor&) const noexcept { return false; }

bool Network::markUnfusedTensorsAsDebugTensors() noexcept {
  return refused(reporter_, kNoDebugTensors, false);
}

bool Network::unmarkUnfusedTensorsAsDebugTensors() noexcept {
  return true;  // none are
}

}  // namespace camshaft::api
