// Sliding windows as device code has them (device/windows.cuh).
#pragma once

#include "backends/cuda/codegen/kernel_text.h"
#include "ops/window.h"
#include "support/text.h"

namespace camshaft::cuda {

inline std::string windowText(const Window& window) {
  return str("Window<", window.kernel, ", ", window.stride, ", ", window.dilation, ", ",
             window.padBegin, ">");
}

// Defines the type Image: the windows of all spatial dimensions.
inline void printWindows(KernelText& kernel, const std::vector<Window>& windows) {
  kernel.include("device/coordinates.cuh");
  kernel.include("device/windows.cuh");
  std::string list;
  for (const Window& window : windows) list += str(list.empty() ? "" : ", ", windowText(window));
  kernel.functions += str("using Image = Windows<", list, ">;\n");
}

}  // namespace camshaft::cuda
