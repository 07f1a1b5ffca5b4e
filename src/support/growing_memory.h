// Memory for what is collected piece by piece and may become large.
#pragma once

#include <cstddef>
#include <span>

#include "support/file_descriptor.h"

namespace camshaft {

// Bytes that grow without being copied: the system moves their pages, and those that nothing was
// written to take no memory. They begin at a page. Memory that cannot be had is
// Error(kOutOfMemory).
class GrowingMemory {
 public:
  GrowingMemory() = default;
  // Its bytes lie in a file without a name (scratch_file.h), and in memory where there is no room
  // for one: what is appended takes none until it is read, and letGoOfMapped() ends that again.
  static GrowingMemory inScratchFile();
  GrowingMemory(GrowingMemory&& other) noexcept;
  GrowingMemory& operator=(GrowingMemory&& other) noexcept;
  ~GrowingMemory();

  // To write to, where they lie in no file.
  std::byte* data() { return data_; }
  size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  // Bytes beyond the old size are zero. What was taken of data() may have moved.
  void resize(size_t size);
  void append(std::span<const std::byte> bytes);
  // Leaves what was mapped for later bytes.
  void shrinkToFit();
  // Hands the pages over, to be unmapped by whoever gets them; of memory in no file.
  std::span<std::byte> release();

 private:
  bool isInFile() const { return file_.get() >= 0; }
  bool mapFile(size_t capacity);
  void mapMemory(size_t capacity);
  void remap(size_t capacity);
  void leaveFile();
  void unmap();

  FileDescriptor file_{-1};
  std::byte* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace camshaft
