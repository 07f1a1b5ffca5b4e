#include "plan/memory.h"

#include <algorithm>
#include <numeric>

namespace camshaft {
namespace {
bool aliveTogether(const BufferLifetime& a, const BufferLifetime& b) {
  return a.firstStep <= b.lastStep && b.firstStep <= a.lastStep;
}
int64_t alignUp(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}
}  // namespace

int64_t placeBuffers(std::vector<BufferLifetime>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  int64_t arenaBytes = 0;
  std::vector<const BufferLifetime*> placed;  // by offset
  for (size_t index : order) {
    BufferLifetime& buffer = buffers[index];
    const int64_t bytes = alignUp(buffer.bytes);
    int64_t offset = 0;
    for (const BufferLifetime* other : placed) {
      if (!aliveTogether(buffer, *other)) continue;
      if (other->offset >= offset + bytes) break;
      offset = std::max(offset, other->offset + alignUp(other->bytes));
    }
    buffer.offset = offset;
    arenaBytes = std::max(arenaBytes, offset + bytes);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), &buffer,
                         [](const auto* a, const auto* b) { return a->offset < b->offset; }),
        &buffer);
  }
  return arenaBytes;
}

}  // namespace camshaft
