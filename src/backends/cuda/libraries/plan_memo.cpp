#include "backends/cuda/libraries/plan_memo.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "backends/cuda/services.h"
#include "support/byte_reader.h"
#include "support/once_map.h"

namespace camshaft::cuda {
namespace {

using Plans = std::vector<std::shared_ptr<const LibraryPlan>>;
using Bytes = std::vector<std::byte>;

OnceMap<Bytes, Plans>& memo() {
  static OnceMap<Bytes, Plans> instance(4096);
  return instance;
}

template <class Problem>
Bytes keyOf(const char* kind, const BuildTarget& target, const Problem& problem, int64_t number) {
  ByteWriter writer;
  writer.writeString(kind);
  writer.writeString(target.name);
  writer.write(number);
  write(writer, problem);
  return writer.take();
}

std::shared_ptr<const LibraryPlan> at(const Plans& plans, int64_t number) {
  const bool isThere = number >= 0 && number < static_cast<int64_t>(plans.size());
  return isThere ? plans[number] : nullptr;
}

Plans listOf(std::optional<LibraryPlan> plan) {
  if (!plan) return {};
  return {std::make_shared<const LibraryPlan>(*std::move(plan))};
}

}  // namespace

std::vector<int64_t> planNumbers(int count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::shared_ptr<const LibraryPlan> planOf(const BuildTarget& target, const GemmProblem& problem,
                                          int64_t number) {
  if (!target.isPresent) return nullptr;
  const Plans plans = memo().get(keyOf("gemm", target, problem, 0), [&] {
    Plans offered;
    for (LibraryPlan& plan : services().gemmPlans(problem, kMostLibraryPlans))
      offered.push_back(std::make_shared<const LibraryPlan>(std::move(plan)));
    return offered;
  });
  return at(plans, number);
}

std::shared_ptr<const LibraryPlan> planOf(const BuildTarget& target, const ConvProblem& problem,
                                          int64_t number) {
  if (!target.isPresent) return nullptr;
  return at(memo().get(keyOf("conv", target, problem, number),
                       [&] { return listOf(services().convPlan(problem, number)); }),
            0);
}

std::shared_ptr<const LibraryPlan> planOf(const BuildTarget& target,
                                          const AttentionProblem& problem, int64_t number) {
  if (!target.isPresent) return nullptr;
  return at(memo().get(keyOf("attention", target, problem, number),
                       [&] { return listOf(services().attentionPlan(problem, number)); }),
            0);
}

Prepared preparedFor(const LibraryPlan* plan, const char* runtimeKernel, bool isDynamic,
                     const BuildContext& context) {
  constexpr int64_t kRoomForOtherSizes = int64_t{16} << 20;
  if (!plan) return Prepared::no("the library offers no further plan");
  Prepared prepared;
  prepared.runtimeKernel = runtimeKernel;
  prepared.params = plan->bytes;
  prepared.variant = plan->name;
  const int64_t room = isDynamic ? std::min(kRoomForOtherSizes, context.workspaceLimit) : 0;
  prepared.workspaceBytes = std::max(plan->workspaceBytes, room);
  return prepared;
}

}  // namespace camshaft::cuda
