// The weights of an engine in the memory of its device.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "backend/device.h"
#include "runtime/weight_placement.h"

namespace camshaft {

// Shared by the contexts of an engine and by its bodies. They are uploaded at once, or for plans
// that stream their weights when the first context needs them: a budget may come before. What has
// no room in it lies in pinned host memory, and each step that reads such a block has it copied to
// the context's scratch memory before it is launched.
class DeviceWeights {
 public:
  DeviceWeights(const Plan& plan, Device& device);

  void load();  // unless they are there; from any thread
  // After the plan's weights have changed. With a stream the copies are queued there.
  void refresh(std::optional<void*> stream);

  bool isStreaming() const { return placement_.isStreaming(); }
  const WeightPlacement& placement() const { return placement_; }
  // Throws Error while contexts use them.
  void setBudget(int64_t bytes);
  // The largest one for which the device has memory now, beside so much for something else.
  int64_t automaticBudget(int64_t otherBytes) const;
  std::shared_ptr<const void> use() const { return use_; }  // as long as a context has it

  // The block that begins at this offset of the weights; null: it is streamed.
  const std::byte* at(int64_t offset) const {
    if (!isStreaming()) return resident_.data() + offset;
    const WeightPlacement::Block& block = placement_.at(offset);
    return block.isStreamed ? nullptr : resident_.data() + block.place;
  }
  std::span<const std::byte> streamedAt(int64_t offset) const;

 private:
  void copyBlocks(std::optional<void*> stream);

  const Plan& plan_;
  Device& device_;
  WeightPlacement placement_;
  DeviceBuffer resident_, streamed_;
  std::mutex loading_;
  bool isLoaded_ = false;
  std::shared_ptr<const int> use_ = std::make_shared<const int>(0);
};

}  // namespace camshaft
