#include "backends/cpu/move/strided_copy.h"

#include <algorithm>

#include "backends/cpu/move/transpose_block.h"
#include "backends/cpu/parallel.h"

namespace camshaft::cpu::move {

namespace {

void eraseDim(StridedCopy& copy, int axis) {
  for (int i = axis; i + 1 < copy.rank; ++i) {
    copy.dims[i] = copy.dims[i + 1];
    copy.fromStrides[i] = copy.fromStrides[i + 1];
    copy.toStrides[i] = copy.toStrides[i + 1];
  }
  --copy.rank;
}

// Fewer and longer dimensions with the same meaning.
void simplify(StridedCopy& copy) {
  for (int i = copy.rank - 1; i >= 0; --i)
    if (copy.dims[i] == 1) eraseDim(copy, i);
  for (int i = copy.rank - 2; i >= 0; --i) {
    const int64_t next = copy.dims[i + 1];
    if (copy.fromStrides[i] != copy.fromStrides[i + 1] * next ||
        copy.toStrides[i] != copy.toStrides[i + 1] * next)
      continue;
    copy.dims[i + 1] *= copy.dims[i];
    eraseDim(copy, i);
  }
  if (copy.rank == 0) copy.addDim(1, 1, 1);
}

// Walks the first `rank` dimensions in order, from any position on.
class Walker {
 public:
  Walker(const StridedCopy& copy, int rank, int64_t start) : copy_(copy), rank_(rank) {
    for (int axis = rank - 1; axis >= 0; --axis) {
      position_[axis] = start % copy.dims[axis];
      start /= copy.dims[axis];
      from_ += position_[axis] * copy.fromStrides[axis];
      to_ += position_[axis] * copy.toStrides[axis];
    }
  }
  const std::byte* from() const { return copy_.from + from_ * copy_.width; }
  std::byte* to() const { return copy_.to + to_ * copy_.width; }
  void next() {
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      from_ += copy_.fromStrides[axis];
      to_ += copy_.toStrides[axis];
      if (++position_[axis] < copy_.dims[axis]) return;
      from_ -= copy_.dims[axis] * copy_.fromStrides[axis];
      to_ -= copy_.dims[axis] * copy_.toStrides[axis];
      position_[axis] = 0;
    }
  }

 private:
  const StridedCopy& copy_;
  const int rank_;
  int64_t position_[StridedCopy::kMaxDims];
  int64_t from_ = 0, to_ = 0;
};

template <class T>
void copyRow(const std::byte* source, std::byte* target, int64_t count, int64_t fromStride,
             int64_t toStride) {
  const T* from = reinterpret_cast<const T*>(source);
  T* to = reinterpret_cast<T*>(target);
  if (toStride != 1) {
    for (int64_t i = 0; i < count; ++i) to[i * toStride] = from[i * fromStride];
  } else if (fromStride == 0) {
    std::fill(to, to + count, *from);
  } else if (fromStride == 1) {
    copyBytes(source, target, count * static_cast<int64_t>(sizeof(T)));
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * fromStride];
  }
}

using RowCopy = void (*)(const std::byte*, std::byte*, int64_t, int64_t, int64_t);
RowCopy rowCopy(int64_t width) {
  switch (width) {
    case 1:
      return copyRow<uint8_t>;
    case 2:
      return copyRow<uint16_t>;
    case 4:
      return copyRow<uint32_t>;
    default:
      return copyRow<uint64_t>;
  }
}

// Moving one element costs about a quarter of computing one.
double workOf(int64_t elements, int64_t width) {
  return static_cast<double>(elements * width) / 16;
}

void copyRows(const StridedCopy& copy, ThreadPool* pool) {
  const int last = copy.rank - 1;
  const RowCopy copyOne = rowCopy(copy.width);
  const int64_t length = copy.dims[last], fromStride = copy.fromStrides[last],
                toStride = copy.toStrides[last];
  int64_t rows = 1;
  for (int i = 0; i < last; ++i) rows *= copy.dims[i];
  if (rows == 1) {
    constexpr int64_t kPiece = 4096;
    parallelItems(pool, (length + kPiece - 1) / kPiece, workOf(kPiece, copy.width),
                  [&](int64_t begin, int64_t end) {
                    const int64_t first = begin * kPiece,
                                  count = std::min(end * kPiece, length) - first;
                    copyOne(copy.from + first * fromStride * copy.width,
                            copy.to + first * toStride * copy.width, count, fromStride, toStride);
                  });
    return;
  }
  parallelItems(pool, rows, workOf(length, copy.width) + 4, [&](int64_t begin, int64_t end) {
    Walker walker(copy, last, begin);
    for (int64_t row = begin; row < end; ++row, walker.next())
      copyOne(walker.from(), walker.to(), length, fromStride, toStride);
  });
}

// The dimension along which the source is contiguous, when the target is along the last.
int transposedDim(const StridedCopy& copy) {
  const int last = copy.rank - 1;
  if (copy.toStrides[last] != 1 || copy.fromStrides[last] == 1 || copy.fromStrides[last] == 0)
    return -1;
  for (int i = 0; i < last; ++i)
    if (copy.fromStrides[i] == 1 && copy.dims[i] >= 4) return i;
  return -1;
}

// Matrices of dims[axis] columns, read along them, by dims[last] rows, cut into strips of columns.
void copyTransposed(StridedCopy& copy, int axis, ThreadPool* pool) {
  constexpr int64_t kStrip = 64;
  const int64_t columns = copy.dims[axis], toStride = copy.toStrides[axis];
  eraseDim(copy, axis);
  const int last = copy.rank - 1;
  const int64_t rows = copy.dims[last], fromStride = copy.fromStrides[last];
  const int64_t strips = (columns + kStrip - 1) / kStrip;
  int64_t matrices = 1;
  for (int i = 0; i < last; ++i) matrices *= copy.dims[i];
  parallelItems(pool, matrices * strips, 2 * workOf(rows * std::min(kStrip, columns), copy.width),
                [&](int64_t begin, int64_t end) {
                  for (int64_t unit = begin; unit < end; ++unit) {
                    const Walker walker(copy, last, unit / strips);
                    const int64_t first = unit % strips * kStrip;
                    transposeBlock(walker.from() + first * copy.width, fromStride,
                                   walker.to() + first * toStride * copy.width, toStride, rows,
                                   std::min(kStrip, columns - first), copy.width);
                  }
                });
}

}  // namespace

void StridedCopy::run(ThreadPool* pool) {
  for (int i = 0; i < rank; ++i)
    if (dims[i] == 0) return;
  simplify(*this);
  const int axis = transposedDim(*this);
  if (axis >= 0)
    copyTransposed(*this, axis, pool);
  else
    copyRows(*this, pool);
}

}  // namespace camshaft::cpu::move
