// The one registry of plugins.
#pragma once

#include "NvInferRuntimeCommon.h"

namespace camshaft::api {

nvinfer1::IPluginRegistry& pluginRegistry();

}  // namespace camshaft::api
