// Indices of 32 or 64 bits, and the elements they point at.
#pragma once

#include <cstring>

#include "backend/launch.h"
#include "support/error.h"

namespace camshaft::cpu::index {

class Indices {
 public:
  explicit Indices(const TensorArg& tensor)
      : data_(tensor.data), isWide_(tensor.type == DataType::kI64) {}
  int64_t operator[](int64_t i) const {
    return isWide_ ? static_cast<const int64_t*>(data_)[i] : static_cast<const int32_t*>(data_)[i];
  }
  int64_t position(int64_t i, int64_t size, bool mayLieOutside = false) const {
    return positionOf((*this)[i], size, mayLieOutside);
  }
  // Calls f with a pointer to them.
  template <class F>
  void visit(F&& f) const {
    isWide_ ? f(static_cast<const int64_t*>(data_)) : f(static_cast<const int32_t*>(data_));
  }

  // Counted from the end when negative. What lies outside fails, or is -1 where it may.
  static int64_t positionOf(int64_t index, int64_t size, bool mayLieOutside = false) {
    const int64_t at = index < 0 ? index + size : index;
    if (at >= 0 && at < size) return at;
    if (!mayLieOutside)
      fail(ErrorKind::kInvalidArgument, "index ", index, " lies outside of a dimension of size ",
           size);
    return -1;
  }

 private:
  const void* data_;
  bool isWide_;
};

inline int64_t countOf(const int64_t* dims, int begin, int end) {
  int64_t count = 1;
  for (int i = begin; i < end; ++i) count *= dims[i];
  return count;
}

// A constant size lets the compiler use plain moves for single elements.
inline void copyBytes(std::byte* to, const std::byte* from, size_t bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

// Calls f(T()) with an integer as wide as elements of so many bytes.
template <class F>
void withWidth(size_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

}  // namespace camshaft::cpu::index
