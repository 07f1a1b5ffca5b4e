// Other weights for an engine.
#pragma once

#include "NvInfer.h"
#include "options/options.h"
#include "report.h"

namespace trtexec {

// Whether it cannot run before a refit has set its weights.
bool lacksWeights(const nvinfer1::ICudaEngine& engine);

// --refitFromOnnx, --timeRefit and --dumpRefit, and the model's own weights for an engine that was
// stripped of them; throws when the library has logged why not.
void refit(nvinfer1::ICudaEngine& engine, const Options& options, ConsoleLogger& log);

}  // namespace trtexec
