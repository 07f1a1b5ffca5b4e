// Which instruction sets the CPU kernels are compiled for; included before Highway by every file
// that uses it, so that all of them dispatch over the same list (see isa.h).
//
// SSSE3 adds nothing over SSE4, and SVE's sizeless vectors cannot be held in arrays of
// accumulators, so Arm runs NEON.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE_256 | HWY_SVE2 | HWY_SVE2_128)
#endif
