#include "backend/launch.h"

#include <algorithm>

#include "backends/cpu/families.h"
#include "backends/cpu/move/launch_pad.h"
#include "backends/cpu/move/params.h"
#include "backends/cpu/move/strided_copy.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "support/error.h"

namespace camshaft::cpu::move {

namespace {

StridedCopy copyBetween(const TensorArg& from, const TensorArg& to) {
  return {.from = from.as<const std::byte>(),
          .to = to.as<std::byte>(),
          .width = static_cast<int64_t>(bytesOf(from.type, 1))};
}

bool fitsMove(const LaunchArgs& args) {
  return hasOperands(args, 1) && sameType(args.inputs[0], args.outputs[0]);
}

bool fitsCopy(const void*, const LaunchArgs& args) {
  return args.inputs.size() == 1 && args.outputs.size() == 1 && isThere(args.inputs[0]) &&
         isThere(args.outputs[0]) && sameType(args.inputs[0], args.outputs[0]);
}

void launchCopy(const void*, const LaunchArgs& args) {
  const TensorArg& x = args.inputs[0];
  const TensorArg& y = args.outputs[0];
  if (x.count() != y.count())
    fail(ErrorKind::kInvalidArgument, "a tensor of sizes [", join(x.shape(), ", "),
         "] cannot take the shape [", join(y.shape(), ", "), "]");
  if (x.data == y.data) return;
  StridedCopy copy = copyBetween(x, y);
  copy.width = 1;
  copy.addDim(static_cast<int64_t>(bytesOf(x.type, x.count())), 1, 1);
  copy.run(args.threads);
}

bool fitsTranspose(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const TransposeParams*>(state);
  if (!fitsMove(args)) return false;
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  if (x.rank != params.rank || y.rank != params.rank) return false;
  for (int i = 0; i < y.rank; ++i)
    if (y.dims[i] != x.dims[params.order[i]]) return false;
  return true;
}

void launchTranspose(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const TransposeParams*>(state);
  const TensorArg& x = args.inputs[0];
  const TensorArg& y = args.outputs[0];
  requireAxis(x, params.rank - 1);
  const Strides from(x), to(y);
  StridedCopy copy = copyBetween(x, y);
  for (int i = 0; i < params.rank; ++i) copy.addDim(y.dims[i], from[params.order[i]], to[i]);
  copy.run(args.threads);
}

bool fitsExpand(const void*, const LaunchArgs& args) {
  return fitsMove(args) && args.inputs[0].rank <= args.outputs[0].rank;
}

void launchExpand(const void*, const LaunchArgs& args) {
  const TensorArg& x = args.inputs[0];
  const TensorArg& y = args.outputs[0];
  const Strides from(x), to(y);
  StridedCopy copy = copyBetween(x, y);
  const int skipped = y.rank - x.rank;
  for (int i = 0; i < y.rank; ++i) {
    const int axis = i - skipped;
    const bool moves = axis >= 0 && x.dims[axis] != 1;
    if (moves && x.dims[axis] != y.dims[i])
      fail(ErrorKind::kInvalidArgument, "a tensor of sizes [", join(x.shape(), ", "),
           "] does not expand to [", join(y.shape(), ", "), "]");
    copy.addDim(y.dims[i], moves ? from[axis] : 0, to[i]);
  }
  copy.run(args.threads);
}

bool fitsTile(const void*, const LaunchArgs& args) {
  if (!fitsMove(args) || args.inputs[0].rank != args.outputs[0].rank) return false;
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  for (int i = 0; i < y.rank; ++i)
    if (x.dims[i] == 0 ? y.dims[i] != 0 : y.dims[i] % x.dims[i] != 0) return false;
  return true;
}

void launchTile(const void*, const LaunchArgs& args) {
  const TensorArg& x = args.inputs[0];
  const TensorArg& y = args.outputs[0];
  if (y.count() == 0) return;
  const Strides from(x), to(y);
  StridedCopy copy = copyBetween(x, y);
  for (int i = 0; i < y.rank; ++i) {
    copy.addDim(y.dims[i] / x.dims[i], 0, to[i] * x.dims[i]);
    copy.addDim(x.dims[i], from[i], to[i]);
  }
  copy.run(args.threads);
}

bool fitsSlice(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const SliceParams*>(state);
  if (!fitsMove(args) || static_cast<int>(args.dims.size()) != params.count) return false;
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  if (x.rank != y.rank) return false;
  for (int i = 0; i < y.rank; ++i) {
    const int32_t* end = params.axes + params.count;
    if (std::find(params.axes, end, i) == end && x.dims[i] != y.dims[i]) return false;
  }
  // The last element taken, which the launch looks at, is a number.
  for (int i = 0; i < params.count; ++i) {
    if (params.axes[i] >= y.rank) return false;
    int64_t last;
    if (__builtin_mul_overflow(y.dims[params.axes[i]] - 1, params.steps[i], &last)) return false;
    if (__builtin_add_overflow(last, args.dims[i], &last)) return false;
  }
  return true;
}

void launchSlice(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const SliceParams*>(state);
  const TensorArg& x = args.inputs[0];
  const TensorArg& y = args.outputs[0];
  CAMSHAFT_CHECK(static_cast<int>(args.dims.size()) == params.count, args.dims.size(), " starts");
  if (y.count() == 0) return;
  Strides from(x);
  const Strides to(y);
  StridedCopy copy = copyBetween(x, y);
  for (int i = 0; i < params.count; ++i) {
    const int axis = params.axes[i];
    requireAxis(x, axis);
    const int64_t start = args.dims[i], end = start + (y.dims[axis] - 1) * params.steps[i],
                  size = x.dims[axis];
    if (start < 0 || start >= size || end < 0 || end >= size)
      fail(ErrorKind::kInvalidArgument, "a slice takes elements ", start, " to ", end, " of ",
           size);
    copy.from += start * from[axis] * copy.width;
    if (y.dims[axis] > 1) from.at[axis] *= params.steps[i];  // one element takes no step
  }
  for (int i = 0; i < y.rank; ++i) copy.addDim(y.dims[i], from[i], to[i]);
  copy.run(args.threads);
}

bool fitsConcat(const void* state, const LaunchArgs& args) {
  const int axis = static_cast<const ConcatParams*>(state)->axis;
  if (!hasOperands(args, args.inputs.size()) || axis >= args.outputs[0].rank) return false;
  return std::all_of(args.inputs.begin(), args.inputs.end(), [&](const TensorArg& x) {
    return sameType(x, args.outputs[0]) && x.rank == args.outputs[0].rank;
  });
}

// Each input is one run of bytes per index over the dimensions before the axis. Index by index, so
// that lines of the result are written whole.
void launchConcat(const void* state, const LaunchArgs& args) {
  const int axis = static_cast<const ConcatParams*>(state)->axis;
  const TensorArg& y = args.outputs[0];
  requireAxis(y, axis);
  int64_t outer = 1, cellBytes = static_cast<int64_t>(bytesOf(y.type, 1)), size = 0;
  for (int i = 0; i < axis; ++i) outer *= y.dims[i];
  for (int i = axis + 1; i < y.rank; ++i) cellBytes *= y.dims[i];
  for (const TensorArg& x : args.inputs) {
    size += x.dims[axis];
    if (size > y.dims[axis] ||
        static_cast<int64_t>(bytesOf(x.type, x.count())) != outer * cellBytes * x.dims[axis])
      fail(ErrorKind::kInvalidArgument, "a tensor of sizes [", join(x.shape(), ", "),
           "] is no part of [", join(y.shape(), ", "), "] along dimension ", axis);
  }
  const int64_t rowBytes = y.dims[axis] * cellBytes;
  if (outer != 1) {
    const double work =
        static_cast<double>(rowBytes) / 16 + 4 * static_cast<double>(args.inputs.size());
    parallelItems(args.threads, outer, work, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::byte* to = y.as<std::byte>() + i * rowBytes;
        for (const TensorArg& x : args.inputs) {
          const int64_t bytes = x.dims[axis] * cellBytes;
          copyBytes(x.as<const std::byte>() + i * bytes, to, bytes);
          to += bytes;
        }
      }
    });
    return;
  }
  std::byte* to = y.as<std::byte>();
  for (const TensorArg& x : args.inputs) {
    StridedCopy copy{.from = x.as<const std::byte>(), .to = to, .width = 1};
    copy.addDim(x.dims[axis] * cellBytes, 1, 1);
    copy.run(args.threads);
    to += x.dims[axis] * cellBytes;
  }
}

constexpr RuntimeKernel kLaunchers[] = {
    {"cpu/copy", nullptr, launchCopy, fitsCopy},
    {"cpu/transpose", loadParams<TransposeParams>, launchTranspose, fitsTranspose},
    {"cpu/expand", nullptr, launchExpand, fitsExpand},
    {"cpu/tile", nullptr, launchTile, fitsTile},
    {"cpu/slice", loadParams<SliceParams>, launchSlice, fitsSlice},
    {"cpu/concat", loadParams<ConcatParams>, launchConcat, fitsConcat},
    {"cpu/pad", loadParams<PadParams>, launchPad, fitsPad},
};

}  // namespace

std::span<const RuntimeKernel> launchers() { return kLaunchers; }

}  // namespace camshaft::cpu::move
