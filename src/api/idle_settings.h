// Settings of a config that change nothing in a build of ours.
#pragma once

#include "api/config.h"
#include "support/log.h"

namespace camshaft::api {

// A line for each that is set, with the reason.
void logIdleSettings(const BuilderConfig& config, const Log& log);

}  // namespace camshaft::api
