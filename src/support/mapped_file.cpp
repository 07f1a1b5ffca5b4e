#include "support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "support/file_descriptor.h"

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

// Memory that grows, of the kind that mapped files are in.
class Pages {
 public:
  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (capacity_ > 0) ::munmap(data_, capacity_);
  }

  std::byte* data() { return data_; }
  size_t capacity() const { return capacity_; }
  void resize(size_t bytes) {
    void* data = capacity_ == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                : ::mremap(data_, capacity_, bytes, MREMAP_MAYMOVE);
    if (data == MAP_FAILED)
      fail(ErrorKind::kOutOfMemory, "could not allocate ", bytes, " bytes (", bytes >> 20,
           " MiB) of host memory");
    data_ = static_cast<std::byte*>(data);
    capacity_ = bytes;
  }
  std::span<std::byte> release(size_t size) { return {data_, (capacity_ = 0, size)}; }

 private:
  std::byte* data_ = nullptr;
  size_t capacity_ = 0;
};

// What cannot be mapped is read to its end: pipes, terminals, files of /proc.
std::span<const std::byte> readToEnd(const FileDescriptor& file, const std::string& path) {
  constexpr size_t kFirst = 1 << 16;
  Pages pages;
  size_t size = 0;
  for (;;) {
    if (size == pages.capacity()) pages.resize(std::max(kFirst, 2 * size));
    const size_t count = readSome(file, pages.data() + size, pages.capacity() - size, path);
    if (count == 0) break;
    size += count;
  }
  if (size == 0) return {};
  pages.resize(size);
  return pages.release(size);
}

}  // namespace

MappedFile MappedFile::open(const std::string& path) {
  const FileDescriptor file = openForReading(path);
  const struct stat status = statusOf(file, path);
  const size_t size = static_cast<size_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size == 0) return MappedFile(readToEnd(file, path));
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
    const size_t count = readSome(file, bytes.data() + size, bytes.size() - size, path);
    if (count == 0) break;
    size += count;
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace camshaft
