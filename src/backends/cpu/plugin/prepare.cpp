#include "backend/plugin_kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/plugin/params.h"

namespace camshaft::cpu::plugin {

KernelList kernels() {
  static const Kernel kKernels[] = {pluginKernel(kName)};
  return kKernels;
}

}  // namespace camshaft::cpu::plugin
