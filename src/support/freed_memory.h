// What was freed, as the C library keeps it for allocations to come.
#pragma once

#include <cstdint>

namespace camshaft {

// Gives all of it back to the system; takes up to milliseconds.
void giveBackFreedMemory();

// Gives it back whenever much was freed. Blocks of many sizes that come and go would otherwise
// leave holes of all sizes, which take as much memory as what is in use.
class FreedMemory {
 public:
  void add(int64_t bytes) {
    constexpr int64_t kMuch = 16 << 20;
    if ((bytes_ += bytes) < kMuch) return;
    giveBackFreedMemory();
    bytes_ = 0;
  }

 private:
  int64_t bytes_ = 0;  // about, since it was given back last
};

}  // namespace camshaft
