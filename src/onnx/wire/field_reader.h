// Walks the fields of one protobuf message, and knows where in the model it is. For this
// folder's source files only: it brings protozero in.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace camshaft::onnx {

// The messages being read, outermost first, for error messages and the nesting limit.
class Trail {
 public:
  explicit Trail(std::string source) : source_(std::move(source)) {}

  struct Step {
    std::string_view kind;     // "node"
    int64_t index;             // among its siblings; negative for an only child
    std::string_view message;  // its encoded bytes
    uint32_t nameTag;          // the field that holds its name; 0 when it has none
  };

  void push(const Step& step);  // throws Error past the nesting limit
  void pop() { steps_.pop_back(); }
  [[noreturn]] void fail(std::string_view reason) const;

 private:
  std::string where() const;

  std::string source_;
  std::vector<Step> steps_;
};

// while (in.next()) switch (in.tag()) { ... default: in.skip(); }
// Every accessor consumes the current field, and throws Error when its wire type is another one
// or its data runs out. Constructing a reader enters its message, destroying it leaves.
class FieldReader {
 public:
  FieldReader(Trail& trail, const Trail::Step& step);
  FieldReader(const FieldReader&) = delete;
  FieldReader& operator=(const FieldReader&) = delete;
  ~FieldReader() { trail_.pop(); }

  bool next();
  uint32_t tag() const { return tag_; }
  void skip();

  int64_t varint();
  int32_t code() { return static_cast<int32_t>(varint()); }
  float fixed32();
  std::string_view bytes();
  FieldReader message(std::string_view kind, int64_t index, uint32_t nameTag);

  // Repeated numbers, one per field or packed.
  template <class Sink>
  void varints(Sink&& sink);
  std::string_view fixed(size_t width);  // the encoded elements, one or many

  // The whole message this reader walks.
  std::string_view whole() const { return whole_; }
  [[noreturn]] void fail(std::string_view reason) const { trail_.fail(reason); }

 private:
  void expect(protozero::pbf_wire_type type) const;
  void advanceTo(const char* position);
  template <class Read>
  auto guarded(Read&& read) const;

  Trail& trail_;
  std::string_view whole_;
  protozero::pbf_reader reader_;
  uint32_t tag_ = 0;
  protozero::pbf_wire_type wireType_ = protozero::pbf_wire_type::unknown;
};

template <class Read>
auto FieldReader::guarded(Read&& read) const {
  try {
    return read();
  } catch (const protozero::end_of_buffer_exception&) {
    fail("a field runs past the end of its message");
  } catch (const protozero::exception&) {
    fail("a field is encoded in a way protobuf does not allow");
  }
}

template <class Sink>
void FieldReader::varints(Sink&& sink) {
  if (wireType_ != protozero::pbf_wire_type::length_delimited) {
    sink(varint());
    return;
  }
  const std::string_view packed = bytes();
  const char* position = packed.data();
  const char* const end = position + packed.size();
  while (position != end) {
    sink(guarded([&] { return static_cast<int64_t>(protozero::decode_varint(&position, end)); }));
  }
}

}  // namespace camshaft::onnx
