// From a run-time element type to a compile-time one.
#pragma once

#include "support/data_type.h"
#include "support/error.h"
#include "support/half.h"

namespace camshaft {

// Calls f(T{}) with the C++ type that stores one element: dispatch(type, [&](auto tag) { using T
// = decltype(tag); ... }). Packed 4-bit types have no such type and are refused.
template <class F>
decltype(auto) dispatch(DataType type, F&& f) {
  switch (type) {
    case DataType::kF32: return f(float{});
    case DataType::kF16: return f(Half{});
    case DataType::kBF16: return f(BFloat16{});
    case DataType::kF64: return f(double{});
    case DataType::kI8: return f(int8_t{});
    case DataType::kI16: return f(int16_t{});
    case DataType::kI32: return f(int32_t{});
    case DataType::kI64: return f(int64_t{});
    case DataType::kU8: return f(uint8_t{});
    case DataType::kU16: return f(uint16_t{});
    case DataType::kU32: return f(uint32_t{});
    case DataType::kU64: return f(uint64_t{});
    case DataType::kBool: return f(bool{});
    case DataType::kF8E4M3: return f(Float8E4M3{});
    case DataType::kF8E5M2: return f(Float8E5M2{});
    default: fail(ErrorKind::kUnsupported, "elements of type ", type, " cannot be addressed one by one");
  }
}

// Calls f(T{}) with an unsigned integer as wide as the element: for code that only moves data.
template <class F>
decltype(auto) dispatchWidth(DataType type, F&& f) {
  switch (bitsOf(type)) {
    case 8: return f(uint8_t{});
    case 16: return f(uint16_t{});
    case 32: return f(uint32_t{});
    case 64: return f(uint64_t{});
    default: fail(ErrorKind::kUnsupported, "elements of type ", type, " cannot be moved one by one");
  }
}

// The type to compute in: float for the narrow floats, the type itself otherwise.
template <class T>
struct ComputeOf {
  using Type = T;
};
template <> struct ComputeOf<Half> { using Type = float; };
template <> struct ComputeOf<BFloat16> { using Type = float; };
template <> struct ComputeOf<Float8E4M3> { using Type = float; };
template <> struct ComputeOf<Float8E5M2> { using Type = float; };
template <class T>
using Compute = typename ComputeOf<T>::Type;

}  // namespace camshaft
