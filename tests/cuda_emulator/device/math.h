// The mathematical functions NVRTC knows without a header, in the global namespace.
#pragma once

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

// name(double), namef(float), and the overload name(float).
#define CAMSHAFT_MATH1(name)                \
  extern "C" float name##f(float) noexcept; \
  extern "C" double name(double) noexcept;  \
  inline float name(float x) { return name##f(x); }
#define CAMSHAFT_MATH2(name)                       \
  extern "C" float name##f(float, float) noexcept; \
  extern "C" double name(double, double) noexcept; \
  inline float name(float x, float y) { return name##f(x, y); }
#define CAMSHAFT_MATH_TO(type, name)       \
  extern "C" type name##f(float) noexcept; \
  extern "C" type name(double) noexcept;   \
  inline type name(float x) { return name##f(x); }

// clang-format off
CAMSHAFT_MATH1(exp) CAMSHAFT_MATH1(exp2) CAMSHAFT_MATH1(expm1) CAMSHAFT_MATH1(log)
CAMSHAFT_MATH1(log2) CAMSHAFT_MATH1(log10) CAMSHAFT_MATH1(log1p) CAMSHAFT_MATH1(logb)
CAMSHAFT_MATH1(sqrt) CAMSHAFT_MATH1(cbrt) CAMSHAFT_MATH1(sin) CAMSHAFT_MATH1(cos)
CAMSHAFT_MATH1(tan) CAMSHAFT_MATH1(asin) CAMSHAFT_MATH1(acos) CAMSHAFT_MATH1(atan)
CAMSHAFT_MATH1(sinh) CAMSHAFT_MATH1(cosh) CAMSHAFT_MATH1(tanh) CAMSHAFT_MATH1(asinh)
CAMSHAFT_MATH1(acosh) CAMSHAFT_MATH1(atanh) CAMSHAFT_MATH1(erf) CAMSHAFT_MATH1(erfc)
CAMSHAFT_MATH1(lgamma) CAMSHAFT_MATH1(tgamma) CAMSHAFT_MATH1(fabs) CAMSHAFT_MATH1(floor)
CAMSHAFT_MATH1(ceil) CAMSHAFT_MATH1(trunc) CAMSHAFT_MATH1(round) CAMSHAFT_MATH1(rint)
CAMSHAFT_MATH1(nearbyint)
CAMSHAFT_MATH2(pow) CAMSHAFT_MATH2(fmod) CAMSHAFT_MATH2(remainder) CAMSHAFT_MATH2(atan2)
CAMSHAFT_MATH2(hypot) CAMSHAFT_MATH2(copysign) CAMSHAFT_MATH2(fdim) CAMSHAFT_MATH2(fmax)
CAMSHAFT_MATH2(fmin) CAMSHAFT_MATH2(nextafter)
CAMSHAFT_MATH_TO(long, lrint) CAMSHAFT_MATH_TO(long long, llrint)
CAMSHAFT_MATH_TO(long, lround) CAMSHAFT_MATH_TO(long long, llround) CAMSHAFT_MATH_TO(int, ilogb)
#undef CAMSHAFT_MATH1
#undef CAMSHAFT_MATH2
#undef CAMSHAFT_MATH_TO

extern "C" {
float exp10f(float) noexcept;
double exp10(double) noexcept;
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
float ldexpf(float, int) noexcept;
double ldexp(double, int) noexcept;
float scalbnf(float, int) noexcept;
double scalbn(double, int) noexcept;
float frexpf(float, int*) noexcept;
double frexp(double, int*) noexcept;
float modff(float, float*) noexcept;
double modf(double, double*) noexcept;
void sincosf(float, float*, float*) noexcept;
void sincos(double, double*, double*) noexcept;
int abs(int) noexcept;
long labs(long) noexcept;
long long llabs(long long) noexcept;
int printf(const char*, ...);
void* memcpy(void*, const void*, size_t) noexcept;
void* memset(void*, int, size_t) noexcept;
}
// clang-format on

inline float exp10(float x) { return exp10f(x); }
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float ldexp(float x, int e) { return ldexpf(x, e); }
inline float scalbn(float x, int e) { return scalbnf(x, e); }
inline float frexp(float x, int* e) { return frexpf(x, e); }
inline float modf(float x, float* whole) { return modff(x, whole); }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
inline long abs(long x) { return labs(x); }
inline long long abs(long long x) { return llabs(x); }
inline float pow(float x, int n) { return powf(x, static_cast<float>(n)); }
inline double pow(double x, int n) { return pow(x, static_cast<double>(n)); }

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float sinpif(float x) { return static_cast<float>(sin(3.14159265358979323846 * x)); }
inline float cospif(float x) { return static_cast<float>(cos(3.14159265358979323846 * x)); }
inline double sinpi(double x) { return sin(3.14159265358979323846 * x); }
inline double cospi(double x) { return cos(3.14159265358979323846 * x); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline float normcdff(float x) { return static_cast<float>(normcdf(x)); }
inline float fdividef(float x, float y) { return x / y; }

#define CAMSHAFT_CLASSIFY(name)                                \
  constexpr bool name(float x) { return __builtin_##name(x); } \
  constexpr bool name(double x) { return __builtin_##name(x); }
CAMSHAFT_CLASSIFY(isnan)
CAMSHAFT_CLASSIFY(isinf)
CAMSHAFT_CLASSIFY(isfinite)
CAMSHAFT_CLASSIFY(signbit)
#undef CAMSHAFT_CLASSIFY

// min and max: floats as fmin and fmax (a NaN loses); mixed signs compare as unsigned.
#define CAMSHAFT_MINMAX(result, left, right)                        \
  constexpr result min(left a, right b) {                           \
    return static_cast<result>(b) < static_cast<result>(a) ? b : a; \
  }                                                                 \
  constexpr result max(left a, right b) {                           \
    return static_cast<result>(a) < static_cast<result>(b) ? b : a; \
  }
CAMSHAFT_MINMAX(int, int, int)
CAMSHAFT_MINMAX(unsigned, unsigned, unsigned)
CAMSHAFT_MINMAX(unsigned, int, unsigned)
CAMSHAFT_MINMAX(unsigned, unsigned, int)
CAMSHAFT_MINMAX(long, long, long)
CAMSHAFT_MINMAX(unsigned long, unsigned long, unsigned long)
CAMSHAFT_MINMAX(unsigned long, long, unsigned long)
CAMSHAFT_MINMAX(unsigned long, unsigned long, long)
CAMSHAFT_MINMAX(long long, long long, long long)
CAMSHAFT_MINMAX(unsigned long long, unsigned long long, unsigned long long)
CAMSHAFT_MINMAX(unsigned long long, long long, unsigned long long)
CAMSHAFT_MINMAX(unsigned long long, unsigned long long, long long)
#undef CAMSHAFT_MINMAX
inline float min(float a, float b) { return __builtin_fminf(a, b); }
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
inline double min(double a, double b) { return __builtin_fmin(a, b); }
inline double max(double a, double b) { return __builtin_fmax(a, b); }
inline double min(float a, double b) { return __builtin_fmin(a, b); }
inline double max(float a, double b) { return __builtin_fmax(a, b); }
inline double min(double a, float b) { return __builtin_fmin(a, b); }
inline double max(double a, float b) { return __builtin_fmax(a, b); }
