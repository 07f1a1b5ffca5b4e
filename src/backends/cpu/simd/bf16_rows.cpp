#include "backends/cpu/simd/bf16_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/bf16_rows.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::HWY_NAMESPACE {

void widen(const BFloat16* from, int64_t count, float* to) { convertRow<false>(from, count, to); }
void narrow(const float* from, int64_t count, BFloat16* to) {
  mayNarrowByUnit() ? convertRow<true>(from, count, to) : convertRow<false>(from, count, to);
}

}  // namespace camshaft::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu {

HWY_EXPORT(widen);
HWY_EXPORT(narrow);

void widenRow(const BFloat16* from, int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(widen)(from, count, to);
}
void narrowRow(const float* from, int64_t count, BFloat16* to) {
  HWY_DYNAMIC_DISPATCH(narrow)(from, count, to);
}

}  // namespace camshaft::cpu
#endif  // HWY_ONCE
