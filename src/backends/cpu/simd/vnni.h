// x86's vpdpbusd, which adds up four products of bytes.
#pragma once

namespace camshaft::cpu {

enum class Vnni { kNone, kAvx, kAvx512 };  // on vectors of 256 and of 512 bits

bool hasVnni(Vnni kind);

// The best that this CPU has and the instruction set in use (isa.h) allows.
Vnni vnniInUse();

}  // namespace camshaft::cpu
