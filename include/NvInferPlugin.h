#pragma once

// Plugins that come with the library.

#include "NvInfer.h"
#include "NvInferPluginUtils.h"

// Registers them under a namespace. There are none: what TensorRT's plugins compute, models say
// with operators. True.
extern "C" CAMSHAFT_API bool initLibNvInferPlugins(void* logger, const char* libNamespace);
