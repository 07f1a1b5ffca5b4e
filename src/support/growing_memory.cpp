#include "support/growing_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "support/error.h"
#include "support/mapped_pages.h"
#include "support/scratch_file.h"

namespace camshaft {

GrowingMemory GrowingMemory::inScratchFile() {
  GrowingMemory memory;
  memory.file_ = openScratchFile();
  return memory;
}

GrowingMemory::GrowingMemory(GrowingMemory&& other) noexcept { *this = std::move(other); }

GrowingMemory& GrowingMemory::operator=(GrowingMemory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

GrowingMemory::~GrowingMemory() { unmap(); }

void GrowingMemory::unmap() {
  if (capacity_ == 0) return;
  if (isInFile()) forgetMapped({data_, capacity_});
  ::munmap(data_, capacity_);
}

// False where the file cannot have that size.
bool GrowingMemory::mapFile(size_t capacity) {
  if (::ftruncate(file_.get(), static_cast<off_t>(capacity)) != 0) return false;
  void* const data = ::mmap(nullptr, capacity, PROT_READ, MAP_SHARED, file_.get(), 0);
  if (data == MAP_FAILED) return false;
  unmap();
  data_ = static_cast<std::byte*>(data);
  capacity_ = capacity;
  noteMapped({data_, capacity_});
  return true;
}

void GrowingMemory::mapMemory(size_t capacity) {
  void* data = capacity_ == 0 ? ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                              : ::mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
  if (data == MAP_FAILED)
    fail(ErrorKind::kOutOfMemory, "could not allocate ", capacity, " bytes (", capacity >> 20,
         " MiB) of host memory");
  data_ = static_cast<std::byte*>(data);
  capacity_ = capacity;
}

void GrowingMemory::remap(size_t capacity) {
  if (capacity == capacity_) return;
  if (isInFile() && mapFile(capacity)) return;
  if (isInFile()) leaveFile();
  mapMemory(capacity);
}

// Where the file system has no room for more.
void GrowingMemory::leaveFile() {
  GrowingMemory copy;
  copy.append(bytes());
  *this = std::move(copy);
}

void GrowingMemory::resize(size_t size) {
  constexpr size_t kFirst = 1 << 16;
  if (size > capacity_) remap(std::max({kFirst, size, 2 * capacity_}));
  const size_t old = std::exchange(size_, size);
  if (size >= old) return;
  if (!isInFile()) {
    std::memset(data_ + size, 0, old - size);
  } else if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0 ||
             ::ftruncate(file_.get(), static_cast<off_t>(capacity_)) != 0) {
    leaveFile();  // else what was cut off has come back as zeros
  }
}

void GrowingMemory::append(std::span<const std::byte> bytes) {
  const size_t at = size_;
  resize(at + bytes.size());
  if (isInFile()) {
    if (writeAt(file_, bytes, at)) return;
    leaveFile();
  }
  std::ranges::copy(bytes, data_ + at);
}

void GrowingMemory::shrinkToFit() {
  if (size_ > 0) {
    remap(size_);
  } else {
    *this = GrowingMemory();
  }
}

std::span<std::byte> GrowingMemory::release() {
  CAMSHAFT_CHECK(!isInFile(), "pages of a file are not to be handed over");
  shrinkToFit();
  capacity_ = 0;
  return {std::exchange(data_, nullptr), std::exchange(size_, 0)};
}

}  // namespace camshaft
