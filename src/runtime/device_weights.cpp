#include "runtime/device_weights.h"

#include <algorithm>
#include <cstring>

#include "support/error.h"

namespace camshaft {

DeviceWeights::DeviceWeights(const Plan& plan, Device& device)
    : plan_(plan),
      device_(device),
      placement_(plan),
      resident_(&device),
      streamed_(&device, DeviceBuffer::Side::kHost) {}

void DeviceWeights::load() {
  const std::lock_guard lock(loading_);
  if (isLoaded_) return;
  device_.makeCurrent();
  const int64_t bytes =
      isStreaming() ? placement_.residentBytes() : static_cast<int64_t>(plan_.weights.size());
  resident_.reserve(std::max<int64_t>(bytes, 1));
  streamed_.reserve(placement_.streamedBytes());
  if (!lacksWeights(plan_)) copyBlocks(std::nullopt);
  isLoaded_ = true;
}

void DeviceWeights::refresh(std::optional<void*> stream) {
  if (!isLoaded_) return;
  device_.makeCurrent();
  copyBlocks(stream);
}

void DeviceWeights::copyBlocks(std::optional<void*> stream) {
  const auto copy = [&](int64_t to, int64_t from, int64_t bytes) {
    if (bytes == 0) return;
    if (stream)
      device_.copy(resident_.data() + to, plan_.weights.data() + from, bytes, *stream);
    else
      upload(device_, resident_.data() + to, plan_.weights.data() + from, bytes);
  };
  if (!isStreaming()) return copy(0, 0, static_cast<int64_t>(plan_.weights.size()));
  for (const WeightPlacement::Block& block : placement_.blocks()) {
    if (block.isStreamed)
      std::memcpy(streamed_.data() + block.place, plan_.weights.data() + block.offset,
                  static_cast<size_t>(block.bytes));
    else
      copy(block.place, block.offset, block.bytes);
  }
}

void DeviceWeights::setBudget(int64_t bytes) {
  if (use_.use_count() > 1)
    fail(ErrorKind::kInvalidArgument,
         "the budget of weights cannot change while there are contexts of the engine; end them "
         "first");
  device_.makeCurrent();
  placement_.setBudget(bytes);
  resident_.reset();
  streamed_.reset();
  isLoaded_ = false;
}

int64_t DeviceWeights::automaticBudget(int64_t otherBytes) const {
  device_.makeCurrent();
  return placement_.budgetWithin(device_.freeBytes() + resident_.size() - otherBytes);
}

std::span<const std::byte> DeviceWeights::streamedAt(int64_t offset) const {
  const WeightPlacement::Block& block = placement_.at(offset);
  return {streamed_.data() + block.place, static_cast<size_t>(block.bytes)};
}

}  // namespace camshaft
