// Second moments of what products read: for each, the sum of x xᵀ over all rows x of its input.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "quantize/product.h"
#include "quantize/samples.h"
#include "support/thread_pool.h"

namespace camshaft {

class MomentsGatherer {
 public:
  explicit MomentsGatherer(ThreadPool& threads) : threads_(threads) {}

  // Of one there is room always; products that read the same tensor share theirs.
  bool hasRoomFor(const Product& product) const;
  void add(const Product& product);

  const TensorNames& tensors() const { return tensors_; }
  TensorObserver observer();
  std::span<const float> momentsOf(const Product& product) const;  // empty: it was not seen

 private:
  void addRows(std::vector<float>& moments, std::span<const float> rows, int64_t columns);

  static constexpr int64_t kMostElements = int64_t{1} << 28;  // 1 GiB
  ThreadPool& threads_;
  TensorNames tensors_;
  std::map<std::string, std::vector<float>, std::less<>> moments_;
  std::map<std::string, int64_t, std::less<>> columns_;
  int64_t elements_ = 0;
};

}  // namespace camshaft
