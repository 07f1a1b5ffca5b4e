#include "backends/cuda/families.h"
#include "backends/cuda/codegen/row_plan.h"
#include "ops/norm.h"
#include "support/text.h"

namespace camshaft::cuda::norm {
namespace {

constexpr int kThreads = 128;

// A thread has `width` neighbouring positions of one channel, and reads the channels around it.
Prepared prepare(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<LrnAttrs>();
  const Shape& shape = node.input(0)->shape();
  const DataType type = node.input(0)->dataType();
  const std::string_view compute = computeType(type);
  const Dim space = numElements({shape.begin() + 2, shape.end()});
  const int width = vectorWidth(type, {space}, kMostComputed);
  const Dim steps = floorDiv(space, width), threads = shape[0] * shape[1] * steps;

  KernelText kernel(str("lrn_", type, "_x", width), node, options);
  kernel.input("x", 0);
  declareEpilogue(kernel, node);
  kernel.output("y");
  const std::string channels = kernel.size(shape[1]), stepsText = kernel.size(steps);
  kernel.body +=
      str("  const Index thread = Index(blockIdx.x) * ", kThreads,
          " + threadIdx.x;\n  if (thread >= ", kernel.size(threads),
          ") return;\n  const Index at = thread % ", stepsText, " * ", width, ", own = thread / ",
          stepsText, " % ", channels, ", n = thread / ", stepsText, " / ", channels, ";\n");
  Walk walk(kernel, shape, {{"n", {0}}, {"channel", {1}}, {"at", axesFrom(2, shape.size())}});
  printLoad(kernel, walk, "channel", type, contiguousStrides(shape), width);
  Walk results(kernel, shape, {{"n", {0}}, {"own", {1}}, {"at", axesFrom(2, shape.size())}});
  printStore(kernel, node, results, "at", width);
  const int64_t before = (attrs.size - 1) / 2, after = attrs.size - 1 - before;
  const DataType wide = type == DataType::kF64 ? type : DataType::kF32;
  kernel.body += str("  ", compute, " values[", width, "], squares[", width,
                     "] = {};\n#pragma unroll\n"
                     "  for (int offset = -",
                     before, "; offset <= ", after,
                     "; ++offset) {\n"
                     "    const Index channel = own + offset;\n    if (channel < 0 || channel >= ",
                     channels,
                     ") continue;\n    load(channel, values);\n"
                     "    for (int i = 0; i < ",
                     width,
                     "; ++i) squares[i] += values[i] * values[i];\n  }\n"
                     "  load(own, values);\n#pragma unroll\n  for (int i = 0; i < ",
                     width, "; ++i) values[i] /= pow(", literal(attrs.bias, wide), " + ",
                     literal(attrs.alpha / static_cast<double>(attrs.size), wide),
                     " * squares[i], ", literal(attrs.beta, wide), ");\n  store(at, values);\n");
  return kernel.prepared({.grid = {ceilDiv(threads, kThreads), 1, 1}, .block = kThreads});
}

constexpr Kernel kKernels[] = {{"cuda/lrn", isPrinted, prepare}};

}  // namespace

KernelList lrnKernels() { return kKernels; }

}  // namespace camshaft::cuda::norm
