// The CUDA backend. Its build half is part of libcamshaft.so and needs no CUDA at all; its run half
// is libcamshaft_cuda.so, loaded when the machine has what it needs.
#pragma once

#include "backend/device.h"

namespace camshaft {
struct BuildBackend;
}

namespace camshaft::cuda {

const BuildBackend& buildBackend();  // kernels.cpp

}  // namespace camshaft::cuda
