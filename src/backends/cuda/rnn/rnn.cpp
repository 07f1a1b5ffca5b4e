// Recurrent layers: one block walks one sequence of the batch in one direction, its state in shared
// memory.
#include <algorithm>
#include <cctype>

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/store.h"
#include "ops/activation.h"
#include "ops/rnn.h"
#include "support/text.h"

namespace camshaft::cuda::rnn {
namespace {

constexpr int kThreads = 512;
constexpr int64_t kMostSharedBytes = 160 * 1024;  // of a block, on every device

constexpr std::string_view kInputs[] = {"x",       "weights",  "recurrentWeights", "bias",
                                        "lengths", "initialH", "initialC",         "peepholes"};

bool isDouble(const Node& node) { return node.input(0)->dataType() == DataType::kF64; }

// The state and cell, the state scaled by the reset gate, and two sums for every gate.
int64_t sharedBytes(const Node& node) {
  const auto& attrs = node.as<RecurrentAttrs>();
  return (3 + 2 * gatesOf(attrs.kind)) * attrs.hidden * (isDouble(node) ? 8 : 4);
}

// The activations of both directions as names of scalar operations; empty when one has none.
std::vector<std::string> activationNames(const Node& node) {
  static constexpr std::string_view kDefaults[] = {"Sigmoid,Tanh,Tanh", "Sigmoid,Tanh", "Tanh"};
  static constexpr std::string_view kPrintable[] = {"Sigmoid", "Tanh", "Relu", "Softplus"};
  const auto& attrs = node.as<RecurrentAttrs>();
  std::string text = attrs.activations;
  if (text.empty()) {
    text = kDefaults[static_cast<int>(attrs.kind)];
    if (directionsOf(attrs) == 2) text += "," + text;
  }
  const auto sameLetter = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const auto known = std::ranges::find_if(kPrintable, [&](std::string_view printable) {
      return std::ranges::equal(printable, name, sameLetter);
    });
    if (known == std::end(kPrintable)) return {};
    names.emplace_back(*known);
    begin = end + 1;
  }
  return names;
}

Verdict supports(const Node& node, const BuildContext&) {
  for (const Value* input : node.inputs)
    if (input && isFloat(input->dataType()) && bitsOf(input->dataType()) < 16)
      return Verdict::no("only floats of 16 bits and more");
  if (node.epilogue) return Verdict::no("takes no epilogue");
  if (activationNames(node).empty()) return Verdict::no("has activations that are not printed");
  if (sharedBytes(node) > kMostSharedBytes)
    return Verdict::no("has a state too large for one block");
  return Verdict::yes();
}

// activate(direction, which, a)
void printActivations(KernelText& kernel, const Node& node) {
  const std::vector<std::string> names = activationNames(node);
  const size_t perDirection = names.size() / directionsOf(node.as<RecurrentAttrs>());
  kernel.functions +=
      "__device__ __forceinline__ Real activate(int direction, int which, Real a) {\n";
  for (size_t i = 0; i < names.size(); ++i)
    kernel.functions +=
        str("  if (direction == ", i / perDirection, " && which == ", i % perDirection,
            ") return op::", names[i], "<Real>(a);\n");
  kernel.functions += "  return a;\n}\n";
}

void printConstants(KernelText& kernel, const Node& node) {
  const auto& attrs = node.as<RecurrentAttrs>();
  kernel.functions += str("using Real = ", isDouble(node) ? "double" : "float", ";\n");
  kernel.constant("kThreads", kThreads);
  kernel.constant("kHidden", attrs.hidden);
  kernel.constant("kGates", gatesOf(attrs.kind));
  kernel.constant("kDirections", directionsOf(attrs));
  const DataType weights = node.input(1)->dataType();
  kernel.constant("kInputWidth", vectorWidth(weights, {node.input(0)->shape()[2]}));
  kernel.constant("kStateWidth", vectorWidth(weights, {attrs.hidden}));
  const auto flag = [&](std::string_view name, bool value) { kernel.constant(name, value); };
  flag("kIsLstm", attrs.kind == RecurrentKind::kLstm);
  flag("kIsGru", attrs.kind == RecurrentKind::kGru);
  flag("kIsReverse", attrs.direction == RecurrentDirection::kReverse);
  flag("kLinearBeforeReset", attrs.linearBeforeReset);
  flag("kInputForget", attrs.inputForget);
  flag("kBatchFirst", attrs.batchFirst);
  kernel.functions += str("__device__ __forceinline__ Real clipped(Real a) {\n");
  if (attrs.clip > 0) {
    const std::string limit = literal(attrs.clip, isDouble(node) ? DataType::kF64 : DataType::kF32);
    kernel.functions += str("  const Real limit = ", limit,
                            ";\n  return a < -limit ? -limit : a > limit ? limit : a;\n}\n");
  } else {
    kernel.functions += "  return a;\n}\n";
  }
}

Prepared prepare(const Node& node, const BuildContext& context, int64_t) {
  const auto& attrs = node.as<RecurrentAttrs>();
  const Shape& x = node.input(0)->shape();
  const Dim &steps = x[attrs.batchFirst ? 1 : 0], &batch = x[attrs.batchFirst ? 0 : 1];
  static constexpr std::string_view kKinds[] = {"lstm", "gru", "rnn"};
  KernelText kernel(
      str(kKinds[static_cast<int>(attrs.kind)], "_", node.input(0)->dataType(), "_", attrs.hidden),
      node, context);
  printConstants(kernel, node);
  printActivations(kernel, node);
  kernel.include("rnn/recurrent.cuh");
  for (size_t i = 0; i < std::size(kInputs); ++i) {
    const int input = static_cast<int>(i);
    if (node.hasInput(input))
      kernel.input(std::string(kInputs[i]), input);
    else
      kernel.body += str("  const ", i == 4 ? "int" : "float", "* ", kInputs[i], " = nullptr;\n");
  }
  kernel.output("y", 0);
  kernel.output("finalH", 1);
  if (attrs.kind == RecurrentKind::kLstm)
    kernel.output("finalC", 2);
  else
    kernel.body += "  float* finalC = nullptr;\n";
  kernel.body += str("  const RecurrentSizes sizes{", kernel.size(steps), ", ", kernel.size(batch),
                     ", ", kernel.size(x[2]),
                     "};\n  walkSequence(sizes, x, weights, recurrentWeights, bias, "
                     "lengths, initialH, initialC, peepholes, y, finalH, finalC);\n");
  return kernel.prepared({.grid = {batch, directionsOf(attrs), 1},
                          .block = kThreads,
                          .sharedBytes = static_cast<int>(sharedBytes(node))});
}

constexpr Kernel kKernels[] = {{"cuda/recurrent", supports, prepare}};

}  // namespace

KernelList kernels() { return kKernels; }

}  // namespace camshaft::cuda::rnn
