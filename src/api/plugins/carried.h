// Libraries of plugins that an engine brings with it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "api/plugins/registry.h"
#include "plan/plan.h"

namespace camshaft::api {

// Where they may be put for the loader of the system, which takes files.
struct TemporaryFiles {
  nvinfer1::TempfileControlFlags flags;
  std::string folder;  // empty: that of the system
};

// A registry with their creators, which looks for others in `parent` and keeps it; `parent` itself
// where there are none. Throws Error naming the library that cannot be loaded.
std::shared_ptr<PluginRegistry> registryWith(std::span<const PluginLibrary> libraries,
                                             const std::shared_ptr<PluginRegistry>& parent,
                                             const TemporaryFiles& files);

}  // namespace camshaft::api
