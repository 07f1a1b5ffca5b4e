// Copies between strided views of two tensors: all that the moving operators do.
#pragma once

#include <cstring>

#include "ir/dispatch.h"
#include "ops/walk.h"

namespace camshaft {

// Where the element at `index` lies: first + index . strides, in elements.
struct StridedView {
  int64_t first = 0;
  Dims strides;
  int64_t at(const Dims& index) const { return first + offsetOf(index, strides); }
};

// Calls copy(from, to) with element positions; `copy` moves one element of the given type.
template <class F>
void withElementCopy(DataType type, const void* source, void* target, F&& f) {
  if (isPacked(type))
    return f([&, width = bitsOf(type)](int64_t from, int64_t to) {
      setPacked(target, to, width, getPacked(source, from, width));
    });
  dispatchWidth(type, [&](auto tag) {
    using T = decltype(tag);
    f([&](int64_t from, int64_t to) {
      static_cast<T*>(target)[to] = static_cast<const T*>(source)[from];
    });
  });
}

inline void moveElements(DataType type, const Dims& dims, const void* source,
                         const StridedView& from, void* target, const StridedView& to) {
  // Neighbours that stay neighbours, as joined weights have them by the million.
  int64_t run = 1;
  size_t outer = dims.size();
  for (; outer > 0; --outer) {
    const bool isAlone = dims[outer - 1] == 1;
    const bool isDense = from.strides[outer - 1] == run && to.strides[outer - 1] == run;
    if (!isAlone && !isDense) break;
    run *= dims[outer - 1];
  }
  if (run > 1 && !isPacked(type)) {
    const int64_t width = bitsOf(type) / 8;
    return forEachIndex(Dims(dims.begin(), dims.begin() + outer), [&](const Dims& index) {
      std::memcpy(static_cast<std::byte*>(target) + to.at(index) * width,
                  static_cast<const std::byte*>(source) + from.at(index) * width, run * width);
    });
  }
  withElementCopy(type, source, target, [&](auto copy) {
    forEachIndex(dims, [&](const Dims& index) { copy(from.at(index), to.at(index)); });
  });
}

}  // namespace camshaft
