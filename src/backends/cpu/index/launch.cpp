#include "backend/launch.h"

#include "backends/cpu/families.h"
#include "backends/cpu/index/element_walk.h"
#include "backends/cpu/index/indices.h"
#include "backends/cpu/index/launchers.h"
#include "backends/cpu/index/params.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"

namespace camshaft::cpu::index {

namespace {

// From a cell of the data, or zero where there is none: `cell` is -1.
void moveCell(std::byte* to, const std::byte* from, int64_t cell, size_t bytes) {
  if (cell >= 0)
    copyBytes(to, from + static_cast<size_t>(cell) * bytes, bytes);
  else
    std::memset(to, 0, bytes);
}

bool fitsGather(const void* state, const LaunchArgs& args) {
  const int axis = static_cast<int>(static_cast<const GatherParams*>(state)->axis);
  if (!hasOperands(args, 2) || !isIndex(args.inputs[1]) || axis >= args.inputs[0].rank)
    return false;
  const TensorArg &data = args.inputs[0], &y = args.outputs[0];
  return sameType(data, y) &&
         y.count() == volumeOf({countOf(data.dims, 0, axis), args.inputs[1].count(),
                                countOf(data.dims, axis + 1, data.rank)});
}

void launchGather(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const GatherParams*>(state);
  const int axis = static_cast<int>(params.axis);
  const TensorArg& data = args.inputs[0];
  requireAxis(data, axis);
  const Indices indices(args.inputs[1]);
  const int64_t outer = countOf(data.dims, 0, axis), size = data.dims[axis],
                count = args.inputs[1].count();
  const size_t cell = bytesOf(data.type, countOf(data.dims, axis + 1, data.rank));
  if (cell == 0) return;
  const std::byte* from = data.as<const std::byte>();
  std::byte* to = args.outputs[0].as<std::byte>();
  parallelItems(args.threads, outer * count, static_cast<double>(cell) / 16 + 3,
                [&](int64_t begin, int64_t end) {
                  int64_t base = begin / count * size, index = begin % count;
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t at = indices.position(index, size, params.zeroOutside);
                    moveCell(to + static_cast<size_t>(i) * cell, from, at < 0 ? -1 : base + at,
                             cell);
                    if (++index == count) index = 0, base += size;
                  }
                });
}

bool fitsGatherElements(const void*, const LaunchArgs& args) {
  return hasOperands(args, 2) && isIndex(args.inputs[1]) &&
         sameType(args.inputs[0], args.outputs[0]) && args.inputs[0].rank == args.inputs[1].rank &&
         sameSizes(args.inputs[1], args.outputs[0]);
}

void launchGatherElements(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const GatherParams*>(state);
  const int axis = static_cast<int>(params.axis);
  const TensorArg& data = args.inputs[0];
  const TensorArg& shape = args.inputs[1];
  requireAxis(data, axis);
  for (int i = 0; i < data.rank; ++i)
    if (i != axis && shape.dims[i] > data.dims[i])
      fail(ErrorKind::kInvalidArgument, "indices of sizes [", join(shape.shape(), ", "),
           "] reach outside of [", join(data.shape(), ", "), "]");
  if (shape.count() == 0) return;
  ElementWalk walk(shape, data, axis);
  walk.cut(/*areApart=*/false);
  const Indices indices(shape);
  const bool mayLieOutside = params.zeroOutside != 0;
  const int64_t size = walk.axisSize(), stride = walk.axisStride(), step = walk.runStep();
  constexpr double kWork = 4;  // for an element
  withWidth(bytesOf(data.type, 1), [&](auto element) {
    using T = decltype(element);
    const T* const from = data.as<T>();
    T* const to = args.outputs[0].as<T>();
    indices.visit([&](const auto* index) {
      parallelItems(
          args.threads, walk.slices(), kWork * static_cast<double>(shape.count() / walk.slices()),
          [&](int64_t begin, int64_t end) {
            walk.forEachRun(begin, end, [&](int64_t first, int64_t place, int64_t count) {
              for (int64_t i = 0; i < count; ++i) {
                const int64_t at = Indices::positionOf(index[first + i], size, mayLieOutside);
                to[first + i] = at < 0 ? T{} : from[place + i * step + at * stride];
              }
            });
          });
    });
  });
}

bool fitsGatherND(const void* state, const LaunchArgs& args) {
  const int64_t batchDims = static_cast<const GatherParams*>(state)->axis;
  if (!hasOperands(args, 2) || !isIndex(args.inputs[1])) return false;
  const TensorArg &data = args.inputs[0], &shape = args.inputs[1], &y = args.outputs[0];
  if (!sameType(data, y) || batchDims >= shape.rank) return false;
  const int64_t taken = batchDims + shape.dims[shape.rank - 1];
  return taken <= data.rank &&
         y.count() == volumeOf({countOf(shape.dims, 0, shape.rank - 1),
                                countOf(data.dims, static_cast<int>(taken), data.rank)});
}

void launchGatherND(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const GatherParams*>(state);
  const int batchDims = static_cast<int>(params.axis);
  const TensorArg& data = args.inputs[0];
  const TensorArg& shape = args.inputs[1];
  const Indices indices(shape);
  const int length = static_cast<int>(shape.dims[shape.rank - 1]);
  const int64_t tuples = countOf(shape.dims, 0, shape.rank - 1),
                batches = countOf(data.dims, 0, batchDims);
  if (countOf(shape.dims, 0, batchDims) != batches || batchDims + length > data.rank)
    fail(ErrorKind::kInvalidArgument, "indices of sizes [", join(shape.shape(), ", "),
         "] do not fit data of sizes [", join(data.shape(), ", "), "]");
  const size_t cell = bytesOf(data.type, countOf(data.dims, batchDims + length, data.rank));
  if (cell == 0 || tuples == 0) return;
  const std::byte* from = data.as<const std::byte>();
  std::byte* to = args.outputs[0].as<std::byte>();
  const int64_t tuplesPerBatch = tuples / batches;
  parallelItems(args.threads, tuples, static_cast<double>(cell) / 16 + 6,
                [&](int64_t begin, int64_t end) {
                  for (int64_t t = begin; t < end; ++t) {
                    int64_t source = t / tuplesPerBatch;
                    for (int i = 0; i < length && source >= 0; ++i) {
                      const int64_t size = data.dims[batchDims + i];
                      const int64_t at = indices.position(t * length + i, size, params.zeroOutside);
                      source = at < 0 ? -1 : source * size + at;
                    }
                    moveCell(to + static_cast<size_t>(t) * cell, from, source, cell);
                  }
                });
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/gather", loadParams<GatherParams>, launchGather, fitsGather},
    {"cpu/gather_elements", loadParams<GatherParams>, launchGatherElements, fitsGatherElements},
    {"cpu/gather_nd", loadParams<GatherParams>, launchGatherND, fitsGatherND},
    {"cpu/scatter_elements", loadParams<ScatterElementsParams>, launchScatterElements,
     fitsScatterElements},
    {"cpu/scatter_nd", loadParams<ScatterNDParams>, launchScatterND, fitsScatterND},
    {"cpu/one_hot", loadParams<OneHotParams>, launchOneHot, fitsOneHot},
    {"cpu/top_k", loadParams<TopKParams>, launchTopK, fitsTopK},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::index
