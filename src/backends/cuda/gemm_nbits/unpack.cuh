// Numbers of a few bits as pairs of f16 or bf16 in registers. Follows gemm/mma.cuh.
namespace nbits {

using namespace mma;

// What is taken from a number: the middle of the range, or the chunk's offset: the zero point
// together with what unpacking adds (kWhole), or by itself (kFraction).
enum class Zeros { kMiddle, kWhole, kFraction };

// a b + c of pairs of f16.
#ifdef CAMSHAFT_EMULATOR
inline unsigned multiplyAddPairs(unsigned a, unsigned b, unsigned c) {
  return packed(f16{}, half<f16>(a, 0) * half<f16>(b, 0) + half<f16>(c, 0),
                half<f16>(a, 1) * half<f16>(b, 1) + half<f16>(c, 1));
}
#else
__device__ __forceinline__ unsigned multiplyAddPairs(unsigned a, unsigned b, unsigned c) {
  unsigned sum;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}
#endif

// Numbers of kBits in words, two neighbours at a time 16 bits apart, as pairs of F: with the bits
// of a power of two above them they are that power and the number.
template <class F, int kBits, Zeros kZeros>
struct Unpack {
  static constexpr unsigned kPower = 0x43004300u;      // 128, twice
  static constexpr unsigned kLessPower = 0xc300c300u;  // minus that
  static constexpr unsigned kMask = 0x00010001u * ((1u << kBits) - 1);
  // Minus the power and the middle of the range.
  static constexpr unsigned kLessMiddle = kLessPower + 0x00010001u * (1u << (kBits - 1));
  using Offset = F;
  static constexpr int kPairs = 16 / kBits;  // in a word

  unsigned offset = kLessMiddle;
  __device__ __forceinline__ void set(Offset value) { offset = 0x00010001u * value.bits; }
  __device__ __forceinline__ unsigned operator()(unsigned word, int pair) const {
    const unsigned numbers = (word >> (kBits * pair) & kMask) | kPower;
    if constexpr (kZeros == Zeros::kFraction)
      return addPairs(F{}, addPairs(F{}, numbers, kLessPower), offset);
    else
      return addPairs(F{}, numbers, offset);
  }
};

// f16 has room for eight bits below 1024, so that numbers stay where they are in their byte: with
// `shift` bits below them they are 1024 and the number times 2^shift, and one multiplication takes
// both away again, exactly.
template <int kBits, Zeros kZeros>
struct Unpack<f16, kBits, kZeros> {
  static constexpr unsigned kPower = 0x64006400u;  // 1024, twice
  static constexpr unsigned kMask = 0x00010001u * ((1u << kBits) - 1);
  static constexpr int kPlaces = 8 / kBits;  // in a byte
  using Offset = f16;
  static constexpr int kPairs = 16 / kBits;  // in a word

  // The bits of a pair of the same powers of two, 2^exponent; negative ones with the sign.
  __device__ __forceinline__ static constexpr unsigned power(int exponent,
                                                             bool isNegative = false) {
    return 0x00010001u * (unsigned(exponent + 15) << 10 | (isNegative ? 0x8000u : 0u));
  }
  // By place: minus 1024 / 2^shift, and what else is taken away. Below 1024 / 2^shift an integer's
  // bits are 2^shift apart.
  unsigned offsets[kPlaces];
  __device__ __forceinline__ Unpack() {
#pragma unroll
    for (int place = 0; place < kPlaces; ++place)
      offsets[place] =
          power(10 - kBits * place, true) + 0x00010001u * (1u << (kBits - 1) << (kBits * place));
  }
  // The bits of a pair of 1024 - 1024 / 2^shift.
  __device__ __forceinline__ static constexpr unsigned rest(int shift) {
    return 0x00010001u * ((9u + 15) << 10 | (1024u - (2048u >> shift)));
  }
  // `value` is minus 1024 and the zero point (kWhole), or minus the zero point (kFraction).
  __device__ __forceinline__ void set(Offset value) {
    offsets[0] = 0x00010001u * value.bits;
#pragma unroll
    for (int place = 1; place < kPlaces; ++place)
      offsets[place] = kZeros == Zeros::kFraction
                           ? offsets[0]
                           : addPairs(f16{}, offsets[0], rest(kBits * place));
  }
  __device__ __forceinline__ unsigned operator()(unsigned word, int pair) const {
    const int place = pair % kPlaces, shift = kBits * place;
    const unsigned numbers = ((pair < kPlaces ? word : word >> 8) & kMask << shift) | kPower;
    if constexpr (kZeros == Zeros::kFraction) {
      const unsigned whole = multiplyAddPairs(numbers, power(-shift), power(10 - shift, true));
      return addPairs(f16{}, whole, offsets[place]);
    }
    if (place == 0) return addPairs(f16{}, numbers, offsets[0]);
    return multiplyAddPairs(numbers, power(-shift), offsets[place]);
  }
};

// Eight bits are too many for bf16's seven: they go through f32.
template <Zeros kZeros>
struct Unpack<bf16, 8, kZeros> {
  static constexpr unsigned kPower = 0x4b000000u;  // 2^23
  using Offset = float;
  static constexpr int kPairs = 2;

  float offset = -8388736.0f;  // -(2^23 + 128)
  __device__ __forceinline__ void set(Offset value) { offset = value; }
  __device__ __forceinline__ float number(unsigned word, int byte) const {
    return __uint_as_float((word >> (8 * byte) & 0xffu) | kPower) + offset;
  }
  __device__ __forceinline__ unsigned operator()(unsigned word, int pair) const {
    return packed(bf16{}, number(word, pair), number(word, pair + 2));
  }
};

// Weights that are stored as they are multiplied, without scales.
struct UnpackNothing {
  static constexpr int kPairs = 1;
  __device__ __forceinline__ unsigned operator()(unsigned word, int) const { return word; }
};
template <Zeros kZeros>
struct Unpack<bf16, 16, kZeros> : UnpackNothing {
  using Offset = bf16;
};
template <Zeros kZeros>
struct Unpack<f16, 16, kZeros> : UnpackNothing {
  using Offset = f16;
};

}  // namespace nbits
