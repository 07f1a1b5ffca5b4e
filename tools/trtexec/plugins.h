// Libraries of plugins.
#pragma once

#include "options/options.h"
#include "report.h"

namespace trtexec {

// Loads them for as long as the process lives; throws what is wrong.
void loadPlugins(const SystemOptions& system, ConsoleLogger& log);

}  // namespace trtexec
