#include "allocation/failing_allocator.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace camshaft::allocation {
namespace {

std::atomic<int64_t> count{0}, alive{0}, failing{0};
std::atomic<bool> failsOnwards{false};
std::atomic<Kind> counted{Kind::kHost};

void* allocate(std::size_t size, std::size_t alignment) {
  if (countsAsFailed(Kind::kHost)) return nullptr;
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t))
    memory = std::malloc(size ? size : 1);
  else if (::posix_memalign(&memory, alignment, size) != 0)
    memory = nullptr;
  if (memory) ++alive;
  return memory;
}

void* allocateOrThrow(std::size_t size, std::size_t alignment) {
  if (void* memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

void release(void* memory) {
  if (!memory) return;
  --alive;
  std::free(memory);
}

}  // namespace

void failAt(int64_t n, bool onwards, Kind kind) {
  failing = 0;
  failsOnwards = onwards;
  counted = kind;
  count = 0;
  failing = n;
}

void failNoMore() { failing = 0; }
int64_t allocationsSince() { return count; }
int64_t allocationsAlive() { return alive; }

bool countsAsFailed(Kind kind) {
  if (kind != counted) return false;
  const int64_t number = ++count, n = failing;
  return n > 0 && (number == n || (failsOnwards && number > n));
}

}  // namespace camshaft::allocation

using camshaft::allocation::allocate;
using camshaft::allocation::allocateOrThrow;
using camshaft::allocation::release;

constexpr std::size_t kPlain = alignof(std::max_align_t);

void* operator new(std::size_t size) { return allocateOrThrow(size, kPlain); }
void* operator new[](std::size_t size) { return allocateOrThrow(size, kPlain); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocateOrThrow(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocateOrThrow(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, kPlain);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, kPlain);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

// What the library's own aligned buffers come from; free() is the system's.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (camshaft::allocation::countsAsFailed(camshaft::allocation::Kind::kHost)) return nullptr;
  void* memory = nullptr;
  return ::posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}
