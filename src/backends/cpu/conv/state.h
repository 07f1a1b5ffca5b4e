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

void launchTranspose(const void* state, const LaunchArgs& args);    // launch_transpose.cpp
void launchTranspose16(const void* state, const LaunchArgs& args);  // products in bf16
// Of shapes that give patches, one output line after another (launch_transpose_patches.cpp).
void transposePatches(const ConvShape& shape, const LaunchArgs& args, const Epilogue& epilogue,
                      bool is16);

}  // namespace camshaft::cpu::conv
