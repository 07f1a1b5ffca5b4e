#include "backends/cpu/move/launch_pad.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/move/params.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "support/error.h"

namespace camshaft::cpu::move {

namespace {

int64_t wrapped(int64_t i, int64_t size) { return (i % size + size) % size; }

// The position along a dimension that output position `i` (counted from the input's first) copies,
// or -1 for the padding value.
int64_t sourceOf(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kEdge:
      return std::clamp<int64_t>(i, 0, size - 1);
    case PadMode::kWrap:
      return wrapped(i, size);
    case PadMode::kReflect:
      break;
  }
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1), at = wrapped(i, period);
  return std::min(at, period - at);
}

// Dimensions up to the last padded one; `cell` bytes are one position along that, with all the
// unpadded dimensions after it.
struct Padding {
  PadMode mode;
  int rank = 0;
  int64_t in[kMaxRank], out[kMaxRank], begin[kMaxRank];
  size_t cell = 1;
  const std::byte* from;
  std::byte* to;
  alignas(64) std::byte value[64];  // the padding value over and over

  void fill(std::byte* target, size_t bytes) const {
    for (; bytes > sizeof(value); target += sizeof(value), bytes -= sizeof(value))
      std::memcpy(target, value, sizeof(value));
    std::memcpy(target, value, bytes);
  }

  // First byte of the input row that output row `row` copies, or null for padding.
  const std::byte* sourceRow(int64_t row) const {
    int64_t offset = 0, stride = in[rank - 1];
    for (int axis = rank - 2; axis >= 0; --axis) {
      const int64_t source = sourceOf(mode, row % out[axis] - begin[axis], in[axis]);
      if (source < 0) return nullptr;
      offset += source * stride;
      stride *= in[axis];
      row /= out[axis];
    }
    return from + static_cast<size_t>(offset) * cell;
  }

  void copyCells(const std::byte* source, std::byte* target, int64_t first, int64_t end) const {
    const int last = rank - 1;
    for (int64_t i = first; i < end; ++i) {
      const int64_t at = sourceOf(mode, i - begin[last], in[last]);
      std::byte* cellAt = target + static_cast<size_t>(i) * cell;
      if (at < 0)
        fill(cellAt, cell);
      else
        std::memcpy(cellAt, source + static_cast<size_t>(at) * cell, cell);
    }
  }

  void row(int64_t index) const {
    const int last = rank - 1;
    std::byte* target = to + static_cast<size_t>(index * out[last]) * cell;
    const std::byte* source = sourceRow(index);
    if (!source) return fill(target, static_cast<size_t>(out[last]) * cell);
    // Output positions that copy the input in order.
    const int64_t first = std::clamp<int64_t>(begin[last], 0, out[last]);
    const int64_t end = std::clamp<int64_t>(begin[last] + in[last], first, out[last]);
    copyCells(source, target, 0, first);
    if (end > first)
      std::memcpy(target + static_cast<size_t>(first) * cell,
                  source + static_cast<size_t>(first - begin[last]) * cell,
                  static_cast<size_t>(end - first) * cell);
    copyCells(source, target, end, out[last]);
  }
};

}  // namespace

bool fitsPad(const void*, const LaunchArgs& args) {
  if (!hasOperands(args, 1)) return false;
  const TensorArg &x = args.inputs[0], &y = args.outputs[0];
  if (!sameType(x, y) || x.rank != y.rank || static_cast<int>(args.dims.size()) != x.rank)
    return false;
  for (int64_t begin : args.dims)
    if (std::abs(begin) > (int64_t{1} << 48)) return false;
  const bool hasValue = args.inputs.size() > 1 && args.inputs[1].data;
  return !hasValue || (sameType(x, args.inputs[1]) && args.inputs[1].count() == 1);
}

void launchPad(const void* state, const LaunchArgs& args) {
  const TensorArg& x = args.inputs[0];
  const TensorArg& y = args.outputs[0];
  CAMSHAFT_CHECK(static_cast<int>(args.dims.size()) == x.rank, args.dims.size(), " pads");
  if (y.count() == 0) return;
  Padding padding{.mode = static_cast<const PadParams*>(state)->mode};
  if (padding.mode != PadMode::kConstant && x.count() == 0)
    fail(ErrorKind::kInvalidArgument, "a tensor of sizes [", join(x.shape(), ", "),
         "] has no elements to pad with");

  padding.from = x.as<const std::byte>();
  padding.to = y.as<std::byte>();
  const size_t width = bytesOf(x.type, 1);
  padding.cell = width;
  padding.rank = x.rank;
  while (padding.rank > 1 && args.dims[padding.rank - 1] == 0 &&
         x.dims[padding.rank - 1] == y.dims[padding.rank - 1])
    padding.cell *= static_cast<size_t>(x.dims[--padding.rank]);
  for (int i = 0; i < padding.rank; ++i) {
    padding.in[i] = x.dims[i];
    padding.out[i] = y.dims[i];
    padding.begin[i] = args.dims[i];
  }
  if (padding.rank == 0) {
    padding.rank = 1;
    padding.in[0] = padding.out[0] = 1;
    padding.begin[0] = 0;
  }
  const bool hasValue = args.inputs.size() > 1 && args.inputs[1].data;
  std::memset(padding.value, 0, sizeof(padding.value));
  for (size_t i = 0; hasValue && i < sizeof(padding.value); i += width)
    std::memcpy(padding.value + i, args.inputs[1].data, width);

  int64_t rows = 1;
  for (int i = 0; i + 1 < padding.rank; ++i) rows *= padding.out[i];
  const double rowWork =
      static_cast<double>(padding.out[padding.rank - 1]) * static_cast<double>(padding.cell) / 16 +
      10;
  parallelItems(args.threads, rows, rowWork, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) padding.row(i);
  });
}

}  // namespace camshaft::cpu::move
