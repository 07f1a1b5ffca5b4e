// Waiting for another core without leaving one's own.
#pragma once

#include <chrono>
#include <cstdint>

namespace camshaft {

inline void relaxCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` is a no-op on most cores, `isb` is a short pause
#endif
}

// True as soon as done() is, false when it is still not after the given time.
template <class Done>
bool spinUntil(int64_t nanoseconds, const Done& done) {
  using Clock = std::chrono::steady_clock;
  if (done()) return true;
  const auto deadline = Clock::now() + std::chrono::nanoseconds(nanoseconds);
  do {
    for (int i = 0; i < 32; ++i) {
      relaxCpu();
      if (done()) return true;
    }
  } while (Clock::now() < deadline);
  return done();
}

}  // namespace camshaft
