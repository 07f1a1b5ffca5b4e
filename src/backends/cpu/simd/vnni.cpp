#include "backends/cpu/simd/vnni.h"

#include "backends/cpu/simd/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>

namespace camshaft::cpu {

namespace {

bool hasAvx512Vnni() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

// Not every compiler knows it by name.
bool hasAvxVnni() {
  unsigned a, b, c, d;
  constexpr unsigned kAvxVnni = 1u << 4;
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
         (a & kAvxVnni) != 0;
}

}  // namespace

bool hasVnni(Vnni kind) {
  static const bool avx = hasAvxVnni(), avx512 = hasAvx512Vnni();
  return kind == Vnni::kNone || (kind == Vnni::kAvx ? avx : avx512);
}

Vnni vnniInUse() {
  const bool isAvx512 = isaName() == "avx512";
  if (isAvx512 && hasVnni(Vnni::kAvx512)) return Vnni::kAvx512;
  return (isAvx512 || isaName() == "avx2") && hasVnni(Vnni::kAvx) ? Vnni::kAvx : Vnni::kNone;
}

}  // namespace camshaft::cpu

#else

namespace camshaft::cpu {

bool hasVnni(Vnni kind) { return kind == Vnni::kNone; }
Vnni vnniInUse() { return Vnni::kNone; }

}  // namespace camshaft::cpu

#endif
