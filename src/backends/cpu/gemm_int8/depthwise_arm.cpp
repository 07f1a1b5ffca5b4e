// Depthwise sums by Arm's usdot and sdot. Compiled for CPUs that have them
// and run only on those: nothing here may be inline code of others, whose copy the linker could
// keep for everybody.
#include "backends/cpu/gemm_int8/depthwise.h"

#if defined(__ARM_FEATURE_MATMUL_INT8)
#include "backends/cpu/gemm_int8/depthwise_dots-inl.h"

namespace camshaft::cpu::gemm_int8 {

void sumDepthwiseWithMixedDots(const DepthwiseBlock& block) { sumWithDots(block); }

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

void sumDepthwiseWithMixedDots(const DepthwiseBlock&) {}  // never called where kPairs is no layout

}  // namespace camshaft::cpu::gemm_int8

#endif
