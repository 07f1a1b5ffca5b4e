#include "backends/cpu/simd/isa.h"

#include "backends/cpu/simd/targets.h"
#include "hwy/highway.h"
#include "hwy/targets.h"

namespace camshaft::cpu {

namespace {

struct Isa {
  int64_t target;
  std::string_view name;
};

// Best first, as in Highway's own numbering. Versions differ in how many kinds of AVX-512 and NEON
// they tell apart; tiles and packed weights are the same for all of a kind.
constexpr Isa kIsas[] = {
#ifdef HWY_AVX3_SPR
    {HWY_AVX3_SPR, "avx512"},
#endif
#ifdef HWY_AVX3_ZEN4
    {HWY_AVX3_ZEN4, "avx512"},
#endif
    {HWY_AVX3_DL, "avx512"},
    {HWY_AVX3, "avx512"},
    {HWY_AVX2, "avx2"},
    {HWY_SSE4, "sse4"},
#ifdef HWY_NEON_BF16
    {HWY_NEON_BF16, "neon"},
#endif
    {HWY_NEON, "neon"},
#ifdef HWY_NEON_WITHOUT_AES
    {HWY_NEON_WITHOUT_AES, "neon"},
#endif
    {HWY_EMU128, "generic"},
    {HWY_SCALAR, "generic"},
};

int64_t runnableTargets() {
  // SupportedTargets() leaves out the static fallback on some CPUs; it always runs.
  return (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
}

int64_t& chosenTarget() {
  static int64_t target = [] {
    const int64_t runnable = runnableTargets();
    return runnable & -runnable;
  }();
  return target;
}

}  // namespace

std::string_view isaName() {
  for (const Isa& isa : kIsas) {
    if (isa.target == chosenTarget()) return isa.name;
  }
  return "generic";
}

std::vector<std::string_view> availableIsas() {
  const int64_t current = chosenTarget();
  hwy::SetSupportedTargetsForTest(0);
  std::vector<std::string_view> names;
  for (const Isa& isa : kIsas) {
    const bool isNew = names.empty() || names.back() != isa.name;
    if (isNew && (runnableTargets() & isa.target)) names.push_back(isa.name);
  }
  hwy::SetSupportedTargetsForTest(current);
  hwy::GetChosenTarget().Update(current);
  return names;
}

bool setIsa(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);
  const int64_t runnable = runnableTargets();
  bool found = false;
  for (const Isa& isa : kIsas) {
    if (isa.name == name && (runnable & isa.target)) {
      chosenTarget() = isa.target;
      found = true;
      break;
    }
  }
  hwy::SetSupportedTargetsForTest(chosenTarget());
  hwy::GetChosenTarget().Update(chosenTarget());
  return found;
}

bool hasAvx512Bf16() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0;
  return has;
#else
  return false;
#endif
}

}  // namespace camshaft::cpu
