// LinearAttention: a thread owns one column of a head's state and walks the tokens with it.
#include "backends/cuda/families.h"
#include "backends/cuda/codegen/store.h"
#include "ops/attention.h"
#include "support/text.h"

namespace camshaft::cuda::attention {
namespace {

constexpr int kThreads = 64;
constexpr int64_t kMostRows = 256;  // of a state's column, which a thread keeps to itself

Verdict supports(const Node& node, const BuildContext&) {
  if (node.epilogue) return Verdict::no("takes no epilogue");
  for (const Value* value : node.inputs)
    if (value && bitsOf(value->dataType()) < 16)
      return Verdict::no("only floats of 16 bits and more");
  for (int i : {4, 5})
    if (node.hasInput(i) && !node.input(i)->shape()[2].isConstant())
      return Verdict::no("needs to know whether decays and rates are of heads or shared");
  const Dim& rows = node.output(1)->shape()[2];
  if (!rows.isConstant() || rows.value() > kMostRows)
    return Verdict::no(str("only keys of a known size of up to ", kMostRows));
  return Verdict{whyNotPrinted(node)};
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<LinearAttentionAttrs>();
  const Shape &state = node.output(1)->shape(), &q = node.input(0)->shape();
  const DataType type = node.input(0)->dataType();
  KernelText kernel(str("linear_attention_", type), node, context);
  std::string operands;
  for (int i = 0; i < 6; ++i) {
    if (node.hasInput(i)) kernel.input(str("x", i), i);
    operands += node.hasInput(i) ? str("x", i, ", ") : "nullptr, ";
  }
  kernel.output("y", 0);
  kernel.output("last", 1);
  const bool decaysByRow = node.hasInput(4) && !node.input(4)->shape()[2].isConstant(attrs.kvHeads);
  const bool ratesByHead = node.hasInput(5) && !node.input(5)->shape()[2].isConstant(1);
  kernel.constant("kThreads", kThreads);
  kernel.constant("kRows", state[2].value());
  kernel.constant("kHeads", attrs.kvHeads);
  kernel.constant("kShared", attrs.qHeads / attrs.kvHeads);
  kernel.constant("kDecaysByRow", decaysByRow);
  kernel.constant("kRatesByHead", ratesByHead);
  kernel.include("attention/linear.cuh");
  kernel.body += str(
      "  linearAttention(", operands, "y, last, ", kernel.size(q[1]), ", ", kernel.size(state[3]),
      ", ", literal(attrs.scale, type == DataType::kF64 ? DataType::kF64 : DataType::kF32), ");\n");
  return kernel.prepared(
      {.grid = {state[0] * state[1], ceilDiv(state[3], kThreads), 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/linear_attention", supports, prepare}};

}  // namespace

KernelList linearKernels() { return kKernels; }

}  // namespace camshaft::cuda::attention
