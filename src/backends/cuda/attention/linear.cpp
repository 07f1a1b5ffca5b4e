// LinearAttention: a thread owns one column of a head's state and walks the tokens with it.
#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/attention.h"
#include "support/text.h"

namespace camshaft::cuda::attention {
namespace {

constexpr int kThreads = 64;
constexpr int64_t kMostRows = 256;  // of a state's column, which a thread keeps to itself

Verdict supports(const Node& node) {
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
  return movesElements(node);
}

void printStep(KernelText& kernel, const Node& node) {
  const auto& attrs = node.as<LinearAttentionAttrs>();
  kernel.body +=
      "    const Index token = batch * length + t;\n"
      "    const auto k = x1 + (token * kHeads + head) * kRows;\n"
      "    Real u = toCompute(x2[(token * kHeads + head) * columns + column]);\n";
  if (node.hasInput(4)) {
    const bool perRow = !node.input(4)->shape()[2].isConstant(attrs.kvHeads);
    kernel.body += str("    const auto decay = x4 + (token * kHeads + head) * ",
                       perRow ? "kRows" : "1", ";\n#pragma unroll 8\n",
                       "    for (int i = 0; i < kRows; ++i) state[i] *= exp(Real(toCompute(decay[",
                       perRow ? "i" : "0", "])));\n");
  }
  if (node.hasInput(5)) {
    const bool perHead = !node.input(5)->shape()[2].isConstant(1);
    kernel.body +=
        str("#pragma unroll 8\n"
            "    for (int i = 0; i < kRows; ++i) u -= state[i] * toCompute(k[i]);\n"
            "    u *= toCompute(x5[token",
            perHead ? " * kHeads + head" : "", "]);\n");
  }
  kernel.body +=
      str("#pragma unroll 8\n"
          "    for (int i = 0; i < kRows; ++i) state[i] += toCompute(k[i]) * u;\n"
          "    for (int shared = 0; shared < kShared; ++shared) {\n"
          "      const Index query = token * (kHeads * kShared) + head * kShared + shared;\n"
          "      const auto q = x0 + query * kRows;\n      Real sum = 0;\n"
          "#pragma unroll 8\n"
          "      for (int i = 0; i < kRows; ++i) sum += state[i] * toCompute(q[i]);\n"
          "      y[query * columns + column] = toStorage<",
          storageType(node.output(0)->dataType()), ">(sum * ",
          literal(attrs.scale,
                  node.input(0)->dataType() == DataType::kF64 ? DataType::kF64 : DataType::kF32),
          ");\n    }\n");
}

Prepared prepare(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<LinearAttentionAttrs>();
  const Shape &state = node.output(1)->shape(), &q = node.input(0)->shape();
  const DataType type = node.input(0)->dataType();
  KernelText kernel(str("linear_attention_", type), node, options);
  for (size_t i = 0; i < node.inputs.size(); ++i) kernel.input(str("x", i), static_cast<int>(i));
  kernel.output("y", 0);
  kernel.output("last", 1);
  kernel.constant("kThreads", kThreads);
  kernel.constant("kRows", state[2].value());
  kernel.constant("kHeads", attrs.kvHeads);
  kernel.constant("kShared", attrs.qHeads / attrs.kvHeads);
  kernel.functions += str("using Real = ", computeType(type), ";\n");
  kernel.body +=
      str("  const Index columns = ", kernel.size(state[3]), ", length = ", kernel.size(q[1]), R"(;
  const Index column = Index(blockIdx.y) * kThreads + threadIdx.x;
  if (column >= columns) return;
  const Index row = blockIdx.x, batch = row / kHeads, head = row % kHeads;
  const Index first = row * kRows * columns + column;
  Real state[kRows];
  for (int i = 0; i < kRows; ++i) state[i] = )",
          node.hasInput(3) ? "toCompute(x3[first + i * columns])" : "0",
          ";\n  for (Index t = 0; t < length; ++t) {\n");
  printStep(kernel, node);
  kernel.body +=
      str("  }\n  for (int i = 0; i < kRows; ++i) last[first + i * columns] = toStorage<",
          storageType(node.output(1)->dataType()), ">(state[i]);\n");
  return kernel.prepared(
      {.grid = {state[0] * state[1], ceilDiv(state[3], kThreads), 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/linear_attention", supports, prepare}};

}  // namespace

KernelList linearKernels() { return kKernels; }

}  // namespace camshaft::cuda::attention
