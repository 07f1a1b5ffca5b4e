// Depthwise sums by Arm's sdot alone. Compiled for CPUs that have them
// and run only on those: nothing here may be inline code of others, whose copy the linker could
// keep for everybody.
#include "backends/cpu/gemm_int8/depthwise.h"

#if defined(__ARM_FEATURE_DOTPROD)
#include "backends/cpu/gemm_int8/depthwise_dots-inl.h"

namespace camshaft::cpu::gemm_int8 {

void sumDepthwiseWithDots(const DepthwiseBlock& block) { sumWithDots(block); }

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

void sumDepthwiseWithDots(const DepthwiseBlock&) {}  // never called where kPanels is no layout

}  // namespace camshaft::cpu::gemm_int8

#endif
