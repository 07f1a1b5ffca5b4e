// What plugins of every version have of the engine that runs them.
#pragma once

#include <memory>

#include "api/report.h"
#include "backend/device.h"

namespace camshaft::api {

struct PluginResources {
  std::shared_ptr<const void> code;  // keeps the libraries that plugins come from
  nvinfer1::IGpuAllocator* allocator = nullptr;
  RecorderUse recorder;
};

}  // namespace camshaft::api
