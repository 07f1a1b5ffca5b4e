#include "backends/cuda/libraries/prefetch.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "backends/cuda/attention/cudnn_attention.h"
#include "backends/cuda/conv/cudnn_conv.h"
#include "backends/cuda/libraries/plan_memo.h"
#include "support/error.h"

namespace camshaft::cuda {
namespace {

template <class Problem>
struct WantedPlan {
  Problem problem;
  int64_t number;
  friend bool operator==(const WantedPlan&, const WantedPlan&) = default;
};

// Each once, as a network repeats its layers.
struct WantedPlans {
  std::vector<WantedPlan<ConvProblem>> convs;
  std::vector<WantedPlan<AttentionProblem>> attentions;
  size_t size() const { return convs.size() + attentions.size(); }
};

template <class Wanted>
void addOnce(std::vector<Wanted>& list, Wanted wanted) {
  if (std::find(list.begin(), list.end(), wanted) == list.end()) list.push_back(std::move(wanted));
}

WantedPlans wantedBy(std::span<const Preparation> preparations, const BuildContext& context) {
  WantedPlans wanted;
  for (const auto& [node, kernel, config] : preparations) {
    if (kernel->name == kConvKernel)
      addOnce(wanted.convs, {cudnnConvProblem(*node, context), config});
    else if (kernel->name == kAttentionKernel)
      addOnce(wanted.attentions, {cudnnAttentionProblem(*node, context), config});
  }
  return wanted;
}

template <class Problem>
void build(const BuildTarget& target, const WantedPlan<Problem>& wanted) {
  try {
    if (refusal(wanted.problem).empty()) planOf(target, wanted.problem, wanted.number);
  } catch (const std::exception&) {  // prepare() meets it again, and says so
  }
}

}  // namespace

void prefetchPlans(std::span<const Preparation> preparations, const BuildContext& context) {
  if (!context.target.isPresent) return;
  const WantedPlans wanted = wantedBy(preparations, context);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < wanted.size(); i = next++) {
      if (i < wanted.convs.size())
        build(context.target, wanted.convs[i]);
      else
        build(context.target, wanted.attentions[i - wanted.convs.size()]);
    }
  };
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < std::min(cores, wanted.size()); ++i) threads.emplace_back(work);
}

}  // namespace camshaft::cuda
