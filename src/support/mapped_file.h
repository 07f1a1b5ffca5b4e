// Files as bytes; new_file.h writes them. Every failure is Error(kIo) and names the path and the
// reason.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace camshaft {

// A whole file mapped for reading; what cannot be mapped, as a pipe, is read to its end. The bytes
// stay where they are when the object moves, and are valid as long as it lives; the file must not
// be truncated meanwhile.
class MappedFile {
 public:
  static MappedFile open(const std::string& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// Whoever has looked at bytes of a mapped file, or made something else of them, need not keep them
// in memory: they are read again where somebody asks for them. Bytes of other memory stay.
void letGoOfMapped(std::span<const std::byte> bytes);

std::vector<std::byte> readFile(const std::string& path);

}  // namespace camshaft
