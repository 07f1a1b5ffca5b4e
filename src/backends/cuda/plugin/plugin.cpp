#include "backend/plugin_kernel.h"
#include "backends/cuda/families.h"
#include "backends/cuda/plugin/params.h"

namespace camshaft::cuda::plugin {

KernelList kernels() {
  static const Kernel kKernels[] = {pluginKernel(kName)};
  return kKernels;
}

}  // namespace camshaft::cuda::plugin
