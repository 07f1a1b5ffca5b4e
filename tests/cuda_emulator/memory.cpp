#include "cuda_emulator/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>

#include "cuda_emulator/emulator.h"

namespace camshaft::emulator {
namespace {

constexpr size_t kAlignment = 256;
constexpr unsigned char kPoison = 0xFF;
constexpr unsigned char kRedzone = 0xA5;

// guard page | front redzone | data | back redzone | guard page; the data end as near to the
// second guard page as their alignment allows.
struct Allocation {
  char* mapping = nullptr;
  size_t mappedBytes = 0;
  size_t bytes = 0;
};

size_t roundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

size_t pageSize() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

struct Registry {
  std::mutex mutex;
  std::map<const char*, Allocation> allocations;  // by address of the data

  // The allocation that starts at or before `address`.
  auto before(const char* address) {
    auto next = allocations.upper_bound(address);
    return next == allocations.begin() ? allocations.end() : std::prev(next);
  }
};

Registry& registry() {
  static Registry* instance = new Registry;  // outlives every static that frees memory
  return *instance;
}

[[noreturn]] void failWith(const std::string& message) {
  throw std::runtime_error("CUDA emulator: " + message);
}

std::string named(const Allocation& allocation) {
  return "the allocation of " + std::to_string(allocation.bytes) + " bytes";
}

// First byte of [begin, end) that is no longer a redzone's, or null.
const char* firstDamage(const char* begin, const char* end) {
  for (; begin < end; ++begin) {
    if (static_cast<unsigned char>(*begin) != kRedzone) return begin;
  }
  return nullptr;
}

// What was overwritten around an allocation, in words; empty when nothing was.
std::string findDamage(const char* data, const Allocation& allocation) {
  const char* dataEnd = data + allocation.bytes;
  const char* usableEnd = allocation.mapping + allocation.mappedBytes - pageSize();
  const char* front = std::max<const char*>(allocation.mapping + pageSize(), data - kAlignment);
  if (const char* at = firstDamage(dataEnd, usableEnd)) {
    return "something wrote " + std::to_string(at - dataEnd) + " bytes past the end of " +
           named(allocation);
  }
  if (const char* at = firstDamage(front, data)) {
    return "something wrote " + std::to_string(data - at) + " bytes before the start of " +
           named(allocation);
  }
  return {};
}

void checkRange(const void* address, size_t bytes, const char* what) {
  Registry& memory = registry();
  const char* begin = static_cast<const char*>(address);
  auto found = memory.before(begin);
  if (found == memory.allocations.end()) return;
  const auto& [data, allocation] = *found;
  if (begin >= allocation.mapping + allocation.mappedBytes) return;
  if (begin + bytes > data + allocation.bytes) {
    failWith(std::string("a ") + what + " of " + std::to_string(bytes) + " bytes at offset " +
             std::to_string(begin - data) + " leaves " + named(allocation));
  }
}

}  // namespace

void* allocate(size_t bytes) {
  const size_t page = pageSize();
  const size_t dataBytes = roundUp(std::max<size_t>(bytes, 1), kAlignment);
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.mappedBytes = roundUp(dataBytes, page) + 2 * page;
  void* mapping = mmap(nullptr, allocation.mappedBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) failWith("no memory for " + std::to_string(bytes) + " bytes");
  allocation.mapping = static_cast<char*>(mapping);
  char* usable = allocation.mapping + page;
  char* usableEnd = allocation.mapping + allocation.mappedBytes - page;
  mprotect(usable, static_cast<size_t>(usableEnd - usable), PROT_READ | PROT_WRITE);
  char* data = usableEnd - dataBytes;
  std::memset(usable, kRedzone, static_cast<size_t>(data - usable));
  std::memset(data, kPoison, bytes);
  std::memset(data + bytes, kRedzone, dataBytes - bytes);
  std::lock_guard lock(registry().mutex);
  registry().allocations.emplace(data, allocation);
  return data;
}

void release(void* address) {
  if (!address) return;
  std::lock_guard lock(registry().mutex);
  auto found = registry().allocations.find(static_cast<const char*>(address));
  if (found == registry().allocations.end()) failWith("release of an address that is not held");
  const Allocation allocation = found->second;
  const std::string damage = findDamage(found->first, allocation);
  registry().allocations.erase(found);
  munmap(allocation.mapping, allocation.mappedBytes);
  if (!damage.empty()) failWith(damage);
}

void copy(void* to, const void* from, size_t bytes) {
  {
    std::lock_guard lock(registry().mutex);
    checkRange(to, bytes, "copy");
    checkRange(from, bytes, "copy");
  }
  if (bytes) std::memmove(to, from, bytes);
}

void fill(void* to, unsigned char value, size_t bytes) {
  {
    std::lock_guard lock(registry().mutex);
    checkRange(to, bytes, "fill");
  }
  if (bytes) std::memset(to, value, bytes);
}

void checkMemory() {
  std::lock_guard lock(registry().mutex);
  for (const auto& [data, allocation] : registry().allocations) {
    const std::string damage = findDamage(data, allocation);
    if (!damage.empty()) failWith(damage);
  }
}

size_t allocationCount() {
  std::lock_guard lock(registry().mutex);
  return registry().allocations.size();
}

std::string describeAddress(const void* address) {
  const char* at = static_cast<const char*>(address);
  if (!at) return "a null pointer";
  std::lock_guard lock(registry().mutex);
  for (const auto& [data, allocation] : registry().allocations) {
    if (at < allocation.mapping || at >= allocation.mapping + allocation.mappedBytes) continue;
    if (at < data) return std::to_string(data - at) + " bytes before " + named(allocation);
    const std::string offset = std::to_string(at - (data + allocation.bytes));
    return offset + " bytes past the end of " + named(allocation);
  }
  return "an address outside of every allocation";
}

}  // namespace camshaft::emulator
