// Ranges of tensors for builds that may use 8-bit integers.
#pragma once

#include "api/config.h"
#include "api/network.h"
#include "compiler/compile.h"

namespace camshaft::api {

// Those that the network's tensors were given, and for the others what the config's calibrator
// finds: from its cache, or by running the network on its batches, which the cache is then written
// of. None where kINT8 is not set, where the network says itself what is quantised, and for engines
// that can be refitted, whose weights a build cannot quantise; the log says so.
TensorRanges rangesFor(const Network& network, const BuilderConfig& config,
                       const CompileOptions& options, bool isRefittable);

}  // namespace camshaft::api
