// DeformColumns: a thread finds what a tap of one window sees, then takes it from some channels.
// FoldColumns: a thread sums what the windows over one element hold for it.
#include "ops/im2col.h"

#include "backends/cuda/families.h"
#include "backends/cuda/codegen/element_kernel.h"
#include "ops/window.h"
#include "support/text.h"

namespace camshaft::cuda::im2col {
namespace {

constexpr int kThreads = 256, kChannels = 16;  // a block's taps, and channels of each

Verdict supportsDeform(const Node& node) {
  if (const DataType type = node.input(0)->dataType(); bitsOf(type) < 16)
    return Verdict::no("only floats of 16 bits and more");
  return movesElements(node);
}

// The position in the image that one tap of one window of one group sees, and its factor.
void printTap(KernelText& kernel, const Node& node, const Dim& items, const Dim& windows) {
  const auto& attrs = node.as<DeformColumnsAttrs>();
  const Shape& x = node.input(0)->shape();
  const std::string columns = kernel.size(node.input(1)->shape()[3]);
  kernel.constant("kThreads", kThreads);
  kernel.constant("kChannels", kChannels);
  kernel.constant("kTaps", attrs.kernel[0] * attrs.kernel[1]);
  kernel.constant("kGroups", attrs.groups);
  kernel.body += str("  const Index items = ", kernel.size(items),
                     ", windows = ", kernel.size(windows), ", channels = ", kernel.size(x[1]),
                     ", height = ", kernel.size(x[2]), ", width = ", kernel.size(x[3]), R"(;
  const Index item = Index(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= items) return;
  const Index window = item % windows, set = item / windows, tap = set % kTaps;
  const Index group = set / kTaps % kGroups, batch = set / kTaps / kGroups;
)");
  const auto position = [&](int i, const std::string& windowAt, const std::string& tapAt) {
    return str("Real(", windowAt, " * ", attrs.strides[i], " - ", attrs.padsBegin[i], " + ", tapAt,
               " * ", attrs.dilations[i], ") + toCompute(x1[(set * 2 + ", i,
               ") * windows + window])");
  };
  kernel.body += str("  const DeformTaps<Real> taps(",
                     position(0, str("window / ", columns), str("tap / ", attrs.kernel[1])), ", ",
                     position(1, str("window % ", columns), str("tap % ", attrs.kernel[1])),
                     ", height, width);\n  const Real factor = ",
                     node.hasInput(2) ? "toCompute(x2[set * windows + window])" : "1", ";\n");
}

Prepared prepareDeform(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<DeformColumnsAttrs>();
  const DataType type = node.input(0)->dataType();
  const Shape& x = node.input(0)->shape();
  const Dim windows = node.output()->shape()[3], perGroup = floorDiv(x[1], attrs.groups);
  const Dim items = x[0] * attrs.groups * attrs.kernel[0] * attrs.kernel[1] * windows;
  KernelText kernel(str("deform_columns_", type), node, options);
  ElementStore store(kernel, node, 1);
  kernel.include("im2col/deform_columns.cuh");
  kernel.functions += str("using Real = ", computeType(type), ";\n");
  printTap(kernel, node, items, windows);
  kernel.body += R"(  const Index perGroup = channels / kGroups;
  const Index begin = Index(blockIdx.y) * kChannels;
  const Index end = begin + kChannels < perGroup ? begin + kChannels : perGroup;
  for (Index channel = begin; channel < end; ++channel) {
    const Index plane = batch * channels + group * perGroup + channel;
    const Index first = (plane * kTaps + tap) * windows + window;
    const Real seen = taps.at(x0 + plane * (height * width)) * factor;
)";
  store.print("", "seen", LaneValue::kComputed);
  kernel.body += "  }\n";
  return kernel.prepared(
      {.grid = {ceilDiv(items, kThreads), ceilDiv(perGroup, kChannels), 1}, .block = kThreads});
}

Verdict supportsFold(const Node& node) {
  const DataType type = node.input(0)->dataType();
  if (type == DataType::kBool || (isFloat(type) && bitsOf(type) == 8))
    return Verdict::no(str("does not sum ", type));
  return movesElements(node);
}

Prepared prepareFold(const Node& node, const PrepareOptions& options) {
  const auto& attrs = node.as<FoldColumnsAttrs>();
  const Shape& y = node.output()->shape();
  const std::vector<Window> windows = windowsOf(attrs, attrs.kernel);
  ElementKernel kernel("fold_columns", node, options, y, 1);
  std::string& body = kernel.text.body;
  body +=
      str("  ", computeType(node.input(0)->dataType()), " sum = 0;\n  const Index column = (c0 * ",
          kernel.size(y[1]), " + c1) * ", countOf(attrs.kernel), ";\n");
  std::string tap = "0", window = "0", ends;
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& w = windows[i];
    const std::string count = kernel.size(windowCount(node, w, attrs.sizes[i]));
    body +=
        str("  for (int k", i, " = 0; k", i, " < ", w.kernel, "; ++k", i, ") {\n  const Index from",
            i, " = c", 2 + i, " + ", w.padBegin, " - k", i, " * ", w.dilation, ";\n  const Index w",
            i, " = from", i, " / ", w.stride, ";\n  if (from", i, " < 0 || w", i, " * ", w.stride,
            " != from", i, " || w", i, " >= ", count, ") continue;\n");
    tap = str("(", tap, " * ", w.kernel, " + k", i, ")");
    window = str("(", window, " * ", count, " + w", i, ")");
    ends += "  }\n";
  }
  body += str("  sum += toCompute(x0[(column + ", tap, ") * ",
              kernel.size(node.input(0)->shape()[2]), " + ", window, "]);\n", ends);
  return kernel.finish("", "sum", LaneValue::kComputed);
}

constexpr Kernel kDeform[] = {{"cuda/deform_columns", supportsDeform, prepareDeform}};
constexpr Kernel kFold[] = {{"cuda/fold_columns", supportsFold, prepareFold}};

}  // namespace

KernelList deformColumnsKernels() { return kDeform; }
KernelList foldColumnsKernels() { return kFold; }

}  // namespace camshaft::cuda::im2col
