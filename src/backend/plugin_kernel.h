// The build half of the kernel that launches a user's object, which is the same on every device.
#pragma once

#include "backend/kernel.h"

namespace camshaft {

// "cpu/plugin", "cuda/plugin". Its run half is RuntimeKernel::isPlugin; a tactic of the plugin is a
// configuration.
Kernel pluginKernel(std::string_view name);

}  // namespace camshaft
