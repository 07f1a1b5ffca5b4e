// PointwiseParts: some blocks for each part, one after the other.
#include "backends/cuda/codegen/store.h"
#include "backends/cuda/families.h"
#include "ops/pointwise.h"
#include "support/text.h"

namespace camshaft::cuda::pointwise {
namespace {

using Part = PointwisePartsAttrs::Part;

constexpr int kThreads = 128;  // few: parts are small, and more multiprocessors begin at once

Verdict supportsParts(const Node& node, const BuildContext&) {
  std::string reason = whyNotPrinted(node);
  for (const Part& part : node.as<PointwisePartsAttrs>().parts)
    if (reason.empty()) reason = whyNotPrinted(part.expr);
  if (reason.empty() && node.epilogue) reason = "takes no epilogue";
  return Verdict{reason};
}

Access accessOf(const Part& part, size_t input) {
  return {part.stridesOf(input), part.placeOf(input)};
}

// Where the part's elements go.
Access targetOf(const Part& part, const Shape& output) {
  std::vector<Dim> strides = contiguousStrides(output);
  Dim offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) offset += part.begin[i] * strides[i];
  return {std::move(strides), std::move(offset)};
}

// How many neighbours one thread computes.
int widthOf(const Node& node, const Part& part, const Access& target) {
  DataType narrowest = part.expr.resultType();
  int width = kMostComputed;
  const auto limit = [&](const Access& access) {
    const std::vector<Run> runs = runsOf(part.size, access.strides);
    width = vectorWidth(narrowest, {runs.empty() ? Dim(1) : runs.back().size}, width);
  };
  for (const int64_t input : part.inputs)
    if (const DataType type = node.inputs[input]->dataType(); bitsOf(type) < bitsOf(narrowest))
      narrowest = type;
  limit(target);
  for (size_t i = 0; i < part.inputs.size(); ++i) limit(accessOf(part, i));
  return width;
}

// What the threads of a part do; returns how many blocks they are.
Dim printPart(KernelText& kernel, const Node& node, const Part& part) {
  const Value& y = *node.outputs[part.output];
  const Access target = targetOf(part, y.shape());
  const int width = widthOf(node, part, target);
  const Dim count = numElements(part.size);
  const Dim blocks = ceilDiv(count, int64_t{width} * kThreads);
  const std::string_view type = storageType(y.dataType());
  kernel.body +=
      str("  if (block < ", kernel.size(blocks), ") {\n    const Index first = (block * ", kThreads,
          " + threadIdx.x) * ", width, ";\n    if (first >= ", kernel.size(count), ") return;\n");
  Walk walk = Walk::linear(kernel, part.size, "first");
  std::vector<std::string> values;
  for (size_t i = 0; i < part.inputs.size(); ++i)
    values.push_back(walk.load(str("x", part.inputs[i]), accessOf(part, i), width, str("part", i)));
  std::string statements;
  const std::string lanes =
      str("#pragma unroll\n    for (int lane = 0; lane < ", width, "; ++lane) {\n");
  if (walk.hasVectors(target, width)) {
    const PrintedElement element = printElement(part.expr, values, "t", statements);
    kernel.body += str("    ", element.type, " stored[", width, "];\n", lanes, statements,
                       "    stored[lane] = ", element.result, ";\n    }\n    writeElements<", width,
                       ">(y", part.output, " + (", walk.position(target), "), ", element.pack, "<",
                       type, ">(stored));\n");
  } else {
    const std::string result = printExpr(part.expr, values, "t", statements);
    kernel.body += str(lanes, statements, "    y", part.output, "[", walk.position(target, "lane"),
                       "] = toStorage<", type, ">(", result, ");\n    }\n");
  }
  kernel.body += str("    return;\n  }\n  block -= ", kernel.size(blocks), ";\n");
  return blocks;
}

Prepared prepareParts(const Node& node, const BuildContext& context, int64_t) {
  const auto& parts = node.as<PointwisePartsAttrs>().parts;
  KernelText kernel(str("parts_", node.outputs[0]->dataType(), "_", parts.size()), node, context);
  for (int i = 0; i < node.ownInputs(); ++i) kernel.input(str("x", i), i);
  for (size_t i = 0; i < node.outputs.size(); ++i) kernel.output(str("y", i), static_cast<int>(i));
  kernel.body += "  Index block = blockIdx.x;\n";
  Dim blocks = 0;
  for (const Part& part : parts) blocks += printPart(kernel, node, part);
  return kernel.prepared({.grid = {blocks, 1, 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/parts", supportsParts, prepareParts}};

}  // namespace

KernelList partsKernels() { return kKernels; }

}  // namespace camshaft::cuda::pointwise
