// How to build, as the flags say.
#pragma once

#include "NvInfer.h"
#include "options/options.h"

namespace trtexec {

// Every flag that the library knows is passed on; what it refuses ends here, after its own words.
void fillConfig(const Options& options, nvinfer1::IBuilder& builder,
                nvinfer1::INetworkDefinition& network, nvinfer1::IBuilderConfig& config);

}  // namespace trtexec
