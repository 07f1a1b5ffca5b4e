#include "ops/walk.h"

#include "ir/dispatch.h"

namespace camshaft {

namespace {

template <class Wide>
std::vector<Wide> readAll(const ConstTensorView& tensor) {
  if (!tensor.present()) return {};
  std::vector<Wide> values(tensor.count());
  dispatch(tensor.type, [&](auto tag) {
    using T = decltype(tag);
    const T* from = tensor.as<T>();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<Wide>(static_cast<Compute<T>>(from[i]));
  });
  return values;
}

template <class Wide>
void writeAll(const TensorView& tensor, std::span<const Wide> values) {
  CAMSHAFT_CHECK(static_cast<int64_t>(values.size()) == tensor.count());
  dispatch(tensor.type, [&](auto tag) {
    using T = decltype(tag);
    T* to = tensor.as<T>();
    for (size_t i = 0; i < values.size(); ++i)
      to[i] = static_cast<T>(static_cast<Compute<T>>(values[i]));
  });
}

}  // namespace

std::vector<double> readReals(const ConstTensorView& tensor) { return readAll<double>(tensor); }
void writeReals(const TensorView& tensor, std::span<const double> values) {
  writeAll(tensor, values);
}
std::vector<uint64_t> readIntegers(const ConstTensorView& tensor) {
  return readAll<uint64_t>(tensor);
}
void writeIntegers(const TensorView& tensor, std::span<const uint64_t> values) {
  writeAll(tensor, values);
}

}  // namespace camshaft
