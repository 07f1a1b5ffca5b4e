// Region proposals of Faster R-CNN: boxes on the grid of a feature map, in pixels of the image.
#include <cmath>
#include <limits>

#include "onnx/formula.h"
#include "onnx/ops/range.h"
#include "onnx/ops/tensorrt/boxes.h"
#include "onnx/ops/tensorrt/detections.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size_rules.h"
#include "ops/roi.h"

namespace camshaft::onnx::importer {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Grid {
  std::vector<double> widths, heights;  // of the anchors of a cell
  double stride, first;                 // pixels between cells, and where the first one's centre is
};

// Corrections [N, anchors * 4, H, W] of the grid's anchors as corners [N, anchors, H, W, 4].
Value* gridBoxes(const NodeImport& node, Value* corrections, const Grid& grid) {
  const Shape shape = corrections->shape();
  const auto anchors = static_cast<int64_t>(grid.widths.size());
  requireSize(node, shape[1], "corrections per cell", anchors * 4);
  const Dim &rows = shape[2], &columns = shape[3];
  corrections = node.reshape(corrections, {shape[0], anchors, 4, rows, columns});
  corrections = node.transpose(corrections, {0, 1, 3, 4, 2});
  const Shape all{1, anchors, rows, columns, 1};
  const auto centres = [&](const Dim& cells, Shape along) {
    Formula formula;
    const Term place = formula.input(0, DataType::kF32) * grid.stride + grid.first;
    Value* line = node.pointwise({counting(node, DataType::kF32, cells)}, formula.take(place));
    return node.expand(node.reshape(line, std::move(along)), all);
  };
  const auto sizes = [&](const std::vector<double>& numbers) {
    return node.expand(constantOf(node, numbers, {1, anchors, 1, 1, 1}), all);
  };
  Value* centred =
      node.concat({centres(columns, {1, 1, 1, columns, 1}), centres(rows, {1, 1, rows, 1, 1}),
                   sizes(grid.widths), sizes(grid.heights)},
                  4);
  return cornersOfCentred(node, corrected(node, centred, corrections));
}

// Corners inside images, whose last pixels (x, y) broadcast to them.
Value* insideImages(const NodeImport& node, Value* corners, Value* last) {
  Formula formula;
  const Term corner = larger(formula.input(0, DataType::kF32), 0);
  return node.pointwise({corners, boxOf(node, last, last)},
                        formula.take(smaller(corner, formula.input(1, DataType::kF32))));
}

// Scores [N, anchors, H, W], of never where a side of the box is shorter than the least, or as
// short (`longer`).
Value* scoresOf(const NodeImport& node, Value* scores, Value* corners, Value* least, bool longer) {
  Formula formula;
  const Term score = formula.input(0, DataType::kF32);
  const Term width = formula.input(3, DataType::kF32) - formula.input(1, DataType::kF32);
  const Term height = formula.input(4, DataType::kF32) - formula.input(2, DataType::kF32);
  const Term side = smaller(width, height), shortest = formula.input(5, DataType::kF32);
  const Term result =
      longer ? where(side > shortest, score, kNever) : where(side < shortest, kNever, score);
  const Shape shape = scores->shape();
  const auto corner = [&](int64_t i) { return node.reshape(node.slice(corners, 4, i, 1), shape); };
  return node.pointwise({scores, corner(0), corner(1), corner(2), corner(3), least},
                        formula.take(result));
}

struct Proposing {
  int64_t before, after;
  double iouThreshold;
};

// [N, after, 4]
Value* proposals(const NodeImport& node, Value* corners, Value* scores,
                 const Proposing& proposing) {
  const Shape& shape = scores->shape();
  const Dim count = shape[1] * shape[2] * shape[3];
  return propose(node, node.reshape(corners, {shape[0], count, 4}),
                 node.reshape(scores, {shape[0], count}), proposing.before, proposing.after,
                 proposing.iouThreshold);
}

}  // namespace

// Scores [N, A, H, W] and corrections to [N, post_nms_top_n, 4, 1], (y1, x1, y2, x2) in fractions
// of the image.
void importProposal(NodeImport& node) {
  Value *scores = node.input(0, 4), *corrections = node.input(1, 4);
  const auto height = static_cast<double>(positiveIn(node, "input_height", 0));
  const auto width = static_cast<double>(positiveIn(node, "input_width", 0));
  const auto sizes = numbersIn(node, "anchor_sizes"), ratios = numbersIn(node, "anchor_ratios");
  if (!sizes || !ratios) node.invalid("it lacks its fields 'anchor_sizes' and 'anchor_ratios'");
  Grid grid{};
  for (const double size : *sizes) {
    for (const double ratio : *ratios) {
      grid.widths.push_back(size * ratio);
      grid.heights.push_back(size / ratio);
    }
  }
  grid.stride = static_cast<double>(positiveIn(node, "rpn_stride", 0));
  grid.first = grid.stride / 2;
  Value* corners = gridBoxes(node, corrections, grid);
  corners = insideImages(node, corners, constantOf(node, {width - 1, height - 1}, {2}));
  Value* least = node.scalar(DataType::kF32, numberIn(node, "roi_min_size", 0));
  scores = scoresOf(node, scores, corners, least, true);
  const Proposing proposing{positiveIn(node, "pre_nms_top_n", 0),
                            positiveIn(node, "post_nms_top_n", 0),
                            numberIn(node, "nms_iou_threshold", 0)};
  Value* found = swappedAxes(node, proposals(node, corners, scores, proposing));
  const std::vector<double> last{height - 1, width - 1, height - 1, width - 1};
  found = node.binary(ScalarOp::kDiv, found, constantOf(node, last, {4}));
  node.setOutput(node.reshape(found, {scores->shape()[0], proposing.after, 4, 1}));
}

