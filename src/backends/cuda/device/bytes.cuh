// Bytes between kernels of quantised graphs, with few instructions for each: they are read and
// written as words, and what is quantised only to be dequantised stays a float. Follows the
// prelude.
template <class S>
constexpr bool kIsByte = std::is_same_v<S, unsigned char> || std::is_same_v<S, signed char>;
template <class S>
constexpr bool kIsFloat8 = std::is_same_v<S, f8e4m3> || std::is_same_v<S, f8e5m2>;

// ---- Elements in memory ----------------------------------------------------------------------

// N elements on their way from or to memory: bytes in words, of which instructions take bytes.
template <class S, int N>
struct alignas(N < 16 ? N : 16) ByteWords {
  unsigned words[N / 4];
};
template <class S>
struct BytePair {
  unsigned short bits;
};
template <class S, int N>
using Elements =
    std::conditional_t<!(kIsByte<S> || kIsFloat8<S>) || (N != 2 && N % 4 != 0), Vector<S, N>,
                       std::conditional_t<N == 2, BytePair<S>, ByteWords<S, N == 2 ? 4 : N>>>;

template <int N, class S>
__device__ __forceinline__ Elements<S, N> readElements(const S* from) {
  return *reinterpret_cast<const Elements<S, N>*>(from);
}
template <int N, class S>
__device__ __forceinline__ void writeElements(S* to, const Elements<S, N>& elements) {
  *reinterpret_cast<Elements<S, N>*>(to) = elements;
}

// One of the bytes of a word, which need not be taken out.
template <class S>
struct ByteAt {
  unsigned word;
  int at;
  __device__ __forceinline__ operator S() const {
    const auto bits = static_cast<unsigned char>(word >> 8 * at);
    if constexpr (kIsFloat8<S>)
      return S{bits};
    else
      return static_cast<S>(bits);
  }
};
// Floats of 8 bits are converted two at a time.
template <class S>
__device__ __forceinline__ auto taken(ByteAt<S> byte) {
  if constexpr (kIsFloat8<S>)
    return float8At<S>(byte.word >> byte.at / 2 * 16, byte.at % 2);
  else
    return byte;
}

template <class S, int N>
__device__ __forceinline__ Compute<S> elementAt(const Vector<S, N>& elements, int i) {
  return toCompute(elements.v[i]);
}
template <class S, int N>
__device__ __forceinline__ auto elementAt(const ByteWords<S, N>& elements, int i) {
  return taken(ByteAt<S>{elements.words[i / 4], i % 4});
}
template <class S>
__device__ __forceinline__ auto elementAt(const BytePair<S>& pair, int i) {
  return taken(ByteAt<S>{pair.bits, i});
}

// An element as stored.
template <class S, int N>
__device__ __forceinline__ S storedAt(const Vector<S, N>& elements, int i) {
  return elements.v[i];
}
template <class S, int N>
__device__ __forceinline__ S storedAt(const ByteWords<S, N>& elements, int i) {
  return ByteAt<S>{elements.words[i / 4], i % 4};
}

// ---- Floats from bytes -----------------------------------------------------------------------

// 2^23 + byte is a float that ends with the byte; bytes with a sign have 128 added to them.
constexpr float kBeforeByte = 8388608.0f;
template <class S>
constexpr float kFirstByte = std::is_same_v<S, signed char> ? kBeforeByte + 128 : kBeforeByte;
template <class S>
__device__ __forceinline__ float behindByte(ByteAt<S> byte) {
  const unsigned flip = std::is_same_v<S, signed char> ? 0x80808080u : 0;
  return __uint_as_float(__byte_perm(__float_as_uint(kBeforeByte), byte.word ^ flip,
                                     0x3214 + static_cast<unsigned>(byte.at)));
}

// byte - zero; `zero` is a byte too.
template <class S>
__device__ __forceinline__ float fromByte(ByteAt<S> byte, float zero) {
  return __fadd_rn(behindByte(byte), -(kFirstByte<S> + zero));
}
template <class S>
__device__ __forceinline__ float fromByte(S byte, float zero) {
  return __fadd_rn(static_cast<float>(byte), -zero);
}
// byte * scale, rounded once: 2^23 * scale is exact where scale is far from the largest floats.
__device__ __forceinline__ float scaledByte(ByteAt<unsigned char> byte, float scale) {
  return __fmaf_rn(behindByte(byte), scale, -kBeforeByte * scale);
}
template <class B>
__device__ __forceinline__ float scaledByte(B byte, float scale) {
  return __fmul_rn(fromByte(byte, 0), scale);
}

// ---- Bytes from floats -----------------------------------------------------------------------

