#include "backends/cuda/codegen/row_plan.h"

#include <algorithm>
#include <numeric>

#include "support/text.h"

namespace camshaft::cuda {
namespace {

constexpr int kMostElementsHeld = 32;  // by a thread, so that registers do not spill
constexpr int kMostThreads = 1024;

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
int wholeWarps(int64_t threads) { return static_cast<int>(ceilDivide(threads, 32) * 32); }

// Lanes enough for at most 16 elements each; a warp may have twice as many before a row is given
// to a whole block.
std::vector<RowPlan> heldPlans(int64_t size, int width) {
  const int64_t vectors = std::max<int64_t>(1, ceilDivide(size, width));
  std::vector<RowPlan> plans;
  const auto add = [&](int threads, int lanes) {
    const int each = static_cast<int>(ceilDivide(vectors, lanes));
    const bool isKnown = std::any_of(plans.begin(), plans.end(), [&](const RowPlan& plan) {
      return plan.threads == threads && plan.lanes == lanes;
    });
    if (each * width <= kMostElementsHeld && threads <= kMostThreads && !isKnown)
      plans.push_back({.threads = threads, .lanes = lanes, .vectors = each});
  };
  int lanes = 1;
  while (lanes < 32 && ceilDivide(vectors, lanes) * width > 16) lanes *= 2;
  add(128, lanes);
  if (lanes < 32) add(128, lanes * 2);
  if (lanes == 32) add(32, 32);
  if (vectors > 32)
    for (int each : {1, 2, 4}) {
      const int block = wholeWarps(ceilDivide(vectors, each));
      if (block > 32) add(block, block);
    }
  if (plans.empty()) add(kMostThreads, kMostThreads);
  return plans;
}

// Long rows want many lanes, short ones a thread each.
std::vector<RowPlan> togetherPlans(const Dim& size) {
  std::vector<RowPlan> plans;
  for (const auto& [threads, lanes] : {std::pair{128, 1}, {256, 8}, {1024, 32}, {1024, 128}}) {
    const bool isHeld = size.isConstant() && size.value() <= kMostElementsHeld * lanes;
    const auto each = isHeld ? std::max<int64_t>(1, ceilDivide(size.value(), lanes)) : 0;
    plans.push_back({threads, lanes, static_cast<int>(each), true});
  }
  if (!size.isConstant() || size.value() > 256) std::reverse(plans.begin(), plans.end());
  return plans;
}

}  // namespace

std::vector<RowPlan> rowPlans(const Dim& size, int width, bool rowsTogether) {
  if (rowsTogether) return togetherPlans(size);
  std::vector<RowPlan> plans;
  if (size.isConstant()) plans = heldPlans(size.value(), width);
  if (plans.empty()) {
    if (size.isConstant()) return {{.threads = kMostThreads, .lanes = kMostThreads}};
    plans = {{.threads = 256, .lanes = 256},
             {.threads = 128, .lanes = 32},
             {.threads = 1024, .lanes = 1024}};
  }
  return plans;
}

std::vector<int64_t> numbersOf(const std::vector<RowPlan>& plans) {
  std::vector<int64_t> numbers(plans.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void printTeam(KernelText& kernel, const RowPlan& plan, const Dim& rows) {
  kernel.include("device/teams.cuh");
  const std::string count = kernel.size(rows);
  kernel.body += str("  using Team = ", plan.rowsTogether ? "RowsTogether<" : "LanesTogether<",
                     plan.threads, ", ", plan.lanes,
                     ">;\n  const Index place = Index(blockIdx.x) * Team::kRows + Team::row();\n"
                     "  const bool isRow = place < ",
                     count, ";\n  const Index row = isRow ? place : ", count, " - 1;\n");
}

void printRow(KernelText& kernel, const RowPlan& plan, const Dim& size, DataType type, int width) {
  const std::string arguments = str("<Team, ", computeType(type), ", ", width);
  const std::string text = kernel.size(size);
  kernel.body +=
      plan.vectors > 0
          ? str("  HeldRow", arguments, ", ", plan.vectors, "> values(", text, ", load);\n")
          : str("  auto values = streamedRow", arguments, ">(", text, ", load);\n");
}

}  // namespace camshaft::cuda
