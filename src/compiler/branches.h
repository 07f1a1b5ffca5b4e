// Whether steps that do not need one another gain from running side by side.
#pragma once

#include "backend/device.h"
#include "plan/plan.h"
#include "support/log.h"

namespace camshaft {

// Runs each profile of a GPU's plan at its opt shapes, with its branches one after the other and
// side by side, and notes the faster way in the plan. Plans that need the host, or values of inputs
// to know their sizes, stay as they are.
void chooseBranches(Plan& plan, const DeviceWrapper& wrapDevice, const PluginLoader& loadPlugin,
                    const Log& log);

}  // namespace camshaft
