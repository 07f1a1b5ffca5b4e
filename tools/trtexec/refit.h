// Other weights for an engine.
#pragma once

#include "NvInfer.h"
#include "options/options.h"
#include "report.h"

namespace trtexec {

// --refitFromOnnx, --timeRefit and --dumpRefit; throws when the library has logged why not.
void refit(nvinfer1::ICudaEngine& engine, const Options& options, ConsoleLogger& log);

}  // namespace trtexec
