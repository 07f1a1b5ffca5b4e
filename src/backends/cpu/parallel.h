// Shares work among threads when it is worth waking them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/thread_pool.h"

namespace camshaft::cpu {

// Work of one thread that is worth asking it, in additions of an element or so: some three
// microseconds. A loop of sixteen threads costs about one, so that larger pieces would leave most
// of them without any.
inline constexpr double kWorthSharing = 8192;

inline bool isWorthSharing(double work) { return work >= 2 * kWorthSharing; }

// Into how many parts to cut each of `units` equal pieces of work, at most `most`, so that threads
// do not wait long for one another. Few are better: each part costs something of its own.
inline int64_t partsOfUnits(int64_t units, int threads, int64_t most) {
  constexpr double kGoodShare = 0.9;  // of the threads' time
  double best = 0;
  int64_t parts = 1;
  for (int64_t p = 1; p <= most && best < kGoodShare; ++p) {
    const int64_t rounds = (units * p + threads - 1) / threads;
    const double share = static_cast<double>(units * p) / static_cast<double>(rounds * threads);
    if (share > best) best = share, parts = p;
  }
  return parts;
}

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
