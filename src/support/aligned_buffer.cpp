#include "support/aligned_buffer.h"

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "support/error.h"

namespace camshaft {

AlignedBuffer::AlignedBuffer(size_t size) : size_(size) {
  if (size == 0) return;
  // aligned_alloc wants whole cache lines; a size that has none left cannot be had anyway.
  const size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  if (size <= PTRDIFF_MAX) data_ = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (!data_)
    fail(ErrorKind::kOutOfMemory, "could not allocate ", size, " bytes (", size >> 20,
         " MiB) of host memory");
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

void AlignedBuffer::reserve(size_t size) {
  if (size <= size_) return;
  *this = AlignedBuffer();  // frees first, so old and new need not fit side by side
  *this = AlignedBuffer(size);
}

}  // namespace camshaft
