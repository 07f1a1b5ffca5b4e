// AMX's tile registers, for the kernels that multiply on them. Without a definition elsewhere than
// on Linux for x86-64.
#pragma once

namespace camshaft::cpu {

enum class AmxProduct { kBf16, kInt8 };

// In the CPU, and with the operating system's permission for the large registers.
bool hasAmx(AmxProduct product);

// Eight tiles of 16 rows of 64 bytes, for this thread, until they are released.
void configureTiles();
void releaseTiles();

}  // namespace camshaft::cpu
