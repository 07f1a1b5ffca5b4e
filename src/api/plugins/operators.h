// What plugins of every version do alike while an engine is built.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/plugins/params.h"
#include "ops/plugin.h"
#include "support/error.h"

namespace camshaft::api {

// Builds tell plugins, and remember their timings, by it: with an identity of its user's a plugin
// is known again, without one it is like no other.
std::string labelOf(const PluginName& name, const char* identity);

std::vector<nvinfer1::DataType> typesOf(std::span<const TensorType> tensors);
// Throw where an object's answer makes no sense.
size_t requireOutputs(const PluginName& name, int32_t count);
DataType requireType(const PluginName& name, size_t output, nvinfer1::DataType type);
void requireSizeTensors(const PluginName& name, const PluginResults& results);

// f(), whose errors then name the plugin.
template <class F>
void naming(const PluginName& name, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    fail(error.kind(), "plugin ", toString(name), " failed: ", error.message());
  }
}

// Why a plugin does not take linear tensors of these types: the first position that
// supports(position) says no to. Inputs are counted first.
std::string whyUnsupported(const PluginTensors& tensors,
                           const std::function<bool(int32_t position)>& supports);

}  // namespace camshaft::api
