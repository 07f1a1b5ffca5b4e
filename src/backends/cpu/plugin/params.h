// What both halves of the kernel agree on; its parameters are the plugin's own.
#pragma once

namespace camshaft::cpu::plugin {

inline constexpr char kName[] = "cpu/plugin";

}  // namespace camshaft::cpu::plugin
