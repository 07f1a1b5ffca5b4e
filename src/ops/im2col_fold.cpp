#include "ops/im2col.h"
#include "ops/rules.h"
#include "ops/window.h"

namespace camshaft {

namespace {

std::vector<TensorType> inferFoldColumns(const Node& node) {
  const auto& attrs = node.as<FoldColumnsAttrs>();
  const TensorType& x = node.inputs[0]->type;
  requireRank(node, 0, "columns", 3);
  requireWindows(node, static_cast<int64_t>(attrs.sizes.size()),
                 {&attrs.kernel, &attrs.strides, &attrs.dilations},
                 {&attrs.padsBegin, &attrs.padsEnd});
  const std::vector<Window> windows = windowsOf(attrs, attrs.kernel);
  Dim count = 1;
  for (size_t i = 0; i < windows.size(); ++i)
    count *= windowCount(node, windows[i], attrs.sizes[i]);
  requireEqual(node, x.shape[2], "columns", count, "its windows are");
  const int64_t taps = countOf(attrs.kernel);
  requireMultiple(node, x.shape[1], "elements in a column", taps);
  Shape shape{x.shape[0], floorDiv(x.shape[1], taps)};
  shape.insert(shape.end(), attrs.sizes.begin(), attrs.sizes.end());
  return {{x.type, shape}};
}

template <class Wide>
std::vector<Wide> fold(const Evaluation& evaluation,
                       std::vector<Wide> (*read)(const ConstTensorView&)) {
  const auto& attrs = evaluation.node.as<FoldColumnsAttrs>();
  const std::vector<Wide> columns = read(evaluation.inputs[0]);
  std::vector<Wide> image(evaluation.outputs[0].count());
  if (columns.empty() || image.empty()) return image;
  const ImageView view(evaluation.outputs[0].dims, false);
  const std::vector<Window> windows = windowsOf(attrs, attrs.kernel);
  Dims counts;
  for (size_t i = 0; i < windows.size(); ++i)
    counts.push_back(windowCount(evaluation.node, windows[i], Dim(view.spatial[i])).value());
  const int64_t taps = countOf(attrs.kernel), perTap = countOf(counts);
  const Dims strides = stridesOf(counts);
  const int64_t planes = view.batch * view.channels, size = countOf(view.spatial);
  forEachWindow(windows, view, counts, [&](const WindowTaps& window) {
    const int64_t at = offsetOf(window.position, strides);
    for (int64_t plane = 0; plane < planes; ++plane)
      for (const Tap& tap : window.taps)
        image[plane * size + tap.offset] += columns[(plane * taps + tap.kernel) * perTap + at];
  });
  return image;
}

void evaluateFoldColumns(const Evaluation& evaluation) {
  if (isFloat(evaluation.inputs[0].type))
    writeReals(evaluation.outputs[0], fold(evaluation, readReals));
  else
    writeIntegers(evaluation.outputs[0], fold(evaluation, readIntegers));
}

}  // namespace

const OpInfo ops::FoldColumns = {
    "FoldColumns", 1, 1, 1, makeAttrsOf<FoldColumnsAttrs>, inferFoldColumns, evaluateFoldColumns};

}  // namespace camshaft
