#include "support/byte_reader.h"

#include "support/error.h"

namespace camshaft {

std::span<const std::byte> ByteReader::take(uint64_t count, size_t size) {
  if (count > remaining() / size)
    fail(ErrorKind::kInvalidEngine, what_, " ends too early: ", count, " elements of ", size,
         " bytes should follow at byte ", position_, " of ", bytes_.size(),
         "; the file is damaged, build it again");
  const size_t length = static_cast<size_t>(count) * size;
  position_ += length;
  return bytes_.subspan(position_ - length, length);
}

bool ByteReader::readBool() {
  const auto value = read<uint8_t>();
  if (value > 1)
    fail(ErrorKind::kInvalidEngine, what_, " holds ", value, " at byte ", position_ - 1,
         " where 0 or 1 belongs; the file is damaged, build it again");
  return value != 0;
}

std::string ByteReader::readString() {
  const std::span<const std::byte> text = take(read<uint64_t>(), 1);
  return std::string(reinterpret_cast<const char*>(text.data()), text.size());
}

std::vector<std::string> ByteReader::readStrings() {
  std::vector<std::string> texts;
  // Grows as strings arrive: a count from a hostile file must not choose an allocation.
  for (uint64_t count = read<uint64_t>(); count > 0; --count) texts.push_back(readString());
  return texts;
}

void ByteReader::expectEnd() const {
  if (remaining() > 0)
    fail(ErrorKind::kInvalidEngine, what_, " has ", remaining(), " bytes too many after byte ",
         position_, "; it was written by another version or is damaged, build it again");
}

void ByteWriter::writeString(std::string_view text) {
  write<uint64_t>(text.size());
  append(text.data(), text.size());
}

void ByteWriter::writeStrings(std::span<const std::string> texts) {
  write<uint64_t>(texts.size());
  for (const std::string& text : texts) writeString(text);
}

void ByteWriter::append(const void* data, size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), first, first + size);
}

}  // namespace camshaft
