// Rows of bytes looked up 64 at a time, two rows at once where these are blocks of a product.
// Before this file, in a namespace of its own, stand CAMSHAFT_TARGET, CAMSHAFT_INLINE and found(),
// what a table, in four parts, has at 64 indices.
CAMSHAFT_TARGET void lookUpRows(const uint8_t* table, const uint8_t* from, uint8_t* to,
                                int64_t rows, int64_t columns, int64_t stride) {
  constexpr int64_t kBytes = 64, kHalf = 32;
  __m512i part[4];
  for (int i = 0; i < 4; ++i) part[i] = _mm512_loadu_si512(table + kBytes * i);
  int64_t row = 0;
  constexpr __mmask64 kFirst = 0xffffffff, kSecond = kFirst << kHalf;
  const int64_t second = stride - kHalf;  // where the lanes of the second row would begin
  if (columns == kHalf)
    for (; row + 2 <= rows; row += 2, from += 2 * stride, to += 2 * stride) {
      const __m512i first = _mm512_maskz_loadu_epi8(kFirst, from);
      const __m512i both = found(part, _mm512_mask_loadu_epi8(first, kSecond, from + second));
      _mm512_mask_storeu_epi8(to, kFirst, both);
      _mm512_mask_storeu_epi8(to + second, kSecond, both);
    }
  for (; row < rows; ++row, from += stride, to += stride)
    for (int64_t i = 0; i < columns; i += kBytes) {
      const int64_t left = std::min<int64_t>(kBytes, columns - i);
      const __mmask64 there = ~uint64_t{0} >> (kBytes - left);
      _mm512_mask_storeu_epi8(to + i, there, found(part, _mm512_maskz_loadu_epi8(there, from + i)));
    }
}
