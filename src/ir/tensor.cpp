#include "ir/tensor.h"

#include "ir/dispatch.h"
#include "ir/scalar_math.h"

namespace camshaft {

std::shared_ptr<const ConstantData> ConstantData::own(std::vector<std::byte> bytes, bool isOpaque) {
  auto storage = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  auto data = std::make_shared<ConstantData>();
  data->bytes = *storage;
  data->owner = std::move(storage);
  data->isOpaque = isOpaque;
  return data;
}

double readElement(DataType type, const void* data, int64_t index) {
  return dispatch(type, [&](auto tag) {
    using T = decltype(tag);
    return static_cast<double>(static_cast<Compute<T>>(static_cast<const T*>(data)[index]));
  });
}

int64_t readInteger(DataType type, const void* data, int64_t index) {
  return dispatch(type, [&](auto tag) {
    using T = decltype(tag);
    return scalar::convert<int64_t>(static_cast<Compute<T>>(static_cast<const T*>(data)[index]));
  });
}

void writeElement(DataType type, void* data, int64_t index, double value) {
  dispatch(type, [&](auto tag) {
    using T = decltype(tag);
    static_cast<T*>(data)[index] = static_cast<T>(scalar::convert<Compute<T>>(value));
  });
}

}  // namespace camshaft
