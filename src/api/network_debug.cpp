// Tensors that runs show to a listener.
#include "api/network.h"

namespace camshaft::api {

using nvinfer1::ITensor;

bool Network::markDebug(ITensor& tensor) noexcept {
  return guarded(reporter_, false, [&] {
    own(tensor)->setDebug(true);
    return true;
  });
}

bool Network::unmarkDebug(ITensor& tensor) noexcept {
  return guarded(reporter_, false, [&] {
    own(tensor)->setDebug(false);
    return true;
  });
}

bool Network::isDebugTensor(const ITensor& tensor) const noexcept {
  return guarded(reporter_, false, [&] { return own(const_cast<ITensor&>(tensor))->isDebug(); });
}

bool Network::markUnfusedTensorsAsDebugTensors() noexcept { return marksUnfused_ = true; }

bool Network::unmarkUnfusedTensorsAsDebugTensors() noexcept {
  marksUnfused_ = false;
  return true;
}

}  // namespace camshaft::api
