// The families of CUDA kernels, each a list for some operators (kernels.cpp says which).
#pragma once

#include "backend/kernel.h"

namespace camshaft::cuda {

namespace strided { KernelList kernels(); }  // elements that move by strides, and expressions of them

}  // namespace camshaft::cuda
