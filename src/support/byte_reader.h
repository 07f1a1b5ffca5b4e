// Little-endian bytes to values and back, for kernel parameters and caches.
//
// Strings and vectors are a 64-bit count and then their elements, without alignment.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace camshaft {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie");

template <class T>
concept PlainValue = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

// Reads front to back. Whatever does not fit in what is left is Error(kInvalidEngine), so bytes
// of any origin can be read. The bytes must outlive the reader.
class ByteReader {
 public:
  // `what` names the bytes in messages: "the timing cache".
  explicit ByteReader(std::span<const std::byte> bytes, std::string_view what = "the data")
      : bytes_(bytes), what_(what) {}

  template <PlainValue T>
  T read() {
    if constexpr (std::is_same_v<T, bool>) {
      return readBool();
    } else {
      T value;
      std::memcpy(&value, take(1, sizeof(T)).data(), sizeof(T));
      return value;
    }
  }

  template <PlainValue T>
  std::vector<T> readVector() {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no bytes; use uint8_t");
    const uint64_t count = read<uint64_t>();
    const std::span<const std::byte> source = take(count, sizeof(T));
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), source.data(), source.size());
    return values;
  }

  std::string readString();
  std::vector<std::string> readStrings();

  // The next `count` bytes, where they lie.
  std::span<const std::byte> readBytes(uint64_t count) { return take(count, 1); }

  size_t remaining() const { return bytes_.size() - position_; }
  size_t position() const { return position_; }
  void expectEnd() const;  // for a reader that should have used everything

 private:
  bool readBool();
  std::span<const std::byte> take(uint64_t count, size_t size);

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  std::string what_;
};

class ByteWriter {
 public:
  // Padding inside a struct is written as zeros, so equal values give equal bytes.
  template <PlainValue T>
  void write(T value) {
#if __has_builtin(__builtin_clear_padding)
    if constexpr (std::is_class_v<T>) __builtin_clear_padding(&value);
#endif
    append(&value, sizeof(T));
  }

  template <PlainValue T>
  void writeVector(const std::vector<T>& values) {
    writeVector(std::span<const T>(values));
  }
  template <PlainValue T>
  void writeVector(std::span<const T> values) {
    write<uint64_t>(values.size());
    if constexpr (std::is_class_v<T>) {
      for (const T& value : values) write(value);
    } else {
      append(values.data(), values.size_bytes());
    }
  }

  void writeString(std::string_view text);
  void writeStrings(std::span<const std::string> texts);
  void writeBytes(std::span<const std::byte> bytes) { append(bytes.data(), bytes.size()); }

  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* data, size_t size);

  std::vector<std::byte> bytes_;
};

}  // namespace camshaft
