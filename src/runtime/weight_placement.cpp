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

// What `bytes` gives of the plan and of each body, whose contexts are there at the same time.
template <class F>
int64_t sumOverPlans(const Plan& plan, const F& bytes) {
  int64_t sum = bytes(plan);
  for (const std::shared_ptr<Plan>& body : plan.bodies) sum += sumOverPlans(*body, bytes);
  return sum;
}

// Of the step that reads the most, by the bytes of each block.
template <class F>
int64_t mostOfAStep(const Plan& plan, const F& bytes) {
  int64_t most = 0;
  for (const ProfilePlan& profile : plan.profiles)
    for (const Step& step : profile.steps) {
      int64_t sum = 0;
      forEachBlock(plan, step, [&](const Operand& operand) { sum += bytes(operand.offset); });
      most = std::max(most, sum);
    }
  return most;
}

}  // namespace

WeightPlacement::WeightPlacement(const Plan& plan) : plan_(plan) {
  addBlocks(plan);
  std::ranges::sort(blocks_, {}, &Block::offset);
  for (size_t i = 0; i < blocks_.size(); ++i) byOffset_[blocks_[i].offset] = i;
  for (const Block& block : blocks_)
    if (block.isStreamable) streamableBytes_ += aligned(block.bytes);
  setBudget(streamableBytes_);
}

void WeightPlacement::addBlocks(const Plan& plan) {
  for (const ProfilePlan& profile : plan.profiles)
    for (const Step& step : profile.steps)
      forEachBlock(plan, step, [&](const Operand& operand) {
        const auto [known, isNew] = byOffset_.try_emplace(operand.offset, blocks_.size());
        if (isNew)
          blocks_.push_back({.offset = operand.offset, .isStreamable = plan_.streamsWeights});
        Block& block = blocks_[known->second];
        const int64_t bytes = bytesOf(operand.tensor);
        // What only a run knows the size of may be all that is left.
        block.bytes = std::max(
            block.bytes,
            bytes < 0 ? static_cast<int64_t>(plan_.weights.size()) - operand.offset : bytes);
        block.isStreamable &= bytes >= 0;
      });
  for (const std::shared_ptr<Plan>& body : plan.bodies) addBlocks(*body);
}

void WeightPlacement::setBudget(int64_t bytes) {
  budget_ = std::min(bytes, streamableBytes_);
  residentBytes_ = streamedBytes_ = 0;
  int64_t left = budget_;
  for (Block& block : blocks_) {
    const int64_t size = aligned(block.bytes);
    block.isStreamed = block.isStreamable && size > left;
    if (block.isStreamable && !block.isStreamed) left -= size;
    int64_t& end = block.isStreamed ? streamedBytes_ : residentBytes_;
    block.place = end;
    end += size;
  }
}

int64_t WeightPlacement::scratchBytes(const Plan& plan) const {
  return mostOfAStep(
      plan, [&](int64_t offset) { return at(offset).isStreamed ? aligned(at(offset).bytes) : 0; });
}

int64_t WeightPlacement::scratchBytes() const {
  return sumOverPlans(plan_, [&](const Plan& plan) { return scratchBytes(plan); });
}

int64_t WeightPlacement::budgetWithin(int64_t bytes) const {
  for (const Block& block : blocks_)
    if (!block.isStreamable) bytes -= aligned(block.bytes);
  if (bytes >= streamableBytes_) return streamableBytes_;
  const int64_t scratch = sumOverPlans(plan_, [&](const Plan& plan) {
    return mostOfAStep(plan, [&](int64_t offset) {
      return at(offset).isStreamable ? aligned(at(offset).bytes) : 0;
    });
  });
  return std::max<int64_t>(bytes - scratch, 0);
}

std::set<size_t> WeightPlacement::streamedSteps(const Plan& plan,
                                                const ProfilePlan& profile) const {
  std::set<size_t> streamed;
  for (size_t i = 0; i < profile.steps.size(); ++i)
    forEachBlock(plan, profile.steps[i], [&](const Operand& operand) {
      if (at(operand.offset).isStreamed) streamed.insert(i);
    });
  return streamed;
}

}  // namespace camshaft
