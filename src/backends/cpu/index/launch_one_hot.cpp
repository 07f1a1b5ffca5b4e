#include <algorithm>

#include "backends/cpu/index/indices.h"
#include "backends/cpu/index/launchers.h"
#include "backends/cpu/index/params.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"

namespace camshaft::cpu::index {

bool fitsOneHot(const void* state, const LaunchArgs& args) {
  const int64_t axis = static_cast<const OneHotParams*>(state)->axis;
  if (!hasOperands(args, 2) || !isIndex(args.inputs[0]) || axis >= args.outputs[0].rank)
    return false;
  const TensorArg &values = args.inputs[1], &y = args.outputs[0];
  return sameType(values, y) && values.count() == 2 &&
         y.count() == volumeOf({args.inputs[0].count(), y.dims[axis]});
}

void launchOneHot(const void* state, const LaunchArgs& args) {
  const int axis = static_cast<int>(static_cast<const OneHotParams*>(state)->axis);
  const TensorArg& y = args.outputs[0];
  requireAxis(y, axis);
  const Indices indices(args.inputs[0]);
  const size_t width = bytesOf(y.type, 1);
  const std::byte* off = args.inputs[1].as<const std::byte>();
  std::byte* to = y.as<std::byte>();
  const int64_t outer = countOf(y.dims, 0, axis), depth = y.dims[axis],
                inner = countOf(y.dims, axis + 1, y.rank);
  parallelItems(
      args.threads, outer, static_cast<double>(depth * inner), [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) {
          std::byte* block = to + static_cast<size_t>(o * depth * inner) * width;
          for (int64_t i = 0; i < depth * inner; ++i)
            copyBytes(block + static_cast<size_t>(i) * width, off, width);
          for (int64_t i = 0; i < inner; ++i) {
            const int64_t index = indices[o * inner + i], hot = index < 0 ? index + depth : index;
            if (hot < 0 || hot >= depth) continue;  // no element is on
            copyBytes(block + static_cast<size_t>(hot * inner + i) * width, off + width, width);
          }
        }
      });
}

}  // namespace camshaft::cpu::index
