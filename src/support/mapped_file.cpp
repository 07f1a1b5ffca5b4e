#include "support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "support/file_descriptor.h"
#include "support/growing_memory.h"
#include "support/mapped_pages.h"
#include "support/scratch_file.h"

namespace camshaft {
namespace {

FileDescriptor openForReading(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) failIo("open", path, errno);
  return FileDescriptor(descriptor);
}

struct stat statusOf(const FileDescriptor& file, const std::string& path) {
  struct stat status;
  if (::fstat(file.get(), &status) != 0) failIo("open", path, errno);
  if (S_ISDIR(status.st_mode)) failIo("open", path, EISDIR);
  return status;
}

// Some bytes of the file; 0 at its end.
size_t readSome(const FileDescriptor& file, std::byte* to, size_t most, const std::string& path) {
  for (;;) {
    const ssize_t count = ::read(file.get(), to, most);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) failIo("read", path, errno);
  }
}

// What cannot be mapped is read to its end: pipes, terminals, files of /proc.
std::span<const std::byte> readToEnd(const FileDescriptor& file, const std::string& path) {
  constexpr size_t kPiece = 1 << 16;
  GrowingMemory memory;
  for (;;) {
    const size_t size = memory.size();
    memory.resize(size + kPiece);
    const size_t count = readSome(file, memory.data() + size, kPiece, path);
    memory.resize(size + count);
    if (count == 0) return memory.release();
  }
}

}  // namespace

MappedFile MappedFile::open(const std::string& path) {
  const FileDescriptor file = openForReading(path);
  const struct stat status = statusOf(file, path);
  const size_t size = static_cast<size_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size == 0) return MappedFile(readToEnd(file, path));
  std::optional<MappedFile> mapped = map(file, size);
  if (!mapped) failIo("map", path, errno);
  return std::move(*mapped);
}

std::optional<MappedFile> MappedFile::inScratchFile(std::span<const std::byte> bytes) {
  const FileDescriptor file = openScratchFile();
  if (bytes.empty() || file.get() < 0 || !writeAt(file, bytes, 0)) return std::nullopt;
  return map(file, bytes.size());
}

std::optional<MappedFile> MappedFile::map(const FileDescriptor& file, size_t size) {
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return std::nullopt;
  MappedFile mapped({static_cast<const std::byte*>(address), size});
  noteMapped(mapped.bytes_);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  forgetMapped(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::vector<std::byte> readFile(const std::string& path) {
  const FileDescriptor file = openForReading(path);
  const struct stat status = statusOf(file, path);
  // The size is a hint: pipes and /proc files report none.
  std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
  size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(size + std::max<size_t>(size / 2, 4096));
    const size_t count = readSome(file, bytes.data() + size, bytes.size() - size, path);
    if (count == 0) break;
    size += count;
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace camshaft
