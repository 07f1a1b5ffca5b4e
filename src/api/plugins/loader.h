// Makes the plugins of engines, through the creators of a registry.
#pragma once

#include <memory>

#include "api/plugins/kernels.h"
#include "api/plugins/registry.h"

namespace camshaft::api {

// What it makes keeps the registry, which may have loaded the libraries it is from; the allocator
// is borrowed.
PluginLoader pluginLoader(std::shared_ptr<PluginRegistry> registry,
                          nvinfer1::IGpuAllocator* allocator, const Reporter& reporter);

}  // namespace camshaft::api