// x / scale, or what every rounding to the bytes of its range takes for the same, by the scale's
// reciprocal in two parts (ops/byte_quotient.h).
__device__ __forceinline__ float quotient(float x, float high, float low) {
  return __fmaf_rn(x, high, __fmul_rn(x, low));
}

// Whole numbers up to 2^22 in size, halves to even ones: behind 1.5 * 2^23 floats have no fraction.
constexpr float kBehindFractions = 12582912.0f;
// round(x) + zero, or what saturates to the same byte.
__device__ __forceinline__ float wholePlus(float x, float zero) {
  return __fadd_rn(__fadd_rn(x, kBehindFractions), -(kBehindFractions - zero));
}

#ifdef CAMSHAFT_EMULATOR
template <class S>
int roundedByte(float x) {
  constexpr float kLow = std::is_same_v<S, signed char> ? -128 : 0;
  const float whole = std::rint(x);
  return x != x ? 0
                : static_cast<int>(whole < kLow         ? kLow
                                   : whole > kLow + 255 ? kLow + 255
                                                        : whole);
}
template <class S>
unsigned appendBytes(float first, float second, unsigned others) {
  return others << 16 | (roundedByte<S>(second) & 0xff) << 8 | (roundedByte<S>(first) & 0xff);
}
#else
__device__ __forceinline__ int roundedInteger(float x) {
  int result;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(result) : "f"(x));
  return result;
}
// Rounded to the nearest byte, halves to even ones; NaN gives 0.
template <class S>
__device__ __forceinline__ int roundedByte(float x) {
  int result;
  if constexpr (std::is_same_v<S, signed char>)
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(result) : "f"(x));
  else
    asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(result) : "f"(x));
  return result;
}
// Two such bytes in front of two others: one instruction from compute capability 8.6 on.
template <class S>
__device__ __forceinline__ unsigned appendBytes(float first, float second, unsigned others) {
  unsigned result;
  if constexpr (std::is_same_v<S, signed char>)
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"(roundedInteger(second)), "r"(roundedInteger(first)), "r"(others));
  else
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"(roundedInteger(second)), "r"(roundedInteger(first)), "r"(others));
  return result;
}
#endif
template <class S>
__device__ __forceinline__ S toByte(float x) {
  return static_cast<S>(roundedByte<S>(x));
}

// The byte of round(x) + zero without its zero point, as a float.
template <class S>
__device__ __forceinline__ float stepsOf(float x, float zero) {
  const float low = (std::is_same_v<S, signed char> ? -128.0f : 0.0f) - zero;
  if constexpr (std::is_same_v<S, signed char>) x = x == x ? x : -zero;
  return wholePlus(fminf(fmaxf(x, low), low + 255.0f), 0);  // fmaxf gives a number for NaN
}
// Of the zero point 0.
template <class S>
__device__ __forceinline__ float stepsOf(float x) {
  if constexpr (std::is_same_v<S, unsigned char>)
    return static_cast<float>(roundedByte<S>(x));
  else
    return stepsOf<S>(x, 0.0f);
}

// Results as they are stored, of numbers of the compute type.
template <class S, int N>
__device__ __forceinline__ Elements<S, N> toElements(const Compute<S> (&values)[N]) {
  Elements<S, N> result;
  if constexpr (kIsByte<S> && N % 4 == 0) {
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
      result.words[i] = 0;
#pragma unroll
      for (int at = 0; at < 4; ++at)
        result.words[i] |= (static_cast<unsigned>(values[i * 4 + at]) & 0xffu) << 8 * at;
    }
  } else if constexpr (kIsByte<S> && N == 2) {
    result.bits = static_cast<unsigned short>((values[0] & 0xff) | (values[1] & 0xff) << 8);
  } else if constexpr (kIsFloat8<S> && N % 4 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 4)
      result.words[i / 4] = float8Pair<S>(values[i], values[i + 1]) |
                            float8Pair<S>(values[i + 2], values[i + 3]) << 16;
  } else if constexpr (kIsFloat8<S> && N == 2) {
    result.bits = static_cast<unsigned short>(float8Pair<S>(values[0], values[1]));
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) result.v[i] = toStorage<S>(values[i]);
  }
  return result;
}
// Of numbers that are rounded to bytes.
template <class S, int N>
__device__ __forceinline__ Elements<S, N> toRoundedBytes(const float (&values)[N]) {
  Elements<S, N> result;
  if constexpr (N % 4 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 4)
      result.words[i / 4] =
          appendBytes<S>(values[i], values[i + 1], appendBytes<S>(values[i + 2], values[i + 3], 0));
  } else if constexpr (N == 2) {
    result.bits = static_cast<unsigned short>(appendBytes<S>(values[0], values[1], 0));
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) result.v[i] = toByte<S>(values[i]);
  }
  return result;
}
