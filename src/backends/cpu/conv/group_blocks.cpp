#include "backends/cpu/conv/group_blocks.h"

#include <algorithm>

#include "backends/cpu/gemm/partition.h"
#include "backends/cpu/parallel.h"
#include "support/thread_pool.h"

namespace camshaft::cpu {
namespace {

// Whether blocks lie within a group that they do not divide evenly.
bool areOfOneGroup(int64_t outputs) { return outputs > kGroupBlock && outputs % kGroupBlock != 0; }

int64_t blocksOf(int64_t channels) { return ceilDiv(channels, kGroupBlock); }

}  // namespace

bool groupedSupports(const ConvShape& shape) {
  const int64_t outputs = shape.outChannels / shape.groups,
                inputs = shape.inChannels / shape.groups;
  if (shape.groups == 1 || std::min(shape.inChannels, shape.outChannels) < kGroupBlock)
    return false;
  return outputs >= kGroupBlock || (kGroupBlock % outputs == 0 && inputs <= outputs);
}

int64_t groupBlocks(const ConvShape& shape) {
  const int64_t outputs = shape.outChannels / shape.groups;
  return areOfOneGroup(outputs) ? shape.groups * blocksOf(outputs) : blocksOf(shape.outChannels);
}

int64_t groupBlockChannel(const ConvShape& shape, int64_t block) {
  const int64_t outputs = shape.outChannels / shape.groups;
  if (!areOfOneGroup(outputs))
    return std::min(block * kGroupBlock, shape.outChannels - kGroupBlock);
  const int64_t perGroup = blocksOf(outputs);
  return block / perGroup * outputs +
         std::min(block % perGroup * kGroupBlock, outputs - kGroupBlock);
}

int64_t packedGroupedFloats(const ConvShape& shape) {
  return groupBlocks(shape) * patchFloats(shape) * kGroupBlock;
}

// [block][row][input channel of a group][tap][kGroupBlock]
void packGrouped(const ConvShape& shape, const float* weights, float* packed) {
  const int64_t inputs = shape.inChannels / shape.groups;
  const int64_t rows = shape.kernel[0], taps = shape.kernel[1];
  for (int64_t block = 0; block < groupBlocks(shape); ++block) {
    const float* channel = weights + groupBlockChannel(shape, block) * patchFloats(shape);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t input = 0; input < inputs; ++input)
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t lane = 0; lane < kGroupBlock; ++lane)
            *packed++ = channel[lane * patchFloats(shape) + (input * rows + row) * taps + tap];
  }
}

GroupTasks::GroupTasks(const ConvCall& call)
    : shape_(call.shape),
      lines_(call.extent.batch * call.outHeight()),
      blocks_(groupBlocks(call.shape)),
      parts_(ceilDiv(blocks_, kMostGroupBlocks)) {
  constexpr int64_t kTasksPerThread = 4;
  constexpr double kMultiplyAddsPerAddition = 4;
  const double work =
      static_cast<double>(call.outPixels() * kMostGroupBlocks * kGroupBlock * patchFloats(shape_)) /
      (kMultiplyAddsPerAddition * kWorthSharing);
  const int64_t most = std::min(lines_, ceilDiv(kTasksPerThread * call.pool.threads(), parts_));
  strips_ = std::clamp<int64_t>(static_cast<int64_t>(work), 1, most);
}

// Tasks that follow each other are of the same lines.
GroupTask GroupTasks::at(int64_t number) const {
  const int64_t part = number % parts_, strip = number / parts_;
  const int64_t first = part * blocks_ / parts_, end = (part + 1) * blocks_ / parts_;
  const auto endOf = [&](int64_t block) { return groupBlockChannel(shape_, block) + kGroupBlock; };
  return {.firstBlock = first,
          .endBlock = end,
          .channel = groupBlockChannel(shape_, first),
          .ownChannel = first == 0 ? 0 : endOf(first - 1),
          .endChannel = endOf(end - 1),
          .line = strip * lines_ / strips_,
          .endLine = (strip + 1) * lines_ / strips_};
}

}  // namespace camshaft::cpu
