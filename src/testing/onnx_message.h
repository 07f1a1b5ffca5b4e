// Writes protobuf messages field by field, for tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace camshaft::onnx {

class Message {
 public:
  Message& varint(uint32_t tag, int64_t value) {
    writer().add_int64(tag, value);
    return *this;
  }
  Message& fixed(uint32_t tag, float value) {
    writer().add_float(tag, value);
    return *this;
  }
  Message& fixed(uint32_t tag, double value) {
    writer().add_double(tag, value);
    return *this;
  }
  Message& bytes(uint32_t tag, std::string_view value) {
    writer().add_bytes(tag, value.data(), value.size());
    return *this;
  }
  Message& message(uint32_t tag, const Message& value) { return bytes(tag, value.encoded_); }
  Message& packed(uint32_t tag, const std::vector<int64_t>& values) {
    writer().add_packed_int64(tag, values.begin(), values.end());
    return *this;
  }
  Message& packed(uint32_t tag, const std::vector<float>& values) {
    writer().add_packed_float(tag, values.begin(), values.end());
    return *this;
  }
  Message& packed(uint32_t tag, const std::vector<double>& values) {
    writer().add_packed_double(tag, values.begin(), values.end());
    return *this;
  }
  Message& varints(uint32_t tag, const std::vector<int64_t>& values) {
    for (const int64_t value : values) varint(tag, value);
    return *this;
  }

  const std::string& encoded() const { return encoded_; }
  std::span<const std::byte> asBytes() const { return std::as_bytes(std::span(encoded_)); }

 private:
  protozero::pbf_writer writer() { return protozero::pbf_writer(encoded_); }
  std::string encoded_;
};

// TensorProto with its name, type and dims.
inline Message tensorMessage(std::string_view name, int64_t onnxCode,
                             const std::vector<int64_t>& dims) {
  return Message().varints(1, dims).varint(2, onnxCode).bytes(8, name);
}

inline Message modelWith(const Message& graph) { return Message().varint(1, 10).message(7, graph); }

inline std::span<const std::byte> asBytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace camshaft::onnx
