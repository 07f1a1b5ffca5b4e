#include "backend/kernel.h"
#include "backends/cpu/families.h"
#include "backends/cpu/prepare_common.h"
#include "backends/cpu/reduce/params.h"
#include "ops/reduce.h"

namespace camshaft::cpu::reduce {

namespace {

Verdict supportsReduce(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlainF32OrBf16(node, &ops::Reduce); !verdict) return verdict;
  if (node.as<ReduceAttrs>().kind == ReduceKind::kLogSumExp) return Verdict::no("no log-sum-exp");
  return Verdict::yes();
}

Prepared prepareReduce(const Node& node, const BuildContext&, int64_t) {
  static_assert(static_cast<int>(ReduceKind::kLogSum) == static_cast<int>(Kind::kLogSum));
  const auto& attrs = node.as<ReduceAttrs>();
  ReduceParams params{static_cast<Kind>(attrs.kind), 0};
  for (int64_t axis : attrs.axes) params.axes |= uint32_t{1} << axis;
  return preparedWith(node, params);
}

Verdict supportsArgReduce(const Node& node, const BuildContext&) {
  return acceptsPlainF32(node, &ops::ArgReduce);
}

Prepared prepareArgReduce(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<ArgReduceAttrs>();
  return preparedWith(
      node, ArgReduceParams{static_cast<int32_t>(attrs.axis), attrs.largest, attrs.selectLast});
}

Verdict supportsCumSum(const Node& node, const BuildContext&) {
  if (Verdict verdict = acceptsPlain(node, &ops::CumSum); !verdict) return verdict;
  const DataType type = node.output()->dataType();
  const bool isTaken = type == DataType::kF32 || type == DataType::kI32 || type == DataType::kI64;
  return isTaken ? Verdict::yes() : Verdict::no("only f32, i32 and i64");
}

Prepared prepareCumSum(const Node& node, const BuildContext&, int64_t) {
  const auto& attrs = node.as<CumSumAttrs>();
  return preparedWith(node, CumSumParams{static_cast<int32_t>(attrs.axis), attrs.exclusive,
                                         attrs.reverse, attrs.product});
}

bool inPlace(const Node&, int input) { return input == 0; }

constexpr Kernel kKernels[] = {{"cpu/reduce_f32", supportsReduce, prepareReduce},
                               {"cpu/arg_reduce_f32", supportsArgReduce, prepareArgReduce},
                               {"cpu/cumsum", supportsCumSum, prepareCumSum, nullptr, inPlace}};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace camshaft::cpu::reduce
