// Build half: which nodes the CPU computes in 16 bits, where the build allows it.
#pragma once

#include "backend/kernel.h"
#include "ir/graph.h"

namespace camshaft::cpu {

// Both types are taken as bf16 where the CPU has matrix units for it, and f16 as itself where its
// vectors have twice as many f16 as f32. Tensors are stored in bf16 where AMX reads them in place;
// elsewhere, as measured on Neoverse V1, converting costs more than their size.
// CAMSHAFT_TEST_BF16_TENSORS=1 stores them wherever bf16 products are, for tests.
Gain16 gain16(bool allowF16, bool allowBf16);

// Whether there is a kernel for the node's f32 work in bf16.
bool worksInBf16(const Node& node);

}  // namespace camshaft::cpu
