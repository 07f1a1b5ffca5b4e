// The run-time half of the backend boundary: where memory lives and which kernels run there.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backend/launch.h"

namespace camshaft {

// A backend's run-time half: its kernels, found by name when an engine is loaded.
struct RuntimeBackend {
  std::string_view name;  // the prefix of its kernels' names
  const RuntimeKernel* (*find)(std::string_view kernel);
  std::string (*describeDevice)();  // "AMD EPYC ..., 8 cores, avx512f": for logs and cache keys
};

// All backends linked in or loaded, in order of preference (backends.cpp).
std::span<const RuntimeBackend* const> runtimeBackends();
const RuntimeKernel* findRuntimeKernel(std::string_view kernel);

}  // namespace camshaft
