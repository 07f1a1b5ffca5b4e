// Memory for what is collected piece by piece and may become large.
#pragma once

#include <cstddef>
#include <span>

namespace camshaft {

// Bytes that grow without being copied: the system moves their pages, and those that nothing was
// written to take no memory. They begin at a page. Memory that cannot be had is
// Error(kOutOfMemory).
class GrowingMemory {
 public:
  GrowingMemory() = default;
  GrowingMemory(GrowingMemory&& other) noexcept;
  GrowingMemory& operator=(GrowingMemory&& other) noexcept;
  ~GrowingMemory();

  std::byte* data() { return data_; }
  size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  // Bytes beyond the old size are zero. What was taken of data() may have moved.
  void resize(size_t size);
  void append(std::span<const std::byte> bytes);
  // Leaves what was mapped for later bytes.
  void shrinkToFit();
  // Hands the pages over, to be unmapped by whoever gets them.
  std::span<std::byte> release();

 private:
  void remap(size_t capacity);

  std::byte* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace camshaft
