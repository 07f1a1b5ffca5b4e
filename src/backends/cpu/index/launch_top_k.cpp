#include <algorithm>
#include <numeric>

#include "backends/cpu/index/indices.h"
#include "backends/cpu/index/launchers.h"
#include "backends/cpu/index/params.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"

namespace camshaft::cpu::index {

namespace {

// Rows [begin, end) of [outer, size, inner], with room for `size` positions.
struct TopK {
  const LaunchArgs& args;
  bool largest;
  int64_t size, k, inner;

  template <class T>
  void rows(int64_t begin, int64_t end, int64_t* order) const {
    for (int64_t row = begin; row < end; ++row) {
      const T* x = args.inputs[0].as<T>() + row / inner * size * inner + row % inner;
      const int64_t at = row / inner * k * inner + row % inner;
      // NaN counts as larger than every number; of equal elements the earlier comes first.
      const auto less = [](T a, T b) { return b != b ? a == a : a < b; };
      const auto before = [&](int64_t a, int64_t b) {
        const T first = x[a * inner], second = x[b * inner];
        if (largest ? less(second, first) : less(first, second)) return true;
        if (largest ? less(first, second) : less(second, first)) return false;
        return a < b;
      };
      std::iota(order, order + size, int64_t{0});
      if (k < size) std::nth_element(order, order + k, order + size, before);
      std::sort(order, order + k, before);
      for (int64_t i = 0; i < k; ++i) {
        args.outputs[0].as<T>()[at + i * inner] = x[order[i] * inner];
        args.outputs[1].as<int64_t>()[at + i * inner] = order[i];
      }
    }
  }
};

}  // namespace

bool fitsTopK(const void* state, const LaunchArgs& args) {
  const int64_t axis = static_cast<const TopKParams*>(state)->axis;
  if (!hasOperands(args, 1, 2) || worksInPlace(args)) return false;
  const TensorArg &x = args.inputs[0], &values = args.outputs[0], &positions = args.outputs[1];
  return (isF32(x) || isIndex(x)) && sameType(x, values) && positions.type == DataType::kI64 &&
         sameSizes(x, values, axis) && sameSizes(values, positions);
}

void launchTopK(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const TopKParams*>(state);
  const TensorArg& x = args.inputs[0];
  requireAxis(x, params.axis);
  const int64_t k = args.outputs[0].dims[params.axis], size = x.dims[params.axis];
  if (k < 0 || k > size)
    fail(ErrorKind::kInvalidArgument, "the ", k, " best of ", size, " elements were asked for");
  if (args.outputs[0].count() == 0) return;
  const TopK topK{args, params.largest != 0, size, k, countOf(x.dims, params.axis + 1, x.rank)};
  const int64_t rows = x.count() / size,
                rooms = args.workspaceBytes / (size * static_cast<int64_t>(sizeof(int64_t)));
  CAMSHAFT_CHECK(rooms >= 1, args.workspaceBytes, " bytes of workspace");
  // Each part of the rows has room of its own in the workspace, whoever works on it.
  const int64_t parts = std::min(rows, rooms);
  parallelItems(args.threads, parts,
                10.0 * static_cast<double>(size * rows) / static_cast<double>(parts),
                [&](int64_t begin, int64_t end) {
                  for (int64_t part = begin; part < end; ++part) {
                    int64_t* order = reinterpret_cast<int64_t*>(args.workspace) + part * size;
                    const int64_t first = rows * part / parts, last = rows * (part + 1) / parts;
                    if (x.type == DataType::kF32)
                      topK.rows<float>(first, last, order);
                    else if (x.type == DataType::kI32)
                      topK.rows<int32_t>(first, last, order);
                    else
                      topK.rows<int64_t>(first, last, order);
                  }
                });
}

}  // namespace camshaft::cpu::index
