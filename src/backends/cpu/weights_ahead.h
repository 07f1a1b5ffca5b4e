// Packed weights are read once in a run, from memory, in an order that is known. So kernels ask for
// them some way ahead of where they multiply, also across the border to the next step's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/thread_pool.h"

namespace camshaft::cpu {

inline constexpr int64_t kCacheLine = 64;

// What a worker reads from somewhere on: weights up to an end, and then others.
class WeightsAhead {
 public:
  // So far ahead, or two blocks: memory has time to answer, and L2 has room for it.
  static constexpr int64_t kBytes = 256 * 1024;

  WeightsAhead() = default;
  WeightsAhead(const void* end, std::span<const std::byte> next)
      : end_(reinterpret_cast<uintptr_t>(end)), next_(next) {}

  // What will be read when as much as a few blocks has been since `place`, where a block begins.
  // Null: nobody knows. It may end before a block does, since fetching cannot fault.
  const char* at(const void* place, int64_t blockBytes) const {
    if (blockBytes == 0) return nullptr;
    const int64_t blocks = std::max<int64_t>(2, kBytes / blockBytes);
    const uintptr_t ahead = reinterpret_cast<uintptr_t>(place) + blocks * blockBytes;
    if (ahead < end_) return reinterpret_cast<const char*>(ahead);
    const uintptr_t inNext = ahead - end_;
    if (inNext >= next_.size()) return nullptr;
    return reinterpret_cast<const char*>(next_.data()) + inNext;
  }

 private:
  uintptr_t end_ = 0;
  std::span<const std::byte> next_;
};

// A product in tasks that are shared out by columns, those of the same columns side by side.
class SharedWeights {
 public:
  // `columnBytes` are of the columns of a task, `bytes` of all.
  SharedWeights(const ThreadPool::Shares& shares, const void* weights, int64_t rowTasks,
                int64_t columnBytes, int64_t bytes, std::span<const std::byte> upcoming)
      : shares_(shares),
        weights_(static_cast<const std::byte*>(weights)),
        rowTasks_(rowTasks),
        columnBytes_(columnBytes),
        bytes_(bytes),
        upcoming_(upcoming) {}

  // From a task on. Rows that follow read the same columns again; only a worker's last task goes on
  // with what comes next, which is likely to be shared out like these.
  WeightsAhead from(int64_t task, int worker) const {
    const int64_t end = shares_.endOf(worker);
    if (task >= end) return {};  // another worker's
    const bool isLast = task + 1 == end;
    const int64_t lastTask = rowTasks_ == 1 ? end - 1 : task;
    const int64_t endByte = std::min(bytes_, (lastTask / rowTasks_ + 1) * columnBytes_);
    return {weights_ + endByte, isLast || rowTasks_ == 1 ? shareOf(worker) : Bytes()};
  }

 private:
  using Bytes = std::span<const std::byte>;
  Bytes shareOf(int worker) const {
    worker = std::min(worker, shares_.workers - 1);  // a loop inside of another has one, any
    const auto size = static_cast<int64_t>(upcoming_.size());
    const int64_t begin = size * worker / shares_.workers / kCacheLine * kCacheLine;
    return upcoming_.subspan(begin, size * (worker + 1) / shares_.workers - begin);
  }

  const ThreadPool::Shares& shares_;
  const std::byte* weights_;
  const int64_t rowTasks_, columnBytes_, bytes_;
  const Bytes upcoming_;
};

}  // namespace camshaft::cpu
