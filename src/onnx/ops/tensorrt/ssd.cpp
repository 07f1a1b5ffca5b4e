// SSD: boxes on the grids of its feature maps, and what non-maximum suppression leaves of them.
#include <algorithm>
#include <cmath>

#include "onnx/formula.h"
#include "onnx/ops/cast.h"
#include "onnx/ops/range.h"
#include "onnx/ops/tensorrt/boxes.h"
#include "onnx/ops/tensorrt/detections.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"
#include "ops/rules.h"

namespace camshaft::onnx::importer {

namespace {

struct Size {
  double width, height;
};

// Of this area's root, and so much wider than high.
Size sizeOf(double scale, double ratio) {
  return {scale * std::sqrt(ratio), scale / std::sqrt(ratio)};
}

std::vector<double> ratiosIn(const NodeImport& node, size_t least) {
  std::vector<double> ratios = numbersIn(node, "aspectRatios").value_or(std::vector<double>());
  if (ratios.size() < least)
    node.invalid("its field 'aspectRatios' has ", ratios.size(), " numbers where it needs ", least);
  if (std::ranges::any_of(ratios, [](double ratio) { return !(ratio > 0); }))
    node.invalid("its field 'aspectRatios' must hold positive numbers");
  return ratios;
}

// Scales grow from layer to layer. The first layer has three boxes, the others one for each ratio
// and a square one between their scale and the next.
std::vector<Size> anchorsOf(const std::vector<double>& ratios, double least, double most,
                            size_t layer, size_t layers) {
  const auto scaleOf = [&](size_t at) {
    if (layers == 1) return least;
    return least + (most - least) * static_cast<double>(at) / static_cast<double>(layers - 1);
  };
  const double scale = scaleOf(layer), next = layer + 1 == layers ? 1.0 : scaleOf(layer + 1);
  if (layer == 0)
    return {sizeOf(0.1, ratios[0]), sizeOf(scale, ratios[1]), sizeOf(scale, ratios[2])};
  std::vector<Size> sizes;
  for (const double ratio : ratios) sizes.push_back(sizeOf(scale, ratio));
  sizes.push_back(sizeOf(std::sqrt(scale * next), 1));
  return sizes;
}

}  // namespace

// One output for each layer, [1, 2, boxes * 4, 1]: corners in fractions of the image, then the
// variances of each.
void importGridAnchor(NodeImport& node) {
  constexpr size_t kOfFirstLayer = 3;
  const std::vector<double> ratios = ratiosIn(node, kOfFirstLayer);
  const std::vector<double> variance = numbersIn(node, "variance", 4);
  const auto layers = static_cast<size_t>(positiveIn(node, "numLayers", 6));
  const bool isRect = node.opType() == "GridAnchorRect_TRT";
  const std::vector<int64_t> maps = integersIn(node, "featureMapShapes", {});
  if (maps.size() != layers * (isRect ? 2 : 1))
    node.invalid("its field 'featureMapShapes' has ", maps.size(), " sizes for ", layers,
                 " layers");
  const double least = numberIn(node, "minSize", 0.2), most = numberIn(node, "maxSize", 0.95);
  for (size_t i = 0; i < layers; ++i) {
    const int64_t rows = maps[isRect ? 2 * i : i], columns = maps[isRect ? 2 * i + 1 : i];
    if (rows < 1 || columns < 1)
      node.invalid("its field 'featureMapShapes' must hold positive sizes");
    std::vector<double> corners;
    const std::vector<Size> sizes = anchorsOf(ratios, least, most, i, layers);
    for (int64_t y = 0; y < rows; ++y) {
      for (int64_t x = 0; x < columns; ++x) {
        const double top = (static_cast<double>(y) + 0.5) / static_cast<double>(rows);
        const double left = (static_cast<double>(x) + 0.5) / static_cast<double>(columns);
        for (const auto& [width, height] : sizes)
          corners.insert(corners.end(),
                         {left - width / 2, top - height / 2, left + width / 2, top + height / 2});
      }
    }
    const size_t count = corners.size();
    for (size_t k = 0; k < count; ++k) corners.push_back(variance[k % 4]);
    node.setOutput(static_cast<int>(i),
                   constantOf(node, corners, {1, 2, static_cast<int64_t>(count), 1}));
  }
}

namespace {

// Of each least size: a square, a larger one where there is a most size, and one of each ratio.
std::vector<Size> priorsOf(const NodeImport& node) {
  const auto least = numbersIn(node, "minSize").value_or(std::vector<double>());
  const auto most = numbersIn(node, "maxSize").value_or(std::vector<double>());
  if (least.empty()) node.invalid("it lacks its required field 'minSize'");
  if (!most.empty() && most.size() != least.size())
    node.invalid("its field 'maxSize' has ", most.size(), " numbers where it needs ", least.size());
  std::vector<double> ratios{1};
  for (const double ratio : ratiosIn(node, 0)) {
    if (std::ranges::any_of(ratios, [&](double one) { return std::abs(one - ratio) < 1e-6; }))
      continue;
    ratios.push_back(ratio);
    if (flagIn(node, "flip")) ratios.push_back(1 / ratio);
  }
  std::vector<Size> sizes;
  for (size_t i = 0; i < least.size(); ++i) {
    sizes.push_back(sizeOf(least[i], 1));
    if (!most.empty()) sizes.push_back(sizeOf(std::sqrt(least[i] * most[i]), 1));
    for (size_t k = 1; k < ratios.size(); ++k) sizes.push_back(sizeOf(least[i], ratios[k]));
  }
  return sizes;
}

// Of a field, or where it is 0 or left out, what a dimension says; f32 of rank 0.
Value* sizeOr(const NodeImport& node, std::string_view field, const Dim& missing) {
  const int64_t size = integerIn(node, field, 0);
  return size != 0 ? node.scalar(DataType::kF32, static_cast<double>(size))
                   : node.cast(sizeTensor(node, missing), DataType::kF32);
}

}  // namespace

// Boxes on the grid of input 0 in fractions of the image, input 1: [N, 2, H * W * boxes * 4, 1],
// corners, then the variances of each.
void importPriorBox(NodeImport& node) {
  Value *map = node.input(0, 4), *image = node.input(1, 4);
  const Dim &rows = map->shape()[2], &columns = map->shape()[3];
  const std::vector<Size> sizes = priorsOf(node);
  const auto count = static_cast<int64_t>(sizes.size());
  const double offset = numberIn(node, "offset", 0.5);
  const Shape grid{rows, columns, count, 1};
  const auto side = [&](const Dim& cells, const Dim& pixels, bool isWide, double direction) {
    std::vector<double> halves;
    for (const Size& size : sizes)
      halves.push_back(direction * (isWide ? size.width : size.height) / 2);
    Value* extent = sizeOr(node, isWide ? "imgW" : "imgH", pixels);
    const double step = numberIn(node, isWide ? "stepW" : "stepH", 0);
    Value* cell = step != 0 ? node.scalar(DataType::kF32, step)
                            : node.binary(ScalarOp::kDiv, extent,
                                          node.cast(sizeTensor(node, cells), DataType::kF32));
    Formula formula;
    const Term centre =
        (formula.input(0, DataType::kF32) + offset) * formula.input(1, DataType::kF32);
    const Term place =
        (centre + formula.input(2, DataType::kF32)) / formula.input(3, DataType::kF32);
    Value* at = counting(node, DataType::kF32, cells);
    at = node.reshape(at, isWide ? Shape{1, cells, 1, 1} : Shape{cells, 1, 1, 1});
    Value* result = node.pointwise({at, cell, constantOf(node, halves, {1, 1, count, 1}), extent},
                                   formula.take(place));
    return node.expand(result, grid);
  };
  const Dim &height = image->shape()[2], &width = image->shape()[3];
  Value* corners = node.concat({side(columns, width, true, -1), side(rows, height, false, -1),
                                side(columns, width, true, 1), side(rows, height, false, 1)},
                               3);
  if (flagIn(node, "clip")) corners = clamped(node, corners, 0, 1);
  const Dim numbers = rows * columns * (count * 4);
  Value* variance = constantIn(node, "variance", DataType::kF32, {1, 1, 1, 4});
  variance = node.expand(variance, {rows, columns, count, 4});
  Value* both = node.concat(
      {node.reshape(corners, {1, 1, numbers, 1}), node.reshape(variance, {1, 1, numbers, 1})}, 1);
  node.setOutput(node.expand(both, {map->shape()[0], 2, numbers, 1}));
}

namespace {

// Corrections of priors as corners, by the code of CodeTypeSSD. All are [N, boxes, classes, 4],
// one class where they share boxes.
Value* decodedPriors(const NodeImport& node, int64_t code, Value* corrections, Value* priors,
                     Value* variance) {
  enum { kCorner, kCentreSize, kCornerSize, kCentreOfTensorFlow };
  if (code == kCentreOfTensorFlow) corrections = swappedAxes(node, corrections);
  if (code == kCentreOfTensorFlow || !flagIn(node, "varianceEncodedInTarget"))
    corrections = node.binary(ScalarOp::kMul, corrections, variance);
  Value* centred = centredOfCorners(node, priors);
  switch (code) {
    case kCorner:
      return node.binary(ScalarOp::kAdd, priors, corrections);
    case kCornerSize: {
      Value* size = boxPart(node, centred, 2);
      return node.binary(ScalarOp::kAdd, priors,
                         node.binary(ScalarOp::kMul, corrections, boxOf(node, size, size)));
    }
    case kCentreSize:
    case kCentreOfTensorFlow:
      return cornersOfCentred(node, corrected(node, centred, corrections));
    default:
      node.invalid("its codeType must be 0 to 3 and is ", code);
  }
}

// Rows (image, class, score, box) of rank 4.
Value* asRows(const NodeImport& node, const Detections& found, const Dim& images,
              const Dim& results) {
  const Shape shape{images, results, 1};
  Value* image = node.reshape(counting(node, DataType::kF32, images), {images, 1, 1});
  Value* kind = node.reshape(node.cast(found.classes, DataType::kF32), shape);
  Value* rows = node.concat({node.expand(image, shape), kind, node.reshape(found.scores, shape),
                             clamped(node, found.boxes, 0, 1)},
                            2);
  return node.reshape(rows, {images, 1, results, 7});
}

}  // namespace

// Corrections, scores and priors, in the order that inputOrder says, to rows [N, 1, keepTopK, 7]
// and their counts, which are integers in the bits of real numbers, as TensorRT has them.
void importSsdNms(NodeImport& node) {
  const std::vector<int64_t> order = integersIn(node, "inputOrder", {0, 2, 1});
  if (order.size() != 3 || std::ranges::any_of(order, [](int64_t i) { return i < 0 || i > 2; }))
    node.invalid("its field 'inputOrder' must hold three positions of inputs");
  const auto inputAt = [&](size_t i) {
    return node.cast(node.input(static_cast<int>(order[i]), 4), DataType::kF32);
  };
  const DataType type = node.input(0)->dataType();
  Value *corrections = inputAt(0), *scores = inputAt(1), *priors = inputAt(2);
  const int64_t classes = positiveIn(node, "numClasses", 1);
  const int64_t sets = flagIn(node, "shareLocation", true) ? 1 : classes;
  const Dim images = corrections->shape()[0], boxes = floorDiv(priors->shape()[2], 4);
  requireSize(node, priors->shape()[1], "tensors of priors", 2);
  requireSize(node, priors->shape()[2], "numbers of priors", boxes * 4);
  requireSize(node, numElements(corrections->shape()), "corrections", images * boxes * (sets * 4));
  requireSize(node, numElements(scores->shape()), "scores", images * boxes * classes);
  const bool isDynamic = node.opType() == "NMSDynamic_TRT";
  if (!isDynamic && flagIn(node, "isBatchAgnostic", true)) priors = node.slice(priors, 0, 0, 1);
  const auto partOf = [&](int64_t i) {
    return node.reshape(node.slice(priors, 1, i, 1), {priors->shape()[0], boxes, 1, 4});
  };
  corrections = node.reshape(corrections, {images, boxes, sets, 4});

  Candidates candidates{};
  candidates.boxes =
      decodedPriors(node, integerIn(node, "codeType", 3), corrections, partOf(0), partOf(1));
  if (sets == 1) candidates.boxes = node.reshape(candidates.boxes, {images, boxes, 4});
  candidates.scores = node.reshape(scores, {images, boxes, classes});
  if (flagIn(node, "confSigmoid"))
    candidates.scores = node.unary(ScalarOp::kSigmoid, candidates.scores);
  if (!flagIn(node, "isNormalized", true))
    candidates.overlap = withLastPixel(node, candidates.boxes);
  Suppression suppression;
  suppression.iouThreshold = static_cast<float>(numberIn(node, "nmsThreshold", 0.5));
  suppression.scoreThreshold = static_cast<float>(numberIn(node, "confidenceThreshold", 0));
  suppression.candidates = positiveIn(node, "topK", 4096);
  suppression.results = suppression.perClass = positiveIn(node, "keepTopK", 100);
  suppression.background = integerIn(node, "backgroundLabelId", -1);
  suppression.noClass = -1;
  const Detections found = detect(node, candidates, suppression);
  node.setOutput(0, node.cast(asRows(node, found, images, suppression.results), type));
  node.setOutput(1, bitCast(node, node.reshape(found.counts, {images, 1, 1, 1}), DataType::kF32));
}

}  // namespace camshaft::onnx::importer
