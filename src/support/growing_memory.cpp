#include "support/growing_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "support/error.h"

namespace camshaft {

GrowingMemory::GrowingMemory(GrowingMemory&& other) noexcept { *this = std::move(other); }

GrowingMemory& GrowingMemory::operator=(GrowingMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

GrowingMemory::~GrowingMemory() {
  if (capacity_ > 0) ::munmap(data_, capacity_);
}

void GrowingMemory::remap(size_t capacity) {
  if (capacity == capacity_) return;
  void* data = capacity_ == 0 ? ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                              : ::mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
  if (data == MAP_FAILED)
    fail(ErrorKind::kOutOfMemory, "could not allocate ", capacity, " bytes (", capacity >> 20,
         " MiB) of host memory");
  data_ = static_cast<std::byte*>(data);
  capacity_ = capacity;
}

void GrowingMemory::resize(size_t size) {
  constexpr size_t kFirst = 1 << 16;
  if (size > capacity_) remap(std::max({kFirst, size, 2 * capacity_}));
  if (size < size_) std::memset(data_ + size, 0, size_ - size);
  size_ = size;
}

void GrowingMemory::append(std::span<const std::byte> bytes) {
  const size_t at = size_;
  resize(at + bytes.size());
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
  shrinkToFit();
  capacity_ = 0;
  return {std::exchange(data_, nullptr), std::exchange(size_, 0)};
}

}  // namespace camshaft
