#include "ir/tensor.h"

#include "ir/dispatch.h"
#include "ir/scalar_math.h"
#include "support/mapped_file.h"

namespace camshaft {

std::shared_ptr<const ConstantData> ConstantData::own(std::vector<std::byte> bytes, bool isOpaque) {
  auto data = std::make_shared<ConstantData>();
  data->isOpaque = isOpaque;
  // Large ones are weights that passes have put together: from a file they come into memory while
  // they are packed, and not for the whole of a build.
  constexpr size_t kLarge = 1 << 20;
  if (bytes.size() >= kLarge)
    if (std::optional<MappedFile> file = MappedFile::inScratchFile(bytes)) {
      data->bytes = file->bytes();
      data->owner = std::make_shared<const MappedFile>(std::move(*file));
      return data;
    }
  auto storage = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  data->bytes = *storage;
  data->owner = std::move(storage);
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
