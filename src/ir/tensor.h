// Host tensors: views for evaluation, and constant data with shared ownership.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "support/data_type.h"
#include "support/error.h"

namespace camshaft {

using Dims = std::vector<int64_t>;  // concrete sizes

inline int64_t countOf(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

// A contiguous row-major tensor in host memory, not owned.
struct TensorView {
  DataType type = DataType::kF32;
  Dims dims;
  void* data = nullptr;

  int64_t count() const { return countOf(dims); }
  size_t bytes() const { return bytesOf(type, count()); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

struct ConstTensorView {
  DataType type = DataType::kF32;
  Dims dims;
  const void* data = nullptr;

  ConstTensorView() = default;
  ConstTensorView(DataType type, Dims dims, const void* data)
      : type(type), dims(std::move(dims)), data(data) {}
  ConstTensorView(const TensorView& view) : type(view.type), dims(view.dims), data(view.data) {}
  bool present() const { return data != nullptr; }  // optional inputs may be left out
  int64_t count() const { return countOf(dims); }
  size_t bytes() const { return bytesOf(type, count()); }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

// Immutable bytes of a constant; `owner` keeps them alive (a mapped model file, a vector, ...).
struct ConstantData {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  // A refit may put other bytes in their place: nothing may be decided by these, and what is
  // computed from them is opaque too.
  bool isOpaque = false;
  // Where they were given: weights of a caller or model have this, what an importer makes up does
  // not. Only compared.
  const void* given = nullptr;

  static std::shared_ptr<const ConstantData> own(std::vector<std::byte> bytes,
                                                 bool isOpaque = false);
  template <class T>
  static std::shared_ptr<const ConstantData> of(std::span<const T> values) {
    const auto raw = std::as_bytes(values);
    return own(std::vector<std::byte>(raw.begin(), raw.end()));
  }
};
using ConstantPtr = std::shared_ptr<const ConstantData>;

// One element as a number, whatever the type.
double readElement(DataType type, const void* data, int64_t index);
int64_t readInteger(DataType type, const void* data, int64_t index);
void writeElement(DataType type, void* data, int64_t index, double value);

}  // namespace camshaft
