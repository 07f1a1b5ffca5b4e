// The kernel families. Each folder has a build half (prepare*.cpp: what it supports, packing) that
// lists its kernels, best guess first and those that trade precision last, and a run half
// (launch*.cpp) that lists their launchers.
#pragma once

#include <span>

namespace camshaft {
struct Kernel;
struct RuntimeKernel;
}  // namespace camshaft

#define CAMSHAFT_CPU_FAMILIES(FAMILY) \
  FAMILY(pointwise)                   \
  FAMILY(move)                        \
  FAMILY(index)                       \
  FAMILY(gemm)                        \
  FAMILY(gemm_int8)                   \
  FAMILY(gemm_nbits)                  \
  FAMILY(conv)                        \
  FAMILY(pool)                        \
  FAMILY(reduce)                      \
  FAMILY(norm)                        \
  FAMILY(softmax)                     \
  FAMILY(attention)                   \
  FAMILY(sample)                      \
  FAMILY(im2col)                      \
  FAMILY(roi)                         \
  FAMILY(rnn)                         \
  FAMILY(select)                      \
  FAMILY(plugin)

namespace camshaft::cpu {

// cpu::gemm::kernels() and cpu::gemm::launchers(), and so on.
#define CAMSHAFT_DECLARE(family)              \
  namespace family {                          \
  std::span<const Kernel> kernels();          \
  std::span<const RuntimeKernel> launchers(); \
  }
CAMSHAFT_CPU_FAMILIES(CAMSHAFT_DECLARE)
#undef CAMSHAFT_DECLARE

}  // namespace camshaft::cpu
