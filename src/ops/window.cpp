#include "ops/window.h"

#include "ops/rules.h"

namespace camshaft {

Dim windowCount(const Node& node, const Window& window, const Dim& size, bool ceil) {
  const Dim padded = size + window.padBegin + window.padEnd;
  const Dim room = padded - window.extent();
  const Dim count =
      ceil ? min(ceilDiv(room, window.stride) + 1, ceilDiv(size + window.padBegin, window.stride))
           : floorDiv(room, window.stride) + 1;
  if (count.isConstant() && count.value() < 1)
    fail(ErrorKind::kInvalidModel, describe(node), " has a window of ", window.extent(),
         " elements, larger than its padded input of ", padded);
  requireAtLeast(node, size, "elements in a dimension of its image", 1);
  requireAtLeast(node, count, str("windows of ", window.extent(), " elements in its padded input"),
                 1);
  return count;
}

void requireWindows(const Node& node, int64_t spatialRank,
                    std::initializer_list<const std::vector<int64_t>*> positive,
                    std::initializer_list<const std::vector<int64_t>*> any) {
  if (spatialRank < 1)
    fail(ErrorKind::kInvalidModel, describe(node),
         " needs an input with spatial dimensions and got ", node.inputs[0]->type);
  auto requireLength = [&](const std::vector<int64_t>& list) {
    if (static_cast<int64_t>(list.size()) != spatialRank)
      fail(ErrorKind::kInvalidModel, describe(node), " has ", list.size(),
           " values in an attribute that needs one for each of ", spatialRank,
           " spatial dimensions");
  };
  for (const auto* list : positive) {
    requireLength(*list);
    for (int64_t value : *list)
      if (value < 1)
        fail(ErrorKind::kInvalidModel, describe(node), " has ", value,
             " as a kernel size, stride or dilation, which must be positive");
  }
  for (const auto* list : any) requireLength(*list);
}

ImageView::ImageView(const Dims& dims, bool channelsLast) {
  const ImageLayout layout{channelsLast, static_cast<int64_t>(dims.size())};
  const Dims strides = stridesOf(dims);
  batch = dims[0];
  channels = dims[layout.channelAxis()];
  spatial = layout.spatial(dims);
  batchStride = strides[0];
  channelStride = strides[layout.channelAxis()];
  spatialStrides = layout.spatial(strides);
}

void forEachWindow(const std::vector<Window>& windows, const ImageView& image, const Dims& counts,
                   const std::function<void(const WindowTaps&)>& f) {
  Dims kernel;
  for (const Window& window : windows) kernel.push_back(window.kernel);
  WindowTaps at;
  forEachIndex(counts, [&](const Dims& position) {
    at.position = position;
    at.taps.clear();
    at.tapsWithPadding = 0;
    int64_t flat = 0;
    forEachIndex(kernel, [&](const Dims& k) {
      bool inImage = true, inPadding = true;
      int64_t offset = 0;
      for (size_t i = 0; i < windows.size(); ++i) {
        const Window& window = windows[i];
        const int64_t x = position[i] * window.stride - window.padBegin + k[i] * window.dilation;
        inImage &= x >= 0 && x < image.spatial[i];
        inPadding &= x < image.spatial[i] + window.padEnd;
        offset += x * image.spatialStrides[i];
      }
      if (inImage) at.taps.push_back({offset, flat});
      at.tapsWithPadding += inPadding;
      ++flat;
    });
    f(at);
  });
}

}  // namespace camshaft
