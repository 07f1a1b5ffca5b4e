// What both halves of the kernel agree on; its parameters are the plugin's own.
#pragma once

namespace camshaft::cuda::plugin {

inline constexpr char kName[] = "cuda/plugin";

}  // namespace camshaft::cuda::plugin
