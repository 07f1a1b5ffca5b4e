#include "backends/cpu/move/transpose_block.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move/transpose_block.cpp"
#include "backends/cpu/simd/targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace camshaft::cpu::move::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void transposePlain(const T* from, int64_t fromStride, T* to, int64_t toStride, int64_t rows,
                    int64_t columns) {
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r) to[c * toStride + r] = from[r * fromStride + c];
}

#if HWY_TARGET != HWY_SCALAR
// 4x4 elements of 32 bits in four 128-bit vectors.
HWY_INLINE void transpose4x4(const uint32_t* from, int64_t fromStride, uint32_t* to,
                             int64_t toStride) {
  const hn::FixedTag<uint32_t, 4> d;
  const hn::FixedTag<uint64_t, 2> pairs;
  const auto row0 = hn::LoadU(d, from), row1 = hn::LoadU(d, from + fromStride);
  const auto row2 = hn::LoadU(d, from + 2 * fromStride), row3 = hn::LoadU(d, from + 3 * fromStride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + toStride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * toStride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * toStride);
}

void transposeTile(const uint32_t* from, int64_t fromStride, uint32_t* to, int64_t toStride,
                   int64_t rows, int64_t columns) {
  const int64_t evenRows = rows / 4 * 4, evenColumns = columns / 4 * 4;
  for (int64_t c = 0; c < evenColumns; c += 4)
    for (int64_t r = 0; r < evenRows; r += 4)
      transpose4x4(from + r * fromStride + c, fromStride, to + c * toStride + r, toStride);
  if (evenColumns < columns)
    transposePlain(from + evenColumns, fromStride, to + evenColumns * toStride, toStride, rows,
                   columns - evenColumns);
  if (evenRows < rows)
    transposePlain(from + evenRows * fromStride, fromStride, to + evenRows, toStride,
                   rows - evenRows, evenColumns);
}
#endif

template <class T>
void transposeTile(const T* from, int64_t fromStride, T* to, int64_t toStride, int64_t rows,
                   int64_t columns) {
  transposePlain(from, fromStride, to, toStride, rows, columns);
}

// Three planes become pixels of three, as vectors store them. Returns how many columns it did.
template <class T>
int64_t interleavePlanes([[maybe_unused]] const T* from, [[maybe_unused]] int64_t fromStride,
                         [[maybe_unused]] T* to, [[maybe_unused]] int64_t columns) {
  int64_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Full128<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; c + lanes <= columns; c += lanes)
    hn::StoreInterleaved3(hn::LoadU(d, from + c), hn::LoadU(d, from + fromStride + c),
                          hn::LoadU(d, from + 2 * fromStride + c), d, to + 3 * c);
#endif
  return c;
}

// Tile by tile, so that the lines of both sides stay in cache while they are half used.
template <class T>
void transposeAs(const std::byte* source, int64_t fromStride, std::byte* target, int64_t toStride,
                 int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 64 / sizeof(T) * 2;
  const T* from = reinterpret_cast<const T*>(source);
  T* to = reinterpret_cast<T*>(target);
  if (rows == 3 && toStride == 3) {
    const int64_t done = interleavePlanes(from, fromStride, to, columns);
    return transposePlain(from + done, fromStride, to + 3 * done, toStride, rows, columns - done);
  }
  for (int64_t r = 0; r < rows; r += kTile)
    for (int64_t c = 0; c < columns; c += kTile)
      transposeTile(from + r * fromStride + c, fromStride, to + c * toStride + r, toStride,
                    std::min(kTile, rows - r), std::min(kTile, columns - c));
}

void transpose(const std::byte* from, int64_t fromStride, std::byte* to, int64_t toStride,
               int64_t rows, int64_t columns, int64_t width) {
  switch (width) {
    case 1:
      return transposeAs<uint8_t>(from, fromStride, to, toStride, rows, columns);
    case 2:
      return transposeAs<uint16_t>(from, fromStride, to, toStride, rows, columns);
    case 4:
      return transposeAs<uint32_t>(from, fromStride, to, toStride, rows, columns);
    default:
      return transposeAs<uint64_t>(from, fromStride, to, toStride, rows, columns);
  }
}

}  // namespace camshaft::cpu::move::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace camshaft::cpu::move {

HWY_EXPORT(transpose);

void transposeBlock(const std::byte* from, int64_t fromStride, std::byte* to, int64_t toStride,
                    int64_t rows, int64_t columns, int64_t width) {
  HWY_DYNAMIC_DISPATCH(transpose)(from, fromStride, to, toStride, rows, columns, width);
}

}  // namespace camshaft::cpu::move
#endif  // HWY_ONCE