namespace {

// Whole pixels before they are scaled, as Faster R-CNN's.
Grid fasterRcnnGrid(const NodeImport& node) {
  Grid grid{};
  grid.stride = static_cast<double>(positiveIn(node, "featureStride", 16));
  grid.first = (grid.stride - 1) / 2;
  const auto listIn = [&](std::string_view field, std::string_view count) {
    const auto numbers = numbersIn(node, field).value_or(std::vector<double>());
    const auto size = static_cast<int64_t>(numbers.size());
    if (numbers.empty() || integerIn(node, count, size) != size)
      node.invalid("its field '", field, "' has ", size, " numbers, where '", count, "' is ",
                   integerIn(node, count, 1));
    return numbers;
  };
  for (const double ratio : listIn("anchorsRatios", "anchorsRatioCount")) {
    if (!(ratio > 0)) node.invalid("its field 'anchorsRatios' must hold positive numbers");
    const double width = std::round(std::sqrt(grid.stride * grid.stride / ratio));
    const double height = std::round(width * ratio);
    for (const double scale : listIn("anchorsScales", "anchorsScaleCount")) {
      grid.widths.push_back(width * scale);
      grid.heights.push_back(height * scale);
    }
  }
  return grid;
}

}  // namespace

// Scores [N, 2 * A, H, W], those of objects in the second half, corrections, a feature map and
// (height, width, scale) of each image to boxes [N, 1, nmsMaxOut, 4], and what lies in them,
// [N, nmsMaxOut, C, poolingH, poolingW].
void importRegionPooling(NodeImport& node) {
  Value *scores = node.input(0, 4), *map = node.input(2, 4);
  const Dim images = scores->shape()[0];
  const Grid grid = fasterRcnnGrid(node);
  const auto anchors = static_cast<int64_t>(grid.widths.size());
  requireSize(node, scores->shape()[1], "scores per cell", 2 * anchors);
  requireSize(node, numElements(node.input(3)->shape()), "numbers of images", images * 3);
  Value* info = node.reshape(node.input(3), {images, 1, 1, 1, 3});
  const auto partOf = [&](int64_t i) { return node.slice(info, 4, i, 1); };
  Value* last = node.concat({partOf(1), partOf(0)}, 4);
  last = node.binary(ScalarOp::kSub, last, 1.0);
  Value* corners = insideImages(node, gridBoxes(node, node.input(1, 4), grid), last);
  // A side has one pixel more than its ends are apart.
  Formula formula;
  const Term least = formula.input(0, DataType::kF32) * numberIn(node, "minBoxSize", 0) - 1.0;
  Value* shortest =
      node.pointwise({node.reshape(partOf(2), {images, 1, 1, 1})}, formula.take(least));
  scores = node.slice(scores, 1, anchors, anchors);
  scores = scoresOf(node, scores, corners, shortest, false);
  const Proposing proposing{positiveIn(node, "preNmsTop", 6000), positiveIn(node, "nmsMaxOut", 300),
                            numberIn(node, "iouThreshold", 0.7)};
  Value* found = proposals(node, corners, scores, proposing);
  node.setOutput(0, node.reshape(found, {images, 1, proposing.after, 4}));

  RoiMaxPoolAttrs attrs;
  attrs.height = positiveIn(node, "poolingH", 7);
  attrs.width = positiveIn(node, "poolingW", 7);
  attrs.scale = numberIn(node, "spatialScale", 1);
  const Dim count = images * proposing.after;
  Value* image = node.reshape(counting(node, DataType::kF32, images), {images, 1, 1});
  Value* rois = node.concat({node.expand(image, {images, proposing.after, 1}), found}, 2);
  const Shape pooled{images, proposing.after, map->shape()[1], attrs.height, attrs.width};
  Value* y = node.add(&ops::RoiMaxPool, {map, node.reshape(rois, {count, 5})}, attrs);
  node.setOutput(1, node.reshape(y, pooled));
}

}  // namespace camshaft::onnx::importer
