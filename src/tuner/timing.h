// How long a launch takes.
#pragma once

#include "tuner/trial.h"

namespace camshaft {

// Milliseconds, as TrialRunner::measure() says.
double timeOnHost(const std::function<void()>& launch, const MeasureOptions& options);
double timeOnDevice(Device& device, void* stream, const std::function<void()>& launch,
                    const MeasureOptions& options);

}  // namespace camshaft
