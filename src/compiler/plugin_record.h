// Plugins of engines that can be refitted. What a user's object says while the engine is built is
// noted, and a refit, which builds the same plan again and has no such object, hears the same.
#pragma once

#include <map>

#include "ops/plugin.h"
#include "plan/plan.h"

namespace camshaft {

// The plugin, with its answers noted in `record`, which outlives it.
std::shared_ptr<const PluginOp> recordingPlugin(std::shared_ptr<const PluginOp> plugin,
                                                PluginRecord& record);

// What plugins gave an engine to keep is in its steps; the record has a hash of it.
using PluginParamsByHash = std::map<uint64_t, std::span<const std::byte>>;
PluginParamsByHash pluginParamsOf(const Plan& plan);

// One that says again what the record has, and throws where it was not asked that.
std::shared_ptr<const PluginOp> recordedPlugin(PluginRecord record, PluginParamsByHash params);

}  // namespace camshaft
