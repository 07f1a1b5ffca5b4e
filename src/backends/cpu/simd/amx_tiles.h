// AMX's tile registers, for the kernels that multiply on them.
#pragma once

namespace camshaft::cpu {

enum class AmxProduct { kBf16, kInt8 };

// In the CPU, and with the operating system's permission for the large registers. Only on Linux for
// x86-64.
bool hasAmx(AmxProduct product);

// Eight tiles of 16 rows of 64 bytes, for this thread, until they are released.
void configureTiles();
void releaseTiles();

// Holds this thread's tile registers configured, where they are used at all. Scopes do not nest.
class TileScope {
 public:
  explicit TileScope(bool isUsed) : isUsed_(isUsed) {
    if (isUsed_) configureTiles();
  }
  ~TileScope() {
    if (isUsed_) releaseTiles();
  }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  const bool isUsed_;
};

}  // namespace camshaft::cpu
