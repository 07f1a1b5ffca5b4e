// float4 and the like, with the alignments CUDA gives them.
#pragma once

#define CAMSHAFT_VECTOR(type, name, align2, align4)                              \
  struct name##1 { type x; };                                                    \
  struct alignas(align2) name##2 { type x, y; };                                 \
  struct name##3 { type x, y, z; };                                              \
  struct alignas(align4) name##4 { type x, y, z, w; };                           \
  constexpr name##1 make_##name##1(type x) { return {x}; }                       \
  constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

CAMSHAFT_VECTOR(signed char, char, 2, 4)
CAMSHAFT_VECTOR(unsigned char, uchar, 2, 4)
CAMSHAFT_VECTOR(short, short, 4, 8)
CAMSHAFT_VECTOR(unsigned short, ushort, 4, 8)
CAMSHAFT_VECTOR(int, int, 8, 16)
CAMSHAFT_VECTOR(unsigned, uint, 8, 16)
CAMSHAFT_VECTOR(long, long, 16, 16)
CAMSHAFT_VECTOR(unsigned long, ulong, 16, 16)
CAMSHAFT_VECTOR(long long, longlong, 16, 16)
CAMSHAFT_VECTOR(unsigned long long, ulonglong, 16, 16)
CAMSHAFT_VECTOR(float, float, 8, 16)
CAMSHAFT_VECTOR(double, double, 16, 16)
#undef CAMSHAFT_VECTOR

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
