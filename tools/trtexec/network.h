// The model as a network, and what flags change in it.
#pragma once

#include "NvInfer.h"
#include "options/options.h"
#include "report.h"

namespace trtexec {

// Parses the model and sets what flags say of its layers and tensors; throws what is wrong.
void fillNetwork(const Options& options, nvinfer1::INetworkDefinition& network, ConsoleLogger& log);

}  // namespace trtexec
