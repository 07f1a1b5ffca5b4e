// From a run-time element type to a compile-time one.
#pragma once

#include "support/boolean.h"
#include "support/data_type.h"
#include "support/error.h"
#include "support/half.h"
#include "support/packed.h"

namespace camshaft {

// Calls f(T{}) with the C++ type of one element: dispatchElement(type, [&](auto tag) { using T =
// decltype(tag); ... }). Packed elements (isPacked) are not addressable in memory.
template <class F>
decltype(auto) dispatchElement(DataType type, F&& f) {
  switch (type) {
#define CAMSHAFT_DATA_TYPE(Name, text, bits, kind, Element) \
  case DataType::k##Name:                                   \
    return f(Element{});
#include "support/data_types.def"
#undef CAMSHAFT_DATA_TYPE
  }
  CAMSHAFT_CHECK(false, "there is no element type ", static_cast<int>(type));
}

// The same for code that reads or writes elements in memory: packed types are refused.
template <class F>
decltype(auto) dispatch(DataType type, F&& f) {
  switch (type) {
#define CAMSHAFT_DATA_TYPE(Name, text, bits, kind, Element) \
  case DataType::k##Name:                                   \
    if constexpr (bits >= 8) return f(Element{});           \
    break;
#include "support/data_types.def"
#undef CAMSHAFT_DATA_TYPE
  }
  fail(ErrorKind::kUnsupported, "elements of type ", type, " cannot be addressed one by one");
}

// Calls f(T{}) with an unsigned integer as wide as the element: for code that only moves data.
template <class F>
decltype(auto) dispatchWidth(DataType type, F&& f) {
  switch (bitsOf(type)) {
    case 8:
      return f(uint8_t{});
    case 16:
      return f(uint16_t{});
    case 32:
      return f(uint32_t{});
    case 64:
      return f(uint64_t{});
    default:
      fail(ErrorKind::kUnsupported, "elements of type ", type, " cannot be moved one by one");
  }
}

// The type to compute in: float for the narrow floats, a byte for packed integers, else the type
// itself.
template <class T>
struct ComputeOf {
  using Type = T;
};
template <class T>
  requires requires { typename T::Compute; }
struct ComputeOf<T> {
  using Type = typename T::Compute;
};
template <class T>
using Compute = typename ComputeOf<T>::Type;

}  // namespace camshaft
