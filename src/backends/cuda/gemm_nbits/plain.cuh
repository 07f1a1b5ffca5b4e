// Weights of a few bits as the node has them, for PlainTile: rows of numbers one after the other,
// the lowest bits of a byte first, with a scale and a zero point for each block of them. kHasZeros
// is false where all zero points are the middle of the range.
template <class Sum, int kBits, int kBlock, bool kHasZeros, class Scale, class Zero>
struct BlockMatrix {
  const unsigned char* numbers;
  const Scale* scales;
  const Zero* zeros;
  Index blocks;  // of a row

  __device__ __forceinline__ Sum operator()(Index column, Index k) const {
    constexpr int kPerByte = 8 / kBits, kBlockBytes = kBlock / kPerByte;
    const int byte = numbers[column * (blocks * kBlockBytes) + k / kPerByte];
    const int number = byte >> (k % kPerByte * kBits) & ((1 << kBits) - 1);
    const Index block = column * blocks + k / kBlock;
    Sum zero = 1 << (kBits - 1);
    if constexpr (kHasZeros) zero = Sum(toCompute(zeros[block]));
    return (Sum(number) - zero) * Sum(toCompute(scales[block]));
  }
};
