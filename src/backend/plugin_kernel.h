// The build half of the kernel that launches a user's object, which is the same on every device.
#pragma once

#include "backend/kernel.h"
#include "ops/plugin.h"

namespace camshaft {

// A plugin node's tensors under the profile; throws where a size has no bound, which memory could
// be planned for.
PluginTensors pluginTensors(const Node& node, const BuildContext& context);

// "cpu/plugin", "cuda/plugin". Its run half is RuntimeKernel::isPlugin; a tactic of the plugin is a
// configuration.
Kernel pluginKernel(std::string_view name);

}  // namespace camshaft
