#include "backends/cpu/index/indices.h"
#include "backends/cpu/index/launchers.h"
#include "backends/cpu/index/params.h"
#include "backends/cpu/operands.h"

namespace camshaft::cpu::index {

namespace {

// The data as it was, unless it is updated in place.
std::byte* startFromData(const LaunchArgs& args) {
  const TensorArg& data = args.inputs[0];
  const TensorArg& result = args.outputs[0];
  if (data.data != result.data && data.count() > 0)
    std::memcpy(result.data, data.data, bytesOf(data.type, data.count()));
  return result.as<std::byte>();
}

[[noreturn]] void failSizes(const LaunchArgs& args) {
  fail(ErrorKind::kInvalidArgument, "indices of sizes [", join(args.inputs[1].shape(), ", "),
       "] and updates of [", join(args.inputs[2].shape(), ", "), "] do not fit data of [",
       join(args.inputs[0].shape(), ", "), "]");
}

bool fitsScatter(const LaunchArgs& args) {
  if (!hasOperands(args, 3) || !isIndex(args.inputs[1])) return false;
  const TensorArg& result = args.outputs[0];
  return sameSizes(args.inputs[0], result) && sameType(args.inputs[0], result) &&
         sameType(args.inputs[2], result);
}

}  // namespace

bool fitsScatterElements(const void*, const LaunchArgs& args) {
  return fitsScatter(args) && args.inputs[1].rank == args.outputs[0].rank &&
         args.inputs[2].rank == args.outputs[0].rank;
}

bool fitsScatterND(const void*, const LaunchArgs& args) {
  return fitsScatter(args) && args.inputs[1].rank > 0;
}

// In order, so that of several updates of one place the last stays.
void launchScatterElements(const void* state, const LaunchArgs& args) {
  const int axis = static_cast<int>(static_cast<const AxisParams*>(state)->axis);
  const TensorArg& shape = args.inputs[1];
  const TensorArg& result = args.outputs[0];
  requireAxis(result, axis);
  const Indices indices(shape);
  int64_t strides[kMaxRank];
  for (int i = 0; i < result.rank; ++i) {
    strides[i] = countOf(result.dims, i + 1, result.rank);
    if ((i != axis && shape.dims[i] > result.dims[i]) || shape.dims[i] != args.inputs[2].dims[i])
      failSizes(args);
  }
  const size_t width = bytesOf(result.type, 1);
  const std::byte* from = args.inputs[2].as<const std::byte>();
  std::byte* to = startFromData(args);
  for (int64_t i = 0, count = shape.count(); i < count; ++i) {
    int64_t target = indices.position(i, result.dims[axis]) * strides[axis];
    for (int64_t d = shape.rank - 1, rest = i; d >= 0; rest /= shape.dims[d--])
      if (d != axis) target += rest % shape.dims[d] * strides[d];
    copyBytes(to + static_cast<size_t>(target) * width, from + static_cast<size_t>(i) * width,
              width);
  }
}

void launchScatterND(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const ScatterNDParams*>(state);
  const TensorArg& shape = args.inputs[1];
  const TensorArg& result = args.outputs[0];
  const Indices indices(shape);
  const int length = static_cast<int>(shape.dims[shape.rank - 1]);
  if (length > result.rank) failSizes(args);
  const int64_t tuples = countOf(shape.dims, 0, shape.rank - 1),
                inner = countOf(result.dims, length, result.rank);
  if (args.inputs[2].count() != tuples * inner) failSizes(args);
  const size_t cell = bytesOf(result.type, inner);
  const std::byte* from = args.inputs[2].as<const std::byte>();
  std::byte* to = startFromData(args);
  for (int64_t t = 0; t < tuples && cell > 0; ++t) {
    int64_t target = 0;
    for (int i = 0; i < length && target >= 0; ++i) {
      const int64_t at = indices.position(t * length + i, result.dims[i], params.skipsOutside);
      target = at < 0 ? -1 : target * result.dims[i] + at;
    }
    if (target < 0) continue;
    copyBytes(to + static_cast<size_t>(target) * cell, from + static_cast<size_t>(t) * cell, cell);
  }
}

}  // namespace camshaft::cpu::index
