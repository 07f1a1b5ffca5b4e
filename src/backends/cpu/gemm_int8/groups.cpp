#include "backends/cpu/gemm_int8/groups.h"

#include "backends/cpu/gemm_int8/depthwise.h"

namespace camshaft::cpu::gemm_int8 {

namespace {

// Whether the groups of so many neighbouring channels begin within as many quads of a pixel.
bool lieTogether(const ConvParams& params, int64_t filters, int64_t lanes) {
  const GroupBegins begins(params, filters);
  for (int64_t first = 0; first < filters; first += lanes)
    if (begins.at(first + lanes - 1) - begins.at(first) >= 4 * lanes) return false;
  return true;
}

}  // namespace

bool groupsSupported(const Layout& layout, const ConvParams& params, int64_t filters) {
  constexpr int64_t kLanesOfAvx2 = 8, kLanesOfAvx512 = 16;
  const int64_t channels = params.channels / params.groups, each = filters / params.groups;
  return layout.kind != Layout::Kind::kQuads && params.groups > 1 && channels > 0 &&
         channels % 4 == 0 && each > 0 && each % 4 == 0 &&
         lieTogether(params, filters, kLanesOfAvx2) && lieTogether(params, filters, kLanesOfAvx512);
}

}  // namespace camshaft::cpu::gemm_int8
