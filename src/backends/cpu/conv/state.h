// Run half: what the launchers of convolutions share.
#pragma once

#include <memory>
#include <span>

#include "backend/launch.h"
#include "backends/cpu/conv/params.h"
#include "backends/cpu/gemm/epilogue_state.h"

namespace camshaft::cpu::conv {

struct State {
  ConvShape shape;
  EpilogueState epilogue;
};

std::shared_ptr<const void> load(std::span<const std::byte> params);

// Sizes of an image; inPixelStride is its number of channels.
ConvExtent extentOf(const TensorArg& image);

// Input, packed weights and output of one batch, whatever comes after them.
bool areImages(const LaunchArgs& args, bool mayBeBf16);

void launchTranspose(const void* state, const LaunchArgs& args);  // launch_transpose.cpp

}  // namespace camshaft::cpu::conv
