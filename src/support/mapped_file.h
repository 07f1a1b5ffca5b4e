// Files as bytes. Every failure is Error(kIo) and names the path and the reason.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace camshaft {

// A whole file mapped for reading. The bytes stay where they are when the object moves, and are
// valid as long as it lives; the file must not be truncated meanwhile.
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

std::vector<std::byte> readFile(const std::string& path);

// Writes a neighbour and renames it over `path`, so readers see the old file or the new one,
// never a part.
void writeFileAtomically(const std::string& path, std::span<const std::byte> bytes);

}  // namespace camshaft
