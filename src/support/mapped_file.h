// Files as bytes; new_file.h writes them. Every failure is Error(kIo) and names the path and the
// reason.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/file_descriptor.h"

namespace camshaft {

// A whole file mapped for reading; what cannot be mapped, as a pipe, is read to its end. The bytes
// stay where they are when the object moves, and are valid as long as it lives; the file must not
// be truncated meanwhile.
class MappedFile {
 public:
  static MappedFile open(const std::string& path);
  // These bytes in a file without a name (scratch_file.h); nothing where there is no room for one.
  static std::optional<MappedFile> inScratchFile(std::span<const std::byte> bytes);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  static std::optional<MappedFile> map(const FileDescriptor& file, size_t size);

  std::span<const std::byte> bytes_;
};

std::vector<std::byte> readFile(const std::string& path);

}  // namespace camshaft
