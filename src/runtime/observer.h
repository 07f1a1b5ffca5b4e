// Who looks at tensors while an engine runs.
#pragma once

#include <functional>

#include "backend/launch.h"
#include "plan/plan.h"

namespace camshaft {

// Called by kObserve steps, also those in bodies, whenever the tensor was written. `onDevice`: it
// is in the device's memory, and there once the stream gets there. What is queued on the stream by
// the time it returns sees this value. Throws Error to end the run.
using Observer = std::function<void(const ObservedTensor& tensor, const TensorArg& value,
                                    bool onDevice, void* stream)>;

}  // namespace camshaft
