// How the output channels of a convolution of groups are packed and divided among workers: in
// blocks of as many as the longest vector has, each of whole groups or within one.
#pragma once

#include <cstdint>

#include "backends/cpu/conv/algorithms.h"

namespace camshaft::cpu {

inline constexpr int64_t kGroupBlock = 16;
inline constexpr int64_t kMostGroupBlocks = 4;  // that a worker computes at a time

int64_t groupBlocks(const ConvShape& shape);
// Its first output channel. Blocks overlap where they would not end with a group, or the channels.
int64_t groupBlockChannel(const ConvShape& shape, int64_t block);

// Blocks of lines [line, endLine), counted over all images.
struct GroupTask {
  int64_t firstBlock, endBlock;
  int64_t channel;                 // the first of these blocks
  int64_t ownChannel, endChannel;  // those that no task before it has
  int64_t line, endLine;
};

class GroupTasks {
 public:
  explicit GroupTasks(const ConvCall& call);

  int64_t count() const { return strips_ * parts_; }
  GroupTask at(int64_t number) const;

 private:
  const ConvShape& shape_;
  int64_t lines_, blocks_;
  int64_t parts_, strips_;
};

}  // namespace camshaft::cpu
