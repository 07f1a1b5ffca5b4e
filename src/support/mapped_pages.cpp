#include "support/mapped_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace camshaft {
namespace {

// Where files are mapped in this process: pages of other memory, once let go, would be lost.
struct Mappings {
  std::mutex mutex;
  std::map<uintptr_t, uintptr_t> endOf;  // by where they begin
};

Mappings& allMappings() {
  static auto& mappings = *new Mappings;  // outlives objects that end with the process
  return mappings;
}

}  // namespace

void noteMapped(std::span<const std::byte> bytes) {
  Mappings& mappings = allMappings();
  const std::scoped_lock lock(mappings.mutex);
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  mappings.endOf[begin] = begin + bytes.size();
}

void forgetMapped(std::span<const std::byte> bytes) {
  Mappings& mappings = allMappings();
  const std::scoped_lock lock(mappings.mutex);
  mappings.endOf.erase(reinterpret_cast<uintptr_t>(bytes.data()));
}

void letGoOfMapped(std::span<const std::byte> bytes) {
  // Whole pages: what else is in the first and the last may be in use.
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (begin >= end) return;
  Mappings& mappings = allMappings();
  const std::scoped_lock lock(mappings.mutex);
  const auto next = mappings.endOf.upper_bound(begin);
  if (next == mappings.endOf.begin() || end > std::prev(next)->second) return;
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace camshaft
