#include "backends/cpu/gemm_int8/quantize.h"

#include <algorithm>

#include "backends/cpu/pointwise/byte_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_int8/quantize.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE {

using namespace camshaft::cpu::HWY_NAMESPACE;  // loadFirst, storeFirst

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

// Comparisons that are false for NaN pass it over.
Range findRange(const float* x, int64_t count) {
  const F32 d;
  const int64_t lanes = hn::Lanes(d);
  VF32 low = hn::Zero(d), high = low, lowToo = low, highToo = low;
  const auto take = [&](VF32 v, VF32& least, VF32& most) HWY_ATTR {
    least = hn::IfThenElse(hn::Lt(v, least), v, least);
    most = hn::IfThenElse(hn::Gt(v, most), v, most);
  };
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    take(hn::LoadU(d, x + i), low, high);
    take(hn::LoadU(d, x + i + lanes), lowToo, highToo);
  }
  for (; i < count; i += lanes) take(loadFirst(d, x + i, std::min(lanes, count - i)), low, high);
  low = hn::Min(low, lowToo);
  high = hn::Max(high, highToo);
  return {hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
}

}  // namespace camshaft::cpu::gemm_int8::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::gemm_int8 {

HWY_EXPORT(findRange);

Range rangeOf(const float* x, int64_t count) { return HWY_DYNAMIC_DISPATCH(findRange)(x, count); }

void quantize(const float* x, int64_t count, float scale, uint8_t zero, uint8_t* to) {
  using pointwise::ByteOperand;
  const pointwise::ByteResult result{.quotient = {.divisor = scale}, .bounds = {zero, 0, 255, 0}};
  pointwise::byteRowFunction(ByteOperand::kFloats, ByteOperand::kNone)(
      result, {.x = x, .out = to, .count = count});
}

}  // namespace camshaft::cpu::gemm_int8
#endif  // HWY_ONCE
