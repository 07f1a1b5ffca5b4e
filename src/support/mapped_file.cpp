#include "support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "support/error.h"

namespace camshaft {
namespace {

[[noreturn]] void failIo(const char* action, const std::string& path, int error) {
  fail(ErrorKind::kIo, "could not ", action, " '", path, "': ",
       std::generic_category().message(error));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  int get() const { return descriptor_; }
  bool close() { return descriptor_ < 0 || ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

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

void writeAll(const FileDescriptor& file, std::span<const std::byte> bytes,
              const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) failIo("write", path, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

// A new file beside `path`, whose name nobody else has; `name` receives it.
FileDescriptor createBeside(const std::string& path, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = str(path, ".", ::getpid(), "-", attempt, ".tmp");
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return FileDescriptor(descriptor);
    if (errno != EEXIST) failIo("create", path, errno);
  }
}

}  // namespace

MappedFile MappedFile::open(const std::string& path) {
  const FileDescriptor file = openForReading(path);
  const struct stat status = statusOf(file, path);
  const size_t size = static_cast<size_t>(status.st_size);
  if (size == 0) return MappedFile();  // mmap refuses empty ranges
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) failIo("map", path, errno);
  return MappedFile({static_cast<const std::byte*>(address), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::vector<std::byte> readFile(const std::string& path) {
  const FileDescriptor file = openForReading(path);
  const struct stat status = statusOf(file, path);
  // The size is a hint: pipes and /proc files report none.
  std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
  size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(size + std::max<size_t>(size / 2, 4096));
    const ssize_t count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) failIo("read", path, errno);
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

void writeFileAtomically(const std::string& path, std::span<const std::byte> bytes) {
  std::string temporary;
  FileDescriptor file = createBeside(path, temporary);
  try {
    writeAll(file, bytes, path);
    if (!file.close()) failIo("write", path, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) failIo("replace", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace camshaft
