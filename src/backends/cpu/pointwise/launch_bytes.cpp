#include "backends/cpu/pointwise/launch_bytes.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/operands.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/pointwise/broadcast.h"
#include "backends/cpu/pointwise/byte_table.h"
#include "backends/cpu/pointwise/params.h"

namespace camshaft::cpu::pointwise {

namespace {

bool isByte(DataType type) { return type == DataType::kU8 || type == DataType::kI8; }

bool isOperand(const TensorArg& tensor, ByteOperand operand) {
  return operand == ByteOperand::kFloats ? isF32(tensor) : isByte(tensor.type);
}

constexpr int64_t kPiece = 4096;

// Rows that are short, as those of few channels are, with the same elements of the second operand
// for each: several in one go, with these repeated.
class RepeatedRows {
 public:
  RepeatedRows(const Broadcast& broadcast, int64_t length) : broadcast_(broadcast) {
    const Broadcast::Input& y = broadcast.inputs[1];
    if (y.step(broadcast.rank) == 1 && length <= kMost / 2 && !y.isFlat) rows_ = kMost / length;
  }

  int64_t most() const { return rows_; }

  // How many rows from this one on have the same elements, which are at data() afterwards.
  int64_t repeat(int64_t row, int64_t end) {
    const Broadcast::Input& y = broadcast_.inputs[1];
    const int64_t offset = broadcast_.rowOffset(1, row), length = broadcast_.rowLength();
    int64_t count = 1;
    while (count < rows_ && row + count < end && broadcast_.rowOffset(1, row + count) == offset)
      ++count;
    if (offset == offset_ && count <= filled_) return count;
    const int64_t bytes = length * y.width;
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(elements_ + i * bytes, y.data + offset * y.width, bytes);
    offset_ = offset;
    filled_ = count;
    return count;
  }
  const void* data() const { return elements_; }

 private:
  static constexpr int64_t kMost = 2048;
  const Broadcast& broadcast_;
  int64_t rows_ = 1, offset_ = -1, filled_ = 0;
  alignas(64) std::byte elements_[kMost * sizeof(float)];
};

}  // namespace

bool fitsTable(const void*, const LaunchArgs& args) {
  return hasOperands(args, 1) && isByte(args.inputs[0].type) && isByte(args.outputs[0].type) &&
         args.inputs[0].count() == args.outputs[0].count();
}

void launchTable(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const TableParams*>(state);
  const auto* x = args.inputs[0].as<const uint8_t>();
  auto* y = args.outputs[0].as<uint8_t>();
  const int64_t count = args.outputs[0].count();
  parallelItems(
      args.threads, (count + kPiece - 1) / kPiece, kPiece / 4, [&](int64_t begin, int64_t end) {
        const int64_t first = begin * kPiece;
        lookUp(params.table, x + first, y + first, 1, std::min(end * kPiece, count) - first, 0);
      });
}

bool fitsBytes(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const BytesParams*>(state);
  const size_t inputs = params.y == ByteOperand::kNone ? 1 : 2;
  if (!hasOperands(args, inputs) || !isByte(args.outputs[0].type)) return false;
  if (!isOperand(args.inputs[0], params.x) || args.inputs[0].count() != args.outputs[0].count())
    return false;
  return inputs == 1 || isOperand(args.inputs[1], params.y);
}

// Rows are those along which the second operand moves with the result, or stands still.
void launchBytes(const void* state, const LaunchArgs& args) {
  const auto& params = *static_cast<const BytesParams*>(state);
  const TensorArg& out = args.outputs[0];
  const int64_t count = out.count();
  if (count == 0) return;
  const Broadcast broadcast(args.inputs, out);
  const ByteRowFunction run = byteRowFunction(params.x, params.y);
  const int64_t length = broadcast.rowLength(), pieces = (length + kPiece - 1) / kPiece;
  const double work = static_cast<double>(std::min(length, kPiece)) + 16;
  parallelItems(args.threads, broadcast.rows() * pieces, work, [&](int64_t begin, int64_t end) {
    if (params.y != ByteOperand::kNone) {
      RepeatedRows repeated(broadcast, length);
      const Broadcast::Input& x = broadcast.inputs[0];
      for (int64_t count; repeated.most() > 1 && begin < end; begin += count) {
        count = repeated.repeat(begin, end);
        run(params.result, {.x = x.data + begin * length * x.width,
                            .y = repeated.data(),
                            .out = out.as<uint8_t>() + begin * length,
                            .count = count * length});
      }
    }
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit / pieces, first = unit % pieces * kPiece;
      ByteRow part{.out = out.as<uint8_t>() + row * length + first,
                   .count = std::min(kPiece, length - first)};
      const Broadcast::Input& x = broadcast.inputs[0];
      part.x = x.data + (row * length + first) * x.width;
      if (params.y != ByteOperand::kNone) {
        const Broadcast::Input& y = broadcast.inputs[1];
        part.yStep = y.step(broadcast.rank);
        part.y = y.data + (broadcast.rowOffset(1, row) + first * part.yStep) * y.width;
      }
      run(params.result, part);
    }
  });
}

bool fitsDequantize(const void*, const LaunchArgs& args) {
  return hasOperands(args, 1) && isByte(args.inputs[0].type) && isF32(args.outputs[0]) &&
         args.inputs[0].count() == args.outputs[0].count();
}

void launchDequantize(const void* state, const LaunchArgs& args) {
  const Dequantize& dequantize = static_cast<const DequantizeParams*>(state)->dequantize;
  const auto* x = args.inputs[0].as<const uint8_t>();
  auto* y = args.outputs[0].as<float>();
  const int64_t count = args.outputs[0].count();
  parallelItems(
      args.threads, (count + kPiece - 1) / kPiece, kPiece / 2, [&](int64_t begin, int64_t end) {
        const int64_t first = begin * kPiece;
        dequantizeRow(dequantize, x + first, std::min(end * kPiece, count) - first, y + first);
      });
}

}  // namespace camshaft::cpu::pointwise
