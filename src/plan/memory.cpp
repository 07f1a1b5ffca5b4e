#include "plan/memory.h"

#include <algorithm>
#include <numeric>

namespace camshaft {
namespace {

// Among more than these a gap is not looked for: the buffer goes on top of all.
constexpr int kMostNeighbours = 500;

int64_t alignUp(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

size_t leavesFor(size_t count) {
  size_t leaves = 1;
  while (leaves < count) leaves *= 2;
  return leaves;
}

// How many of the numbers added are below a limit.
class Counter {
 public:
  explicit Counter(int end) : sums_(static_cast<size_t>(end) + 1) {}
  void add(int number) {
    for (int i = number + 1; i < static_cast<int>(sums_.size()); i += i & -i) ++sums_[i];
  }
  int below(int limit) const {
    int sum = 0;
    for (int i = limit; i > 0; i -= i & -i) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<int> sums_;
};

// The height over each step: a range is raised to a height, and asked for its highest.
class Skyline {
 public:
  explicit Skyline(int steps)
      : leaves_(leavesFor(steps)), highest_(2 * leaves_), raised_(2 * leaves_) {}

  void raise(int first, int last, int64_t height) { raise(first, last, height, 1, 0, leaves_ - 1); }
  int64_t highest(int first, int last) const { return highest(first, last, 1, 0, leaves_ - 1); }

 private:
  void raise(size_t first, size_t last, int64_t height, size_t node, size_t begin, size_t end) {
    if (last < begin || end < first) return;
    highest_[node] = std::max(highest_[node], height);
    if (first <= begin && end <= last) {
      raised_[node] = std::max(raised_[node], height);
      return;
    }
    const size_t middle = (begin + end) / 2;
    raise(first, last, height, 2 * node, begin, middle);
    raise(first, last, height, 2 * node + 1, middle + 1, end);
  }
  int64_t highest(size_t first, size_t last, size_t node, size_t begin, size_t end) const {
    if (last < begin || end < first) return 0;
    if (first <= begin && end <= last) return highest_[node];
    const size_t middle = (begin + end) / 2;
    return std::max({raised_[node], highest(first, last, 2 * node, begin, middle),
                     highest(first, last, 2 * node + 1, middle + 1, end)});
  }

  size_t leaves_;
  std::vector<int64_t> highest_;  // anywhere in the node's range
  std::vector<int64_t> raised_;   // everywhere in it
};

// The buffers that have a place, by their lifetimes.
class Placed {
 public:
  explicit Placed(const std::vector<BufferLifetime>& buffers)
      : buffers_(buffers),
        steps_(stepsOf(buffers)),
        firsts_(steps_),
        lasts_(steps_),
        skyline_(steps_),
        leaves_(leavesFor(buffers.size())),
        byFirst_(buffers.size()),
        rank_(buffers.size()),
        latest_(2 * leaves_, -1) {
    std::iota(byFirst_.begin(), byFirst_.end(), size_t{0});
    std::stable_sort(byFirst_.begin(), byFirst_.end(), [&](size_t a, size_t b) {
      return buffers[a].firstStep < buffers[b].firstStep;
    });
    for (size_t i = 0; i < byFirst_.size(); ++i) rank_[byFirst_[i]] = i;
  }

  void add(size_t index) {
    const BufferLifetime& buffer = buffers_[index];
    firsts_.add(buffer.firstStep);
    lasts_.add(buffer.lastStep);
    skyline_.raise(buffer.firstStep, buffer.lastStep, buffer.offset + alignUp(buffer.bytes));
    for (size_t node = leaves_ + rank_[index]; node > 0; node /= 2)
      latest_[node] = std::max(latest_[node], buffer.lastStep);
  }

  int countAliveWith(const BufferLifetime& buffer) const {
    return firsts_.below(buffer.lastStep + 1) - lasts_.below(buffer.firstStep);
  }

  int64_t topOver(const BufferLifetime& buffer) const {
    return skyline_.highest(buffer.firstStep, buffer.lastStep);
  }

  std::vector<const BufferLifetime*> aliveWith(const BufferLifetime& buffer) const {
    std::vector<const BufferLifetime*> found;
    collect(buffer, 1, 0, leaves_ - 1, found);
    return found;
  }

 private:
  static int stepsOf(const std::vector<BufferLifetime>& buffers) {
    int steps = 1;
    for (const BufferLifetime& buffer : buffers) steps = std::max(steps, buffer.lastStep + 1);
    return steps;
  }

  void collect(const BufferLifetime& buffer, size_t node, size_t begin, size_t end,
               std::vector<const BufferLifetime*>& found) const {
    if (latest_[node] < buffer.firstStep || begin >= byFirst_.size() ||
        buffers_[byFirst_[begin]].firstStep > buffer.lastStep)
      return;
    if (begin == end) {
      found.push_back(&buffers_[byFirst_[begin]]);
      return;
    }
    const size_t middle = (begin + end) / 2;
    collect(buffer, 2 * node, begin, middle, found);
    collect(buffer, 2 * node + 1, middle + 1, end, found);
  }

  const std::vector<BufferLifetime>& buffers_;
  int steps_;
  Counter firsts_, lasts_;
  Skyline skyline_;
  size_t leaves_;  // of a tree over the buffers in order of their first steps
  std::vector<size_t> byFirst_, rank_;
  std::vector<int> latest_;  // last step of the placed ones below a node of the tree
};

int64_t lowestGap(std::vector<const BufferLifetime*> neighbours, int64_t bytes) {
  std::sort(neighbours.begin(), neighbours.end(),
            [](const auto* a, const auto* b) { return a->offset < b->offset; });
  int64_t offset = 0;
  for (const BufferLifetime* other : neighbours) {
    if (other->offset >= offset + bytes) break;
    offset = std::max(offset, other->offset + alignUp(other->bytes));
  }
  return offset;
}

}  // namespace

int64_t placeBuffers(std::vector<BufferLifetime>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  int64_t arenaBytes = 0;
  Placed placed(buffers);
  for (size_t index : order) {
    BufferLifetime& buffer = buffers[index];
    const int64_t bytes = alignUp(buffer.bytes);
    buffer.offset = placed.countAliveWith(buffer) > kMostNeighbours
                        ? placed.topOver(buffer)
                        : lowestGap(placed.aliveWith(buffer), bytes);
    arenaBytes = std::max(arenaBytes, buffer.offset + bytes);
    placed.add(index);
  }
  return arenaBytes;
}

}  // namespace camshaft
