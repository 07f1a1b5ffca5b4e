#include "backends/cuda/libraries/plan_memo.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "backends/cuda/services.h"
#include "support/byte_reader.h"

namespace camshaft::cuda {
namespace {

using Plans = std::vector<std::shared_ptr<const LibraryPlan>>;

class Memo {
 public:
  template <class Problem, class Ask>
  std::shared_ptr<const LibraryPlan> get(const char* kind, const Problem& problem, int64_t number,
                                         const Ask& ask) {
    ByteWriter writer;
    writer.writeString(kind);
    writer.writeString(services().target().name);
    write(writer, problem);
    const std::vector<std::byte> key = writer.take();
    const std::lock_guard lock(mutex_);
    auto entry = std::find_if(entries_.begin(), entries_.end(),
                              [&](const Entry& e) { return e.key == key; });
    if (entry == entries_.end()) {
      Plans plans;
      for (LibraryPlan& plan : ask())
        plans.push_back(std::make_shared<const LibraryPlan>(std::move(plan)));
      if (entries_.size() == kMost) entries_.pop_front();
      entry = entries_.insert(entries_.end(), Entry{key, std::move(plans)});
    }
    const bool isThere = number >= 0 && number < static_cast<int64_t>(entry->plans.size());
    return isThere ? entry->plans[number] : nullptr;
  }

 private:
  static constexpr size_t kMost = 512;
  struct Entry {
    std::vector<std::byte> key;
    Plans plans;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

Memo& memo() {
  static Memo instance;
  return instance;
}

}  // namespace

std::vector<int64_t> planNumbers(const Node&) {
  std::vector<int64_t> numbers(kMostLibraryPlans);
  for (int i = 0; i < kMostLibraryPlans; ++i) numbers[i] = i;
  return numbers;
}

std::shared_ptr<const LibraryPlan> planOf(const GemmProblem& problem, int64_t number) {
  return memo().get("gemm", problem, number,
                    [&] { return services().gemmPlans(problem, kMostLibraryPlans); });
}

std::shared_ptr<const LibraryPlan> planOf(const ConvProblem& problem, int64_t number) {
  return memo().get("conv", problem, number,
                    [&] { return services().convPlans(problem, kMostLibraryPlans); });
}

std::shared_ptr<const LibraryPlan> planOf(const AttentionProblem& problem, int64_t number) {
  return memo().get("attention", problem, number,
                    [&] { return services().attentionPlans(problem, kMostLibraryPlans); });
}

Prepared preparedFor(const LibraryPlan* plan, const char* runtimeKernel, bool isDynamic) {
  constexpr int64_t kRoomForOtherSizes = int64_t{16} << 20;
  Prepared prepared;
  if (!plan) {
    prepared.refusal = "the library offers no further plan";
    return prepared;
  }
  prepared.runtimeKernel = runtimeKernel;
  prepared.params = plan->bytes;
  prepared.workspaceBytes =
      isDynamic ? std::max(plan->workspaceBytes, kRoomForOtherSizes) : plan->workspaceBytes;
  return prepared;
}

}  // namespace camshaft::cuda
