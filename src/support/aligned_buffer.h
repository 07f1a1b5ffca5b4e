// Memory for arenas, workspaces and packed weights.
#pragma once

#include <cstddef>
#include <span>

namespace camshaft {

// Uninitialised bytes that begin on a cache line. Memory that cannot be had is
// Error(kOutOfMemory).
class AlignedBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t size);
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<std::byte> bytes() { return {data_, size_}; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  // Makes the buffer at least this large. Growing loses the contents, never shrinks.
  void reserve(size_t size);

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace camshaft
