// Sums of depthwise convolutions and of groups by Arm's usdot and sdot. Compiled for CPUs
// that have them and run only on those: nothing here may be inline code of others, whose copy the
// linker could keep for everybody.
#include "backends/cpu/gemm_int8/depthwise.h"
#include "backends/cpu/gemm_int8/groups.h"

#if defined(__ARM_FEATURE_MATMUL_INT8)
#include "backends/cpu/gemm_int8/groups_dots-inl.h"

namespace camshaft::cpu::gemm_int8 {

void sumDepthwiseWithMixedDots(const DepthwiseBlock& block) { sumWithDots(block); }
void sumGroupsWithMixedDots(const GroupBlock& block) { sumGroupsByDots(block); }

}  // namespace camshaft::cpu::gemm_int8

#else

namespace camshaft::cpu::gemm_int8 {

// Never called where kPairs is no layout.
void sumDepthwiseWithMixedDots(const DepthwiseBlock&) {}
void sumGroupsWithMixedDots(const GroupBlock&) {}

}  // namespace camshaft::cpu::gemm_int8

#endif
