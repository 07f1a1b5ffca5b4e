#include "runtime/weight_placement.h"

#include <algorithm>

namespace camshaft {
namespace {

constexpr int64_t kAlignment = 256;  // of a block, for kernels that load it as vectors

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Of weights, which have a fixed size; -1 where a file says otherwise.
int64_t bytesOf(const TensorDesc& tensor) {
  int64_t count = 1;
  for (const DimRef& dim : tensor.dims) {
    if (!dim.isConstant()) return -1;
    count *= dim.constant;
  }
  return static_cast<int64_t>(camshaft::bytesOf(tensor.type, count));
}

template <class F>
void forEachBlock(const Plan& plan, const Step& step, F&& use) {
  if (!plan.hasDeviceMemory || isHostStep(plan, step)) return;
  for (size_t i = 0; i < step.inputs.size(); ++i)
    if (step.inputs[i].place == Place::kWeights && !readsOnHost(plan, step, i)) use(step.inputs[i]);
}

}  // namespace

WeightPlacement::WeightPlacement(const Plan& plan) : plan_(plan) {
  addBlocks(plan, plan.streamsWeights);
  for (const std::shared_ptr<Plan>& body : plan.bodies) addBlocks(*body, false);
  std::ranges::sort(blocks_, {}, &Block::offset);
  for (size_t i = 0; i < blocks_.size(); ++i) byOffset_[blocks_[i].offset] = i;
  for (const Block& block : blocks_)
    if (block.isStreamable) streamableBytes_ += aligned(block.bytes);
  setBudget(streamableBytes_);
}

void WeightPlacement::addBlocks(const Plan& plan, bool isStreamable) {
  for (const ProfilePlan& profile : plan.profiles)
    for (const Step& step : profile.steps)
      forEachBlock(plan, step, [&](const Operand& operand) {
        const auto [known, isNew] = byOffset_.try_emplace(operand.offset, blocks_.size());
        if (isNew) blocks_.push_back({.offset = operand.offset, .isStreamable = isStreamable});
        Block& block = blocks_[known->second];
        const int64_t bytes = bytesOf(operand.tensor);
        // What only a run knows the size of may be all that is left.
        block.bytes = std::max(
            block.bytes,
            bytes < 0 ? static_cast<int64_t>(plan_.weights.size()) - operand.offset : bytes);
        block.isStreamable &= isStreamable && bytes >= 0;
      });
  if (!isStreamable)
    for (const std::shared_ptr<Plan>& body : plan.bodies) addBlocks(*body, false);
}

void WeightPlacement::setBudget(int64_t bytes) {
  budget_ = std::min(bytes, streamableBytes_);
  residentBytes_ = streamedBytes_ = scratchBytes_ = 0;
  int64_t left = budget_;
  for (Block& block : blocks_) {
    const int64_t size = aligned(block.bytes);
    block.isStreamed = block.isStreamable && size > left;
    if (block.isStreamable && !block.isStreamed) left -= size;
    int64_t& end = block.isStreamed ? streamedBytes_ : residentBytes_;
    block.place = end;
    end += size;
  }
  for (const ProfilePlan& profile : plan_.profiles)
    for (const Step& step : profile.steps) {
      int64_t scratch = 0;
      forEachBlock(plan_, step, [&](const Operand& operand) {
        const Block& block = at(operand.offset);
        if (block.isStreamed) scratch += aligned(block.bytes);
      });
      scratchBytes_ = std::max(scratchBytes_, scratch);
    }
}

std::set<size_t> WeightPlacement::streamedSteps(const ProfilePlan& profile) const {
  std::set<size_t> streamed;
  for (size_t i = 0; i < profile.steps.size(); ++i)
    forEachBlock(plan_, profile.steps[i], [&](const Operand& operand) {
      if (at(operand.offset).isStreamed) streamed.insert(i);
    });
  return streamed;
}

}  // namespace camshaft
