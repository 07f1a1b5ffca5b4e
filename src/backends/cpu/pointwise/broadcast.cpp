#include "backends/cpu/pointwise/broadcast.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/operands.h"
#include "support/error.h"

namespace camshaft::cpu::pointwise {

namespace {

[[noreturn]] void failShapes(const TensorArg& input, const TensorArg& output) {
  fail(ErrorKind::kInvalidArgument, "a tensor of sizes [", join(input.shape(), ", "),
       "] does not broadcast to [", join(output.shape(), ", "), "]");
}

// Strides in elements under the output's dimensions.
void stridesUnder(const TensorArg& input, const TensorArg& output, int64_t* strides) {
  const int skipped = output.rank - input.rank;
  if (skipped < 0) failShapes(input, output);
  std::fill(strides, strides + output.rank, 0);
  int64_t stride = 1;
  for (int i = input.rank - 1; i >= 0; --i) {
    if (input.dims[i] != 1) {
      if (input.dims[i] != output.dims[skipped + i]) failShapes(input, output);
      strides[skipped + i] = stride;
    }
    stride *= input.dims[i];
  }
}

template <class T>
void copyOrFill(const std::byte* from, std::byte* to, int64_t count, int64_t step) {
  const T* source = reinterpret_cast<const T*>(from);
  T* target = reinterpret_cast<T*>(to);
  if (step == 0) {
    std::fill(target, target + count, *source);
  } else {
    for (int64_t i = 0; i < count; ++i) target[i] = source[i];
  }
}

void copyRow(const Broadcast::Input& input, int64_t offset, int64_t step, int64_t count,
             std::byte* to) {
  const std::byte* from = input.data + offset * input.width;
  switch (input.width) {
    case 1:
      return copyOrFill<uint8_t>(from, to, count, step);
    case 2:
      return copyOrFill<uint16_t>(from, to, count, step);
    case 4:
      return copyOrFill<uint32_t>(from, to, count, step);
    default:
      return copyOrFill<uint64_t>(from, to, count, step);
  }
}

}  // namespace

Broadcast::Broadcast(std::span<const TensorArg> tensors, const TensorArg& output, bool keepLast) {
  CAMSHAFT_CHECK(tensors.size() <= kMaxInputs, tensors.size(), " inputs");
  inputCount = static_cast<int>(tensors.size());
  int64_t full[kMaxInputs][kMaxRank];
  for (int i = 0; i < inputCount; ++i) {
    if (!isThere(tensors[i]))
      fail(ErrorKind::kInvalidEngine, "the engine leaves out operand ", i,
           " of an expression, which reads it; build it again");
    stridesUnder(tensors[i], output, full[i]);
    inputs[i] = {static_cast<const std::byte*>(tensors[i].data),
                 static_cast<int64_t>(bytesOf(tensors[i].type, 1)),
                 {},
                 tensors[i].count() == output.count()};
  }

  // From the last dimension outwards; merged dimensions are built back to front, then turned round.
  rank = 0;
  for (int axis = output.rank - 1; axis >= 0; --axis) {
    const int64_t size = output.dims[axis];
    const bool isLast = axis == output.rank - 1;
    if (size == 1 && !(isLast && keepLast)) continue;
    bool merges = rank > 0 && !(keepLast && rank == 1);
    for (int i = 0; merges && i < inputCount; ++i)
      merges = full[i][axis] == inputs[i].strides[rank - 1] * dims[rank - 1];
    if (merges) {
      dims[rank - 1] *= size;
      continue;
    }
    dims[rank] = size;
    for (int i = 0; i < inputCount; ++i) inputs[i].strides[rank] = full[i][axis];
    ++rank;
  }
  if (rank == 0) {
    rank = 1;
    dims[0] = 1;
    for (int i = 0; i < inputCount; ++i) inputs[i].strides[0] = 0;
  }
  std::reverse(dims, dims + rank);
  for (int i = 0; i < inputCount; ++i) std::reverse(inputs[i].strides, inputs[i].strides + rank);
}

int64_t Broadcast::rows() const {
  int64_t rows = 1;
  for (int i = 0; i + 1 < rank; ++i) rows *= dims[i];
  return rows;
}

class Broadcast::RowWalk {
 public:
  RowWalk(const Broadcast& broadcast, int input, int64_t row)
      : broadcast_(broadcast), strides_(broadcast.inputs[input].strides) {
    for (int axis = broadcast.rank - 2; axis >= 0 && row > 0; --axis) {
      const bool isOutermost = axis == 0;  // all that is left
      position_[axis] = isOutermost ? row : row % broadcast.dims[axis];
      offset_ += position_[axis] * strides_[axis];
      row = isOutermost ? 0 : row / broadcast.dims[axis];
    }
  }

  int64_t offset() const { return offset_; }  // of the row's first element

  void next() {
    for (int axis = broadcast_.rank - 2; axis >= 0; --axis) {
      offset_ += strides_[axis];
      if (++position_[axis] < broadcast_.dims[axis]) return;
      offset_ -= position_[axis] * strides_[axis];
      position_[axis] = 0;
    }
  }

 private:
  const Broadcast& broadcast_;
  const int64_t* const strides_;
  int64_t position_[kMaxRank] = {};
  int64_t offset_ = 0;
};

int64_t Broadcast::rowOffset(int input, int64_t row) const {
  return RowWalk(*this, input, row).offset();
}

void Broadcast::gather(int index, int64_t begin, int64_t count, std::byte* to) const {
  const Input& input = inputs[index];
  const int64_t length = rowLength(), step = input.step(rank);
  RowWalk walk(*this, index, begin / length);
  for (int64_t column = begin % length; count > 0; column = 0, walk.next()) {
    const int64_t now = std::min(count, length - column);
    copyRow(input, walk.offset() + column * step, step, now, to);
    to += now * input.width;
    count -= now;
  }
}

void Broadcast::gatherRows(int index, int64_t row, int64_t rows, int64_t column, int64_t count,
                           std::byte* to) const {
  const Input& input = inputs[index];
  const int64_t step = input.step(rank);
  RowWalk walk(*this, index, row);
  for (int64_t r = 0; r < rows; ++r, walk.next(), to += count * input.width)
    copyRow(input, walk.offset() + column * step, step, count, to);
}

}  // namespace camshaft::cpu::pointwise
