// Which weights of an engine stay on its device, and which runs copy there from the host.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "plan/plan.h"

namespace camshaft {

// The blocks of weights that the steps of a plan, which must outlive this, and of its bodies read
// on its device. In plans without weight streaming all stay there.
class WeightPlacement {
 public:
  explicit WeightPlacement(const Plan& plan);

  // Bytes of weights that need not stay on the device, and of those that the budget lets stay
  // there: all, until setBudget() says otherwise.
  int64_t streamableBytes() const { return streamableBytes_; }
  int64_t budget() const { return budget_; }
  void setBudget(int64_t bytes);
  bool isStreaming() const { return streamedBytes_ > 0; }

  // Memory that holds the resident blocks and the streamed ones.
  int64_t residentBytes() const { return residentBytes_; }
  int64_t streamedBytes() const { return streamedBytes_; }
  // Memory for the streamed blocks of any step: of the plan or a body alone, and of all together,
  // which a context has.
  int64_t scratchBytes(const Plan& plan) const;
  int64_t scratchBytes() const;
  // The largest budget with which weights and scratch memory have room in so many bytes, or 0.
  int64_t budgetWithin(int64_t bytes) const;

  struct Block {
    int64_t offset = 0;  // in the weights
    int64_t bytes = 0;
    int64_t place = 0;  // in the memory of the resident or of the streamed ones
    bool isStreamable = false, isStreamed = false;
  };
  const Block& at(int64_t offset) const { return blocks_[byOffset_.at(offset)]; }
  const std::vector<Block>& blocks() const { return blocks_; }
  // The steps of the plan or a body that read streamed ones.
  std::set<size_t> streamedSteps(const Plan& plan, const ProfilePlan& profile) const;

 private:
  void addBlocks(const Plan& plan);

  const Plan& plan_;
  std::vector<Block> blocks_;
  std::unordered_map<int64_t, size_t> byOffset_;
  int64_t streamableBytes_ = 0, budget_ = 0;
  int64_t residentBytes_ = 0, streamedBytes_ = 0;
};

}  // namespace camshaft
