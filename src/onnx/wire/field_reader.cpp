#include "onnx/wire/field_reader.h"

#include <cstring>
#include <optional>
#include <protozero/varint.hpp>

#include "support/error.h"

namespace camshaft::onnx {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

namespace {

// A subgraph is three messages deep (node, attribute, graph): this allows 64 of them nested.
constexpr size_t kMaxNesting = 200;

// Fields may come in any order, so a name is searched for only once it is needed, and in bytes
// that may be damaged.
std::string findName(const Trail::Step& step) {
  std::string name;
  if (step.nameTag == 0) return name;
  try {
    pbf_reader reader(step.message.data(), step.message.size());
    while (reader.next(step.nameTag, pbf_wire_type::length_delimited)) name = reader.get_string();
  } catch (const protozero::exception&) {
    // What was found up to here will do.
  }
  return name;
}

std::string describe(const Trail::Step& step) {
  std::string text(step.kind);
  if (step.index >= 0) text += str(" ", step.index);
  const std::string name = findName(step);
  if (!name.empty()) text += str(" '", name, "'");
  return text;
}

}  // namespace

void Trail::push(const Step& step) {
  if (steps_.size() >= kMaxNesting) fail("messages are nested too deeply");
  steps_.push_back(step);
}

std::string Trail::where() const {
  constexpr size_t kShown = 6;
  std::vector<std::string> parts;
  for (size_t i = steps_.size() > kShown ? steps_.size() - kShown : 0; i < steps_.size(); ++i) {
    parts.push_back(describe(steps_[i]));
  }
  return join(parts, ", ");
}

void Trail::fail(std::string_view reason) const {
  camshaft::fail(ErrorKind::kInvalidModel, source_, " is not a valid ONNX model: in ", where(),
                 ", ", reason);
}

FieldReader::FieldReader(Trail& trail, const Trail::Step& step)
    : trail_(trail), whole_(step.message), reader_(step.message.data(), step.message.size()) {
  trail_.push(step);
}

bool FieldReader::next() {
  if (!guarded([&] { return reader_.next(); })) return false;
  tag_ = reader_.tag();
  wireType_ = reader_.wire_type();
  return true;
}

void FieldReader::skip() {
  if (wireType_ == pbf_wire_type::length_delimited) {
    bytes();
  } else {
    guarded([&] { reader_.skip(); });
  }
}

void FieldReader::expect(pbf_wire_type type) const {
  if (wireType_ != type) fail(str("field ", tag_, " has the wrong wire type"));
}

void FieldReader::advanceTo(const char* position) {
  reader_ = pbf_reader(position, static_cast<size_t>(whole_.data() + whole_.size() - position));
}

int64_t FieldReader::varint() {
  expect(pbf_wire_type::varint);
  return guarded([&] { return reader_.get_int64(); });
}

float FieldReader::fixed32() {
  expect(pbf_wire_type::fixed32);
  return guarded([&] { return reader_.get_float(); });
}

// Not pbf_reader::get_view(), which cuts a length to 32 bits before it checks it.
std::string_view FieldReader::bytes() {
  expect(pbf_wire_type::length_delimited);
  return guarded([&] {
    const char* position = reader_.data().data();
    const char* const end = whole_.data() + whole_.size();
    const uint64_t length = protozero::decode_varint(&position, end);
    if (length > static_cast<uint64_t>(end - position)) throw protozero::end_of_buffer_exception();
    advanceTo(position + length);
    return std::string_view(position, length);
  });
}

FieldReader FieldReader::message(std::string_view kind, int64_t index, uint32_t nameTag) {
  return FieldReader(trail_, {kind, index, bytes(), nameTag});
}

std::string_view FieldReader::fixed(size_t width) {
  if (wireType_ == pbf_wire_type::length_delimited) {
    const std::string_view packed = bytes();
    if (packed.size() % width != 0) fail(str("field ", tag_, " ends in the middle of a number"));
    return packed;
  }
  expect(width == 4 ? pbf_wire_type::fixed32 : pbf_wire_type::fixed64);
  const std::string_view element(reader_.data().data(), width);
  guarded([&] { reader_.skip(); });
  return element;
}

}  // namespace camshaft::onnx
