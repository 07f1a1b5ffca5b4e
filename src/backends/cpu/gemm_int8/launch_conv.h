// Run half: convolution as a product of patches, gathered row by row, and filters.
#pragma once

#include <memory>
#include <span>

#include "backend/launch.h"

namespace camshaft::cpu::gemm_int8 {

std::shared_ptr<const void> loadConv(std::span<const std::byte> bytes);
bool fitsConv(const void* state, const LaunchArgs& args);
void launchConv(const void* state, const LaunchArgs& args);

}  // namespace camshaft::cpu::gemm_int8
