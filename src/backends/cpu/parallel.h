// Shares work among threads when it is worth waking them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/thread_pool.h"

namespace camshaft::cpu {

// Work of one thread that is worth waking it, in additions of an element or so: some ten
// microseconds.
inline constexpr double kWorthSharing = 32768;

inline bool isWorthSharing(double work) { return work >= 2 * kWorthSharing; }

// Calls body(begin, end) for parts of [0, count), on the calling thread unless it is worth sharing.
template <class Body>
void parallelItems(ThreadPool* pool, int64_t count, double workPerItem, Body&& body) {
  if (count <= 0) return;
  if (!pool || !isWorthSharing(workPerItem * static_cast<double>(count)))
    return body(int64_t{0}, count);
  const int64_t grain =
      std::max<int64_t>(1, static_cast<int64_t>(kWorthSharing / std::max(workPerItem, 1.0)));
  pool->parallelFor(count, grain, [&](int64_t begin, int64_t end, int) { body(begin, end); });
}

}  // namespace camshaft::cpu
